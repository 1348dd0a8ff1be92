//! The frames of `botocore`. Its tests contain no answers of models.

use opencode_llm::ProtocolId;

use super::{decode, outline};

/// A frame of the kind that ends an answer with an error of the service.
const ERROR: &[u8] = b"\x00\x00\x00\x52\x00\x00\x00\x42\xbf\x23\x63\x7e\
    \x0d:message-type\x07\x00\x05error\
    \x0b:error-code\x07\x00\x04code\
    \x0e:error-message\x07\x00\x07message\
    \x6b\x6c\xea\x3d";

/// A frame with headers of all types.
const ALL_HEADERS: &[u8] = b"\x00\x00\x00\x62\x00\x00\x00\x52\x03\xb5\xcb\x9c\
    \x010\x00\x011\x01\x012\x02\x02\x013\x03\x00\x03\
    \x014\x04\x00\x00\x00\x04\x015\x05\x00\x00\x00\x00\x00\x00\x00\x05\
    \x016\x06\x00\x05bytes\x017\x07\x00\x04utf8\
    \x018\x08\x00\x00\x00\x00\x00\x00\x00\x08\x019\x090123456789abcdef\
    \x63\x35\x36\x71";

const EMPTY: &[u8] = b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2H\xeb}\x98\xc8\xff";

const CORRUPTED_PAYLOAD: &[u8] =
    b"\x00\x00\x00\x1d\x00\x00\x00\x00\xfdR\x8cZ{'foo':'bar'\x8d\xc3e96";

const CORRUPTED_LENGTH: &[u8] = b"\x01\x00\x00\x1d\x00\x00\x00\x00\xfdR\x8cZ{'foo':'bar'}\xc3e96";

const CORRUPTED_HEADERS: &[u8] =
    b"\x00\x00\x00=\x00\x00\x00 \x07\xfd\x83\x96\x0ccontent+type\x07\x00\x10\
    application/json{'foo':'bar'}\x8d\x9c\x08\xb1";

const ENDED: &str = "error The mock/bedrock-converse stream ended before a finish event";

#[test]
fn frames() {
    let rows: [(&[&[u8]], &str); 5] = [
        (&[EMPTY, ALL_HEADERS, ERROR], "Unknown code: message"),
        (&[EMPTY, ALL_HEADERS], ENDED),
        (
            &[CORRUPTED_PAYLOAD],
            "error Invalid mock/bedrock-converse stream: the checksum of a frame is wrong",
        ),
        (
            &[CORRUPTED_LENGTH],
            "error Invalid mock/bedrock-converse stream: the checksum of the lengths of a frame is wrong",
        ),
        (
            &[CORRUPTED_HEADERS],
            "error Invalid mock/bedrock-converse stream: the checksum of a frame is wrong",
        ),
    ];
    for (frames, expected) in rows {
        let stream = frames.concat();
        let whole = decode(ProtocolId::BedrockConverse, [stream.as_slice()]);
        let in_bytes = decode(ProtocolId::BedrockConverse, stream.chunks(1));
        assert_eq!(outline(&whole), [expected]);
        assert_eq!(outline(&in_bytes), [expected]);
    }
}
