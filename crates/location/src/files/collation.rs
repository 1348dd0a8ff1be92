//! The order of names in a listing: the order that users expect instead of the order of bytes.
//!
//! For names that occur in practice, this is the root order of the Unicode Collation Algorithm.
//! Characters are compared without regard to case: spaces and punctuation before digits, digits before
//! letters. If two names are equal so far, lower case comes before upper case. Other rules of the
//! algorithm are not implemented. Letters outside ASCII, including accented letters, follow `z` by code
//! point, because their correct order needs tables larger than the rest of the tool.

/// The punctuation and symbols of ASCII in collation order.
const PUNCTUATION: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// The sort key of a name. Different names always have different keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    characters: Vec<(u8, u32)>,
    upper_case: Vec<bool>,
    name: String,
}

/// Sorts names.
pub fn sort(names: &mut [String]) {
    names.sort_by_cached_key(|name| key(name));
}

/// Returns the sort key of a name.
fn key(name: &str) -> Key {
    Key {
        characters: name.chars().map(weight).collect(),
        upper_case: name.chars().map(char::is_uppercase).collect(),
        name: name.to_owned(),
    }
}

/// The class of a character and its position within that class.
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
    fn names_are_sorted_like_in_a_file_manager() {
        for sorted in [
            &["adir", "sub", "Zdir"][..],
            &[".hid", "A.txt", "a10.txt", "a9.txt", "b.txt"],
            &["_a", "-a", ".a", "(a)", "@a", "#a", "~a", "$a", "0a", "a"],
            &["a", "a b", "a_b", "a-b", "a.b", "a1", "aa"],
            &["ab", "aB", "Ab", "AB", "abc"],
            &["z", "é", "日本"],
        ] {
            let mut names: Vec<String> =
                sorted.iter().rev().map(|name| (*name).to_owned()).collect();
            sort(&mut names);
            assert_eq!(names, sorted);
        }
    }

    proptest! {
        #[test]
        fn different_names_have_different_sort_keys(left in ".{0,4}", right in ".{0,4}") {
            prop_assert_eq!(key(&left) == key(&right), left == right);
        }
    }
}
