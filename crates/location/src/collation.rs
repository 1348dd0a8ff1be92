//! The order of names in a listing: what people expect rather than the order of bytes.
//!
//! This is the root order of the Unicode Collation Algorithm for the names that occur in practice:
//! characters are compared without regard to case, where spaces and punctuation come before
//! digits and digits before letters; only names that are equal so far are told apart by case, the
//! lower case first. It goes no further than that. Letters other than ASCII follow `z` by code
//! point, accents included, because their true order needs tables larger than the rest of the tool.

use std::cmp::Ordering;

/// The punctuation and symbols of ASCII in their collation order.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Compares two names. Different names are never equal.
pub fn compare(left: &str, right: &str) -> Ordering {
    let by_character = left.chars().map(weight).cmp(right.chars().map(weight));
    let by_case = || {
        left.chars()
            .map(char::is_uppercase)
            .cmp(right.chars().map(char::is_uppercase))
    };
    by_character
        .then_with(by_case)
        .then_with(|| left.cmp(right))
}

/// The class of a character, and its place within that class.
fn weight(character: char) -> (u8, u32) {
    if let Some(place) = PUNCTUATION.find(character) {
        return (1, place as u32);
    }
    let lower = character.to_lowercase().next().unwrap_or(character);
    let class = match character {
        _ if character.is_control() => 0,
        _ if character.is_numeric() => 2,
        _ => 3,
    };
    (class, u32::from(lower))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_in_the_order_people_expect() {
        for sorted in [
            &["adir", "sub", "Zdir"][..],
            &[".hid", "A.txt", "a10.txt", "a9.txt", "b.txt"],
            &["_a", "-a", ".a", "(a)", "@a", "#a", "~a", "$a", "0a", "a"],
            &["a", "a b", "a_b", "a-b", "a.b", "a1", "aa"],
            &["ab", "aB", "Ab", "AB", "abc"],
            &["z", "é", "日本"],
        ] {
            let mut names = sorted.to_vec();
            names.reverse();
            names.sort_by(|left, right| compare(left, right));
            assert_eq!(names, sorted);
        }
    }

    proptest! {
        #[test]
        fn the_order_is_total(names in proptest::collection::vec(".{0,4}", 3)) {
            let [a, b, c] = [&names[0], &names[1], &names[2]];
            prop_assert_eq!(compare(a, b), compare(b, a).reverse());
            prop_assert_eq!(compare(a, b) == Ordering::Equal, a == b);
            if compare(a, b).is_le() && compare(b, c).is_le() {
                prop_assert!(compare(a, c).is_le());
            }
        }
    }
}
