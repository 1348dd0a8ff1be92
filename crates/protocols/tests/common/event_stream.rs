//! Frames of AWS event streams.

use flate2::Crc;

fn crc(bytes: &[u8]) -> [u8; 4] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_be_bytes()
}

/// Returns a frame with these headers and this payload.
pub(crate) fn frame(headers: &[(&str, &str)], payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut encoded = Vec::new();
    for (name, value) in headers {
        encoded.push(u8::try_from(name.len()).unwrap());
        encoded.extend_from_slice(name.as_bytes());
        encoded.push(7);
        encoded.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        encoded.extend_from_slice(value.as_bytes());
    }
    let total = u32::try_from(12 + encoded.len() + payload.len() + 4).unwrap();
    let mut frame = total.to_be_bytes().to_vec();
    frame.extend_from_slice(&u32::try_from(encoded.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&crc(&frame));
    frame.extend_from_slice(&encoded);
    frame.extend_from_slice(payload);
    let sum = crc(&frame);
    frame.extend_from_slice(&sum);
    frame
}
