//! The last output of a terminal, addressed like JavaScript text: in UTF-16 code units, counted
//! from its beginning.

use std::collections::VecDeque;
use std::sync::Arc;

/// Approximate length of one piece in units. A lookup scans at most one piece.
const PIECE: usize = 16 * 1024;

/// Returns the number of UTF-16 units of a text.
pub(crate) fn units(text: &str) -> usize {
    // Each character has one unit, and a second one if its UTF-8 form has four bytes.
    let of = |byte: u8| usize::from(byte & 0xc0 != 0x80) + usize::from(byte >= 0xf0);
    text.bytes().map(of).sum()
}

/// Returns the byte offset at which a text reaches that many units. An offset within a character is
/// rounded down.
fn byte_at(text: &str, wanted: usize) -> usize {
    let mut passed = 0;
    for (at, character) in text.char_indices() {
        passed += character.len_utf16();
        if passed > wanted {
            return at;
        }
    }
    text.len()
}

/// The last units of a growing output.
pub(crate) struct Buffer {
    /// Maximum number of units to keep.
    capacity: u64,
    pieces: VecDeque<Piece>,
    /// Text that is too short for a piece.
    tail: String,
    tail_start: u64,
    /// First unit that is kept. A character begins there.
    start: u64,
    /// Number of the next unit.
    end: u64,
}

struct Piece {
    start: u64,
    text: Arc<str>,
}

impl Buffer {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity as u64,
            pieces: VecDeque::new(),
            tail: String::new(),
            tail_start: 0,
            start: 0,
            end: 0,
        }
    }

    /// Returns the total number of units so far.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.tail.push_str(text);
        self.end += units(text) as u64;
        if (self.end - self.tail_start) as usize >= PIECE {
            let text = std::mem::take(&mut self.tail).into();
            let start = self.tail_start;
            self.pieces.push_back(Piece { start, text });
            self.tail_start = self.end;
        }
        self.forget();
    }

    fn forget(&mut self) {
        let oldest = self.end.saturating_sub(self.capacity);
        if oldest <= self.start {
            return;
        }
        self.start = self.boundary(oldest);
        let after = |pieces: &VecDeque<Piece>| pieces.get(1).map(|it| it.start);
        while !self.pieces.is_empty()
            && after(&self.pieces).unwrap_or(self.tail_start) <= self.start
        {
            self.pieces.pop_front();
        }
    }

    /// Returns the first offset at or after `place` at which a character begins.
    fn boundary(&self, place: u64) -> u64 {
        let (start, text) = self.around(place);
        let before = &text[..byte_at(text, (place - start) as usize)];
        // A character of two units contains the offset, which is its second unit.
        let begins = start + units(before) as u64;
        if begins < place { begins + 2 } else { place }
    }

    /// Returns the piece that contains this offset, with the start of the piece.
    fn around(&self, place: u64) -> (u64, &str) {
        if place >= self.tail_start {
            return (self.tail_start, &self.tail);
        }
        let after = self.pieces.partition_point(|it| it.start <= place);
        let piece = &self.pieces[after.saturating_sub(1)];
        (piece.start, &piece.text)
    }

    /// Returns at most `most` units from `from` on, which must be the beginning of a character, and
    /// the offset after them. Returns `None` if they are not kept any more, and an empty text at
    /// the end.
    pub(crate) fn read(&self, from: u64, most: usize) -> Option<(String, u64)> {
        if from < self.start {
            return None;
        }
        let (mut text, mut at) = (String::new(), from);
        while at < self.end && ((at - from) as usize) < most {
            let (start, piece) = self.around(at);
            let rest = &piece[byte_at(piece, (at - start) as usize)..];
            let room = most - (at - from) as usize;
            let taken = &rest[..byte_at(rest, room)];
            if taken.is_empty() {
                break;
            }
            text.push_str(taken);
            at += units(taken) as u64;
        }
        Some((text, at))
    }

    /// Returns the output from an offset on, or from the oldest unit that is kept.
    pub(crate) fn snapshot(&self, from: u64) -> Replay {
        let from = from.clamp(self.start, self.end);
        let first = self.pieces.partition_point(|it| it.start <= from);
        let pieces = self.pieces.iter().skip(first.saturating_sub(1));
        let mut pieces: VecDeque<_> = pieces.map(|it| Arc::clone(&it.text)).collect();
        if from >= self.tail_start {
            pieces.clear();
        }
        pieces.push_back(self.tail.as_str().into());
        let (start, text) = self.around(from);
        Replay {
            pieces,
            offset: byte_at(text, (from - start) as usize),
        }
    }
}

/// A snapshot of the output. Its pieces are shared with the buffer.
pub(crate) struct Replay {
    pieces: VecDeque<Arc<str>>,
    /// Number of bytes of the first piece that were already returned.
    offset: usize,
}

impl Replay {
    /// Returns the next units, at most `most` and only whole characters. Returns `None` at the end.
    pub(crate) fn next(&mut self, most: usize) -> Option<String> {
        let (mut text, mut room) = (String::new(), most);
        while let Some(piece) = self.pieces.front() {
            let rest = &piece[self.offset..];
            let taken = &rest[..byte_at(rest, room)];
            text.push_str(taken);
            if taken.len() < rest.len() {
                self.offset += taken.len();
                break;
            }
            room -= units(taken);
            self.pieces.pop_front();
            self.offset = 0;
        }
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replay(buffer: &Buffer, from: u64) -> String {
        let mut replay = buffer.snapshot(from);
        std::iter::from_fn(|| replay.next(7)).collect()
    }

    /// Returns the units that are kept from an offset on, as text.
    fn tail_of(text: &str, from: u64) -> String {
        let mut at = 0;
        let kept = text.chars().filter(|it| {
            at += it.len_utf16() as u64;
            at > from
        });
        kept.collect()
    }

    #[test]
    fn output_is_addressed_in_utf16_units() {
        let mut buffer = Buffer::new(100);
        for text in ["ab", "ä€", "😀", "", "z"] {
            buffer.push(text);
        }
        assert_eq!(buffer.end(), 7);
        for (from, text) in [
            (0, "abä€😀z"),
            (1, "bä€😀z"),
            (3, "€😀z"),
            (4, "😀z"),
            // An offset within a character is moved to its beginning.
            (5, "😀z"),
            (6, "z"),
            (7, ""),
            (8, ""),
            (u64::MAX, ""),
        ] {
            assert_eq!(replay(&buffer, from), text, "{from}");
        }
    }

    #[test]
    fn reading_stops_before_half_a_character() {
        let mut buffer = Buffer::new(100);
        buffer.push("a😀b");
        for (from, most, read) in [
            (0, 0, Some(("", 0))),
            (0, 1, Some(("a", 1))),
            (0, 2, Some(("a", 1))),
            (0, 3, Some(("a😀", 3))),
            (1, 1, Some(("", 1))),
            (1, 9, Some(("😀b", 4))),
            (4, 9, Some(("", 4))),
        ] {
            let expected = read.map(|(text, at): (&str, u64)| (text.to_owned(), at));
            assert_eq!(buffer.read(from, most), expected, "{from} {most}");
        }
    }

    #[test]
    fn old_output_is_dropped() {
        let mut buffer = Buffer::new(4);
        buffer.push("ab😀cd");
        assert_eq!(replay(&buffer, 0), "😀cd");
        assert_eq!(buffer.read(1, 9), None);
        buffer.push("e");
        assert_eq!(replay(&buffer, 0), "cde", "no half character");
        assert_eq!(buffer.read(3, 9), None);
        assert_eq!(buffer.read(4, 9), Some(("cde".to_owned(), 7)));
    }

    #[test]
    fn a_replay_does_not_change() {
        let mut buffer = Buffer::new(4);
        buffer.push("abcd");
        let mut replay = buffer.snapshot(1);
        buffer.push("efgh");
        assert_eq!(replay.next(2).as_deref(), Some("bc"));
        assert_eq!(replay.next(2).as_deref(), Some("d"));
        assert_eq!(replay.next(2), None);
    }

    proptest! {
        #[test]
        fn every_cursor_returns_the_later_output(
            texts in prop::collection::vec(("[a😀€]{1,4}", 0_usize..4_000), 0..8),
            capacity in 1_usize..40_000,
            place in any::<prop::sample::Index>(),
            most in 2_usize..70_000,
        ) {
            let texts: Vec<_> = texts.iter().map(|(text, times)| text.repeat(*times)).collect();
            let mut buffer = Buffer::new(capacity);
            for text in &texts {
                buffer.push(text);
            }
            let all = texts.concat();
            prop_assert!(buffer.end() == units(&all) as u64);
            let from = place.index(units(&all) + 1) as u64;
            prop_assert!(units(&replay(&buffer, 0)) <= capacity);
            prop_assert!(replay(&buffer, from) == tail_of(&all, buffer.start.max(from)));
            let mut frames = buffer.snapshot(from);
            while let Some(frame) = frames.next(most) {
                prop_assert!(units(&frame) <= most);
            }
            let mut at = buffer.boundary(buffer.start.max(from));
            let rest = tail_of(&all, at);
            let mut read = String::new();
            while at < buffer.end() {
                let (text, next) = buffer.read(at, most).unwrap();
                prop_assert!(units(&text) <= most && next > at);
                read.push_str(&text);
                at = next;
            }
            prop_assert!(read == rest);
        }
    }
}
