//! Names that look the same although their characters differ.

use unicode_normalization::UnicodeNormalization;

/// Returns the same text for names that a reader cannot distinguish: composed and decomposed letters, the kinds of
/// spaces, quotes, dashes and dots, characters without a form, and spaces at the ends.
pub(super) fn look(name: &str) -> String {
    let plain: String = name.nfc().filter_map(plain).collect();
    plain.trim().replace('\u{2026}', "...")
}

/// Returns the usual character that looks like this one, or `None` if it has no form.
fn plain(character: char) -> Option<char> {
    Some(match character {
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => return None,
        space if space.is_whitespace() => ' ',
        '`'
        | '\u{b4}'
        | '\u{2b9}'
        | '\u{2bb}'
        | '\u{2bc}'
        | '\u{2018}'..='\u{201b}'
        | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{2044}' | '\u{2215}' => '\u{2044}',
        // The wide forms of the characters of ASCII.
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        other => other,
    })
}

/// Returns a name with the characters escaped by which it differs from a name that looks the same.
pub(super) fn escaped(name: &str) -> String {
    let is_plain = |character: char| {
        character == ' ' || character.is_ascii_graphic() || character.is_alphanumeric()
    };
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if is_plain(character) && plain(character) == Some(character) {
            text.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_the_same_have_one_look() {
        for (one, other) in [
            ("3.04.05\u{202f}PM.txt", "3.04.05 PM.txt"),
            ("3.04.05\u{a0}PM.txt", "3.04.05 PM.txt"),
            ("cafe\u{301}.txt", "caf\u{e9}.txt"),
            ("it\u{2019}s.txt", "it's.txt"),
            ("\u{201c}a\u{201d}.txt", "\"a\".txt"),
            ("a \u{2013} b", "a - b"),
            ("and so on\u{2026}", "and so on..."),
            ("a\u{200b}b", "ab"),
            ("\u{feff}a", "a"),
            ("\u{2764}\u{fe0f}", "\u{2764}"),
            ("a.txt ", "a.txt"),
            ("a.txt\n", "a.txt"),
            ("a\u{3000}b\u{ff1f}", "a b?"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
        ] {
            assert_eq!(look(one), look(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn names_that_look_different_have_different_looks() {
        for (one, other) in [
            ("a", "A"),
            ("e", "\u{e9}"),
            ("a b", "ab"),
            ("a", "\u{430}"),
            ("1", "l"),
            ("x2", "x\u{b2}"),
        ] {
            assert_ne!(look(one), look(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn the_difference_between_two_names_can_be_read() {
        for (name, expected) in [
            ("a b.txt", "a b.txt"),
            ("a\u{202f}b", "a\\u202fb"),
            ("caf\u{e9}", "caf\u{e9}"),
            ("cafe\u{301}", "cafe\\u0301"),
            ("it\u{2019}s", "it\\u2019s"),
            ("a\n", "a\\u000a"),
        ] {
            assert_eq!(escaped(name), expected);
        }
    }
}
