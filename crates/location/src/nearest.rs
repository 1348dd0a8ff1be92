//! Finds the existing name that the author of an unknown name probably meant.

/// Maximum number of names that a message lists.
const MAX_NAMED: usize = 10;

/// Returns a name that differs by one slip, or else a name that shares its start or end with the given
/// one, or else a name that differs by two slips.
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
        .or_else(|| {
            let related = names.clone().filter(related);
            related.min_by_key(|name| name.len())
        })
        .or_else(|| names.clone().find(|name| two_slips(given, name)))
}

/// Returns a name that differs by one slip, or else one that differs by two.
pub(crate) fn misspelt<'n>(
    given: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    let mut slips = names.clone();
    let slip = slips.find(|name| one_slip(given.as_bytes(), name.as_bytes()));
    slip.or_else(|| names.clone().find(|name| two_slips(given, name)))
}

/// True if two texts of 6 to 64 bytes differ by at most two edits.
fn two_slips(a: &str, b: &str) -> bool {
    const MIN: usize = 6;
    const MAX: usize = 64;
    let long = |text: &str| (MIN..=MAX).contains(&text.len());
    long(a) && long(b) && a.len().abs_diff(b.len()) <= 2 && strsim::levenshtein(a, b) <= 2
}

/// The question after an unknown name, with a leading space. Empty if no name is similar.
pub(crate) fn did_you_mean(meant: Option<&str>) -> String {
    meant.map_or_else(String::new, |name| format!(" Did you mean {name}?"))
}

/// The first names of a list, and the number of further names.
pub(crate) fn listed(names: &[String]) -> String {
    match names.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MAX_NAMED].join(", ")),
    }
}

/// True if two texts differ by one letter (replaced, added, missing, or two adjacent letters exchanged)
/// or only by case.
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
    fn the_nearest_name_is_suggested() {
        let names = ["gpt-4.1", "gpt-4.1-mini", "o3", "vendor/large"];
        for (given, meant) in [
            ("gpt-4.1-mni", Some("gpt-4.1-mini")),
            ("GPT-4.1", Some("gpt-4.1")),
            ("gpt-4.1-mini-2025", Some("gpt-4.1")),
            ("gpt-4.1-", Some("gpt-4.1")),
            ("large", Some("vendor/large")),
            ("o4", None),
            ("vendr/larg", Some("vendor/large")),
            ("vndr/lrge", None),
            ("claude", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, names.into_iter()), meant, "{given}");
        }
    }
}
