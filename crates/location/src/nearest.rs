//! The name that was probably meant by one that does not exist.

/// A name that differs by a single slip, else one that begins or ends as the given one does.
pub(crate) fn nearest<'n>(
    given: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    let related = |name: &&str| {
        let (short, long) = if name.len() < given.len() {
            (*name, given)
        } else {
            (given, *name)
        };
        short.len() >= 3 && (long.starts_with(short) || long.ends_with(short))
    };
    let slip = |name: &&str| one_slip(given.as_bytes(), name.as_bytes());
    let mut slips = names.clone().filter(slip);
    slips
        .next()
        .or_else(|| names.filter(related).min_by_key(|name| name.len()))
}

/// Whether two texts differ by one letter: another one, one too many, one too few, two exchanged,
/// or by the case of letters alone.
pub(crate) fn one_slip(a: &[u8], b: &[u8]) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() < 4 || long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[same..], &long[same..]);
    if long.len() > short.len() {
        return short == &long[1..];
    }
    let replaced = short[1..] == long[1..];
    let exchanged =
        short.len() > 1 && (short[0], short[1]) == (long[1], long[0]) && short[2..] == long[2..];
    replaced || exchanged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_that_was_meant() {
        let names = ["gpt-4.1", "gpt-4.1-mini", "o3", "vendor/large"];
        for (given, meant) in [
            ("gpt-4.1-mni", Some("gpt-4.1-mini")),
            ("GPT-4.1", Some("gpt-4.1")),
            ("gpt-4.1-mini-2025", Some("gpt-4.1")),
            ("gpt-4.1-", Some("gpt-4.1")),
            ("large", Some("vendor/large")),
            ("o4", None),
            ("claude", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names.into_iter()), meant, "{given}");
        }
    }
}
