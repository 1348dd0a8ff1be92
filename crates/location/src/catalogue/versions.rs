//! Versions in names of models.

/// Returns the version after `prefix`: `4-5`, `4.5` or `4`. A number with more than two digits is a date.
pub(super) fn version_after(id: &str, prefix: &str) -> Option<(u32, u32)> {
    let rest = &id[id.find(prefix)? + prefix.len()..];
    let mut parts = rest.split(['.', '-', ':', '@']);
    let number = |part: &str| {
        let short = (1..=2).contains(&part.len()) && part.bytes().all(|it| it.is_ascii_digit());
        short.then(|| part.parse().ok()).flatten()
    };
    let major = number(parts.next()?)?;
    Some((major, parts.next().and_then(number).unwrap_or_default()))
}

/// Returns the version of a model of the GPT family.
pub(super) fn gpt_version(id: &str) -> Option<(u32, u32)> {
    // Azure writes 3.5 as 35.
    version_after(id, "gpt-").filter(|(major, _)| *major != 35)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_one_or_two_numbers() {
        for (id, version) in [
            ("gpt-5", Some((5, 0))),
            ("gpt-5.4-mini", Some((5, 4))),
            ("openai/gpt-6-sol", Some((6, 0))),
            ("gpt-4o", None),
            ("gpt-35-turbo", None),
            ("gpt-", None),
            ("gpt-5-20260101", Some((5, 0))),
            ("o4-mini", None),
        ] {
            assert_eq!(gpt_version(id), version, "{id}");
        }
    }
}
