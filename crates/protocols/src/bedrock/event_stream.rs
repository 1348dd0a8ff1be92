//! The messages of `application/vnd.amazon.eventstream`: lengths, headers, a payload, and two checksums.
//!
//! Every number is big-endian. A message consists of its length, the length of its headers, the checksum of these two,
//! the headers, the payload, and the checksum of all before.

/// Maximum size of one message in bytes. The service sends at most 16 MiB.
const MAX_MESSAGE: usize = 24 * 1024 * 1024;

/// Size in bytes of a number: a length or a checksum.
const NUMBER: usize = 4;

/// Size in bytes of both lengths and their checksum.
const PRELUDE: usize = 3 * NUMBER;

/// A message with valid checksums.
pub(super) struct Message<'a> {
    /// The headers whose values are texts.
    headers: Vec<(&'a str, &'a str)>,
    pub(super) payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// Reads the message at the beginning of a buffer, and returns it with its length. Returns `None` if a part of it is
    /// missing. A failure is what is wrong with the message.
    pub(super) fn read(buffer: &'a [u8]) -> Result<Option<(Self, usize)>, &'static str> {
        let Some(length) = number(buffer, 0) else {
            return Ok(None);
        };
        if length > MAX_MESSAGE {
            return Err("a frame is too large");
        }
        let (Some(of_headers), Some(sum)) = (number(buffer, NUMBER), number(buffer, 2 * NUMBER))
        else {
            return Ok(None);
        };
        if !has_sum(&buffer[..2 * NUMBER], sum) {
            return Err("the checksum of the lengths of a frame is wrong");
        }
        let end = length.checked_sub(NUMBER);
        let Some(end) = end.filter(|end| of_headers.saturating_add(PRELUDE) <= *end) else {
            return Err("the lengths of a frame contradict each other");
        };
        let Some(sum) = number(buffer, end) else {
            return Ok(None);
        };
        if !has_sum(&buffer[..end], sum) {
            return Err("the checksum of a frame is wrong");
        }
        let (headers, payload) = buffer[PRELUDE..end].split_at(of_headers);
        let headers = read_headers(headers).ok_or("the headers of a frame cannot be read")?;
        Ok(Some((Self { headers, payload }, length)))
    }

    /// Returns the text of a header. Empty if there is none.
    pub(super) fn header(&self, name: &str) -> &'a str {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| *known == name);
        found.map_or("", |(_, text)| *text)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<NUMBER>()?;
    usize::try_from(u32::from_be_bytes(*bytes)).ok()
}

fn has_sum(bytes: &[u8], sum: usize) -> bool {
    usize::try_from(crc32fast::hash(bytes)) == Ok(sum)
}

/// Returns the headers whose values are texts. `None` if the bytes are no headers.
fn read_headers(mut bytes: &[u8]) -> Option<Vec<(&str, &str)>> {
    let mut headers = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let name = str::from_utf8(name).ok()?;
        let (kind, rest) = rest.split_first()?;
        let (length, rest) = match kind {
            // True and false.
            0 | 1 => (0, rest),
            // Integers of 1, 2, 4 and 8 bytes.
            2 => (1, rest),
            3 => (2, rest),
            4 => (4, rest),
            5 => (8, rest),
            // Bytes and text, with their length.
            6 | 7 => {
                let (length, rest) = rest.split_first_chunk::<2>()?;
                (usize::from(u16::from_be_bytes(*length)), rest)
            }
            // A time.
            8 => (8, rest),
            // A UUID.
            9 => (16, rest),
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        if *kind == 7 {
            headers.push((name, str::from_utf8(value).ok()?));
        }
        bytes = rest;
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message with these headers and this payload.
    fn message(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
        let mut bytes = Vec::new();
        bytes.extend(length(PRELUDE + headers.len() + payload.len() + NUMBER));
        bytes.extend(length(headers.len()));
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend(headers);
        bytes.extend(payload);
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }

    fn text(name: &str, value: &str) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(name.len()).unwrap()];
        bytes.extend(name.as_bytes());
        bytes.push(7);
        bytes.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        bytes.extend(value.as_bytes());
        bytes
    }

    /// One header of each type, with a text at the end.
    fn all_headers() -> Vec<u8> {
        let mut headers = Vec::new();
        for (kind, value) in [
            (0, 0),
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 4),
            (5, 8),
            (8, 8),
            (9, 16),
        ] {
            headers.extend([1, b'h', kind]);
            headers.extend(vec![0; value]);
        }
        headers.extend([1, b'b', 6, 0, 2, 1, 2]);
        headers.extend(text(":event-type", "messageStop"));
        headers
    }

    /// The messages that the specification of the format gives as examples.
    #[test]
    fn published_messages_are_read() {
        let empty = [
            0, 0, 0, 0x10, 0, 0, 0, 0, 0x05, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff,
        ];
        let (read, length) = Message::read(&empty).unwrap().unwrap();
        assert_eq!((read.payload, length), (&b""[..], 16));
        let mut with_payload = vec![0, 0, 0, 0x1d, 0, 0, 0, 0, 0xfd, 0x52, 0x8c, 0x5a];
        with_payload.extend(b"{'foo':'bar'}");
        with_payload.extend([0xc3, 0x65, 0x39, 0x36]);
        let (read, length) = Message::read(&with_payload).unwrap().unwrap();
        assert_eq!((read.payload, length), (&b"{'foo':'bar'}"[..], 29));
    }

    #[test]
    fn headers_of_every_type_are_passed() {
        let bytes = message(&all_headers(), b"{}");
        let (read, length) = Message::read(&bytes).unwrap().unwrap();
        assert_eq!(length, bytes.len());
        assert_eq!(read.header(":event-type"), "messageStop");
        assert_eq!(read.header("h"), "");
        assert_eq!(read.payload, b"{}");
    }

    #[test]
    fn a_part_of_a_message_is_not_read() {
        let bytes = message(&all_headers(), b"{}");
        for end in 0..bytes.len() {
            assert!(Message::read(&bytes[..end]).unwrap().is_none(), "{end}");
        }
    }

    #[test]
    fn a_changed_message_is_refused_or_incomplete() {
        let bytes = message(&all_headers(), b"{}");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let read = Message::read(&changed).map(|it| it.map(|(_, length)| length));
                assert!(!matches!(read, Ok(Some(_))), "{at} {bit}");
            }
        }
    }

    #[test]
    fn wrong_lengths_and_headers_are_refused() {
        let mut long = message(b"", b"");
        long[3] = 0x0f;
        let sum = crc32fast::hash(&long[..8]).to_be_bytes();
        long[8..12].copy_from_slice(&sum);
        assert!(Message::read(&long).is_err());
        let mut large = message(b"", b"");
        large[0] = 0xff;
        assert_eq!(
            Message::read(&large[..4]).err(),
            Some("a frame is too large")
        );
        for headers in [
            &b"\x05ab"[..],
            b"\x01a\x0a",
            b"\x01a\x07\x00\x05ab",
            b"\x01\xff\x00",
            b"\x01a",
        ] {
            assert!(
                Message::read(&message(headers, b"")).is_err(),
                "{headers:?}"
            );
        }
    }
}
