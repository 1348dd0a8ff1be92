//! Distinguishes Western European text in one byte per character from text in other legacy encodings.
//!
//! No byte proves an encoding. Western text has its letters beyond ASCII inside of words of ASCII letters, one or
//! two at a time, and in the case of their neighbours. Text of another script has whole words of such bytes, and
//! text of two bytes per character has them in pairs.

/// Number of plausible letters that outweigh one doubtful word.
const PLAUSIBLE_PER_DOUBT: usize = 8;

/// True if the text reads as Windows-1252, of which Latin-1 is a part.
pub(super) fn is_western(bytes: &[u8]) -> bool {
    let (mut plausible, mut doubtful) = (0, 0);
    let mut rest = bytes;
    while let Some(start) = rest.iter().position(|byte| !byte.is_ascii()) {
        // A word begins with its ASCII letters.
        let before = rest[..start].iter().rev();
        let start = start - before.take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = &rest[start..];
        let is_part = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
        let length = word.iter().take_while(|byte| is_part(byte)).count();
        match letters(&word[..length]) {
            Some(letters) => plausible += letters,
            None => doubtful += 1,
        }
        rest = &word[length..];
    }
    doubtful * PLAUSIBLE_PER_DOUBT <= plausible
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Lower,
    Upper,
    /// A mark that stands next to words or between them, such as a quotation mark or a dash.
    Mark,
    /// A character that hardly occurs in a text, or none.
    Rare,
}

fn kind(byte: u8) -> Kind {
    match byte {
        b'a'..=b'z' | 0xdf..=0xf6 | 0xf8..=0xfe | 0x9a | 0x9c | 0x9e => Kind::Lower,
        b'A'..=b'Z' | 0xc0..=0xd6 | 0xd8..=0xde | 0x8a | 0x8c | 0x8e | 0x9f => Kind::Upper,
        0x80 | 0x82 | 0x84..=0x87 | 0x89 | 0x8b | 0x91..=0x97 | 0x99 | 0x9b => Kind::Mark,
        0xa0..=0xbf | 0xd7 | 0xf7 => Kind::Mark,
        _ => Kind::Rare,
    }
}

/// Returns the number of plausible letters beyond ASCII of a word. `None` if the word is doubtful.
fn letters(word: &[u8]) -> Option<usize> {
    let (mut ascii, mut high, mut run) = (0, 0, 0);
    for (index, byte) in word.iter().enumerate() {
        let now = kind(*byte);
        let before = index.checked_sub(1).map(|before| word[before]);
        let after = word.get(index + 1).copied();
        run = if byte.is_ascii() { 0 } else { run + 1 };
        let is_plausible = match now {
            Kind::Rare => false,
            Kind::Mark => is_mark_in_place(*byte, before, after),
            // Such a capital does not follow a small letter.
            Kind::Upper => {
                byte.is_ascii() || before.is_none_or(|before| kind(before) != Kind::Lower)
            }
            Kind::Lower => true,
        };
        if !is_plausible || run > 3 {
            return None;
        }
        match now {
            Kind::Lower | Kind::Upper if byte.is_ascii() => ascii += 1,
            Kind::Lower | Kind::Upper => high += 1,
            Kind::Mark | Kind::Rare => {}
        }
    }
    let is_word = match word {
        // Alone they are rather the cut beginnings of UTF-8 characters than words.
        [0xc2 | 0xc3] => false,
        [_] => true,
        _ => high == 0 || (ascii > 0 && high <= ascii + 1),
    };
    is_word.then_some(high)
}

/// True if a mark may stand between these bytes of a word.
fn is_mark_in_place(mark: u8, before: Option<u8>, after: Option<u8>) -> bool {
    let is_letter = |byte: u8| matches!(kind(byte), Kind::Lower | Kind::Upper);
    let (follows, precedes) = (before.is_some_and(is_letter), after.is_some_and(is_letter));
    match mark {
        // Quotation marks that open, and signs before names and numbers.
        0x82 | 0x84 | 0x8b | 0x91 | 0x93 | 0xa1 | 0xab | 0xbf => !follows,
        // An apostrophe, dashes, an ellipsis, a no-break space, a soft hyphen, a middle dot.
        0x85 | 0x92 | 0x96 | 0x97 | 0xa0 | 0xad | 0xb7 => true,
        _ => !(follows && precedes),
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::*;

    use super::*;

    #[test]
    fn western_texts_are_recognized() {
        for text in [
            "caf\u{e9} noir\n",
            "caf\u{e9}",
            "\u{e9}",
            "M\u{fc}ller",
            "Gr\u{f6}\u{df}e",
            "\u{c4}nderung der Stra\u{df}e",
            "El ni\u{f1}o comi\u{f3} pi\u{f1}as en Espa\u{f1}a.",
            "\u{bf}Qu\u{e9}? \u{a1}S\u{ed}!",
            "na\u{ef}ve fa\u{e7}ade",
            "\u{c9}t\u{e9}, cr\u{e9}\u{e9}e \u{e0} l\u{2019}\u{e9}cole",
            "a\u{e7}\u{e3}o n\u{e3}o \u{e9}",
            "bl\u{e5}b\u{e6}rgr\u{f8}d",
            "\u{201c}quoted\u{201d} \u{2013} it\u{2019}s\u{2026}",
            "price: 5 \u{20ac}",
            "\u{a9} 2020 Foo",
            "20 \u{b0}C, 10 \u{b5}s, \u{a3}5, \u{a7} 5, 2\u{d7}3",
            "\u{ab} guillemets \u{bb}",
            "const char *s = \"gr\u{fc}n\"; // f\u{fc}r \u{dc}bung\n",
        ] {
            let (bytes, _, _) = WINDOWS_1252.encode(text);
            assert!(is_western(&bytes), "{text}");
        }
    }

    #[test]
    fn texts_of_other_encodings_are_not_taken_for_western_ones() {
        for (encoding, text) in [
            (GBK, "你好\n"),
            (GBK, "中文"),
            (GBK, "// 这是中文注释\nint x = 1;\n"),
            (GBK, "printf(\"中文\");\n"),
            (BIG5, "你好\n"),
            (BIG5, "// 這是繁體中文註解\n"),
            (SHIFT_JIS, "こんにちは\n"),
            (SHIFT_JIS, "日本\n"),
            (SHIFT_JIS, "// 日本語のコメント\n"),
            (EUC_JP, "こんにちは\n"),
            (EUC_KR, "안녕하세요\n"),
            (EUC_KR, "한글\n"),
            (WINDOWS_1251, "Привет, мир\n"),
            (WINDOWS_1251, "// в этом файле\nint x;\n"),
            (KOI8_R, "Привет, мир\n"),
            (WINDOWS_1253, "Καλημέρα\n"),
            (WINDOWS_1255, "שלום\n"),
            (WINDOWS_1256, "مرحبا\n"),
            (WINDOWS_874, "สวัสดี\n"),
            (WINDOWS_1250, "zażółć gęślą jaźń\n"),
            (ISO_8859_2, "zażółć gęślą jaźń\n"),
            (IBM866, "Привет\n"),
            (MACINTOSH, "café noir, déjà vu\n"),
        ] {
            let (bytes, _, is_replaced) = encoding.encode(text);
            assert!(!is_replaced, "{text}");
            assert!(!is_western(&bytes), "{} {text}", encoding.name());
        }
        // A frame and an umlaut of DOS.
        assert!(!is_western(b"\xc9\xcd\xcd\xcd\xbb\n\xba x \xba\n"));
        assert!(!is_western(b"M\x81ller\n"));
        // A damaged byte, and half a character of UTF-8.
        assert!(!is_western(b"text\xff"));
        assert!(!is_western(b"ends in a half character \xc3"));
    }

    #[test]
    fn one_doubtful_word_among_many_plausible_ones_is_accepted() {
        let text = format!("{}\u{c5}\u{e4}\u{f6}", "f\u{fc}r ".repeat(8));
        let (bytes, _, _) = WINDOWS_1252.encode(&text);
        assert!(is_western(&bytes));
        assert!(!is_western(&bytes[4..]));
    }
}
