//! Files of every origin and damage: what becomes of them.

use std::io::Cursor;

use image::codecs::gif::GifEncoder;
use image::{
    DynamicImage, Frame, GenericImageView as _, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage,
};

use super::*;

/// A JPEG of 8 × 8 pixels in the colours of printers.
const FOR_PRINTING: &str = "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ/8AAFAgACAAIBAERAAIRAAMRAAQRAP/EABQAAQAAAAAAAAAAAAAAAAAAAAD/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oADgQBAAIAAwAEAAA/AAD/2Q==";

/// An image whose pixels no encoding makes small.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()])).into()
}

fn encoded(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    noise(12, 10).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn animation() -> Vec<u8> {
    let mut bytes = Vec::new();
    let frames = [[255, 0, 0, 255], [0, 0, 255, 255]];
    let frames = frames.map(|it| Frame::new(RgbaImage::from_pixel(12, 10, Rgba(it))));
    GifEncoder::new(&mut bytes).encode_frames(frames).unwrap();
    bytes
}

fn data(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", STANDARD.encode(bytes))
}

async fn check(uri: &str, mime: &str) -> CheckedFile {
    check_file(uri, mime, ImageLimits::default(), CancellationToken::new()).await
}

/// Returns what becomes of a file, in short: `same`, the new type, or the reason.
async fn outcome(uri: &str, mime: &str) -> String {
    match check(uri, mime).await {
        CheckedFile::Unchanged => "same".to_owned(),
        CheckedFile::Refused(error) => error.to_string(),
        CheckedFile::Replaced { uri, mime } => {
            let content = uri.strip_prefix(&format!("data:{mime};base64,")).unwrap();
            let bytes = STANDARD.decode(content).unwrap();
            assert_eq!(media_type(&bytes), Some(mime));
            // A file that passed needs no second check.
            let again = check(&uri, mime).await;
            assert!(matches!(again, CheckedFile::Unchanged), "{again:?}");
            mime.to_owned()
        }
    }
}

#[tokio::test]
async fn the_bytes_decide_what_is_sent() {
    let (png, jpeg) = (encoded(ImageFormat::Png), encoded(ImageFormat::Jpeg));
    let (gif, webp) = (encoded(ImageFormat::Gif), encoded(ImageFormat::WebP));
    let (pdf, wav) = (b"%PDF-1.7\n", b"RIFF\x24\0\0\0WAVEfmt ");
    let mut garbage = png.clone();
    garbage.resize(8_000_000, 0);
    let (cut_jpeg, film) = (jpeg[..jpeg.len() - 20].to_vec(), animation());
    // A camera puts a whole smaller picture in front of the picture.
    let with_thumbnail = |picture: &[u8]| {
        let mut bytes = b"\xff\xd8\xff\xe1".to_vec();
        bytes.extend((jpeg.len() as u16 + 2).to_be_bytes());
        bytes.extend(&jpeg);
        bytes.extend(&picture[2..]);
        bytes
    };
    let (photo, cut_photo) = (with_thumbnail(&jpeg), with_thumbnail(&cut_jpeg));
    let for_printing = STANDARD.decode(FOR_PRINTING).unwrap();
    let rows: Vec<(&str, &[u8], &str)> = vec![
        ("image/png", &png, "same"),
        ("image/jpeg", &jpeg, "same"),
        ("image/jpeg", &photo, "same"),
        ("image/gif", &gif, "same"),
        ("image/webp", &webp, "same"),
        ("application/pdf", pdf, "same"),
        ("audio/wav", wav, "same"),
        // Wrong types.
        ("image/png", &jpeg, "image/jpeg"),
        ("image/jpg", &jpeg, "image/jpeg"),
        ("IMAGE/PNG", &png, "image/png"),
        ("image/png", pdf, "application/pdf"),
        ("image/svg+xml", &png, "image/png"),
        ("application/pdf", &png, "image/png"),
        ("application/octet-stream", &png, "image/png"),
        ("audio/x-wav", wav, "audio/wav"),
        ("audio/mp3", b"ID3\x04", "audio/mpeg"),
        // Images that some provider refuses.
        ("image/gif", &film, "image/png"),
        ("image/jpeg", &cut_jpeg, "image/png"),
        ("image/jpeg", &cut_photo, "image/png"),
        ("image/png", &garbage, "image/png"),
        ("image/jpeg", &for_printing, "image/png"),
        // Types that no model reads: a model gets a note.
        ("application/zip", b"PK\x03\x04", "same"),
        ("application/octet-stream", b"\xff\xfb\x90", "same"),
        ("video/mp4", b"\0\0\0\x18ftypmp42", "same"),
        ("text/plain", b"GIF89a is a format", "same"),
    ];
    for (mime, bytes, expected) in rows {
        expect_outcome(mime, bytes, expected).await;
    }
}

#[tokio::test]
async fn a_file_that_no_model_reads_is_refused_with_the_reason() {
    let (png, gif) = (encoded(ImageFormat::Png), encoded(ImageFormat::Gif));
    let cut = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let (cut_png, cut_gif, cut_webp) = (cut(&png), cut(&gif), cut(&encoded(ImageFormat::WebP)));
    let mut broken = png.clone();
    broken[60..].fill(0);
    let mut empty = gif.clone();
    empty[6..10].fill(0);
    let mut bomb = gif.clone();
    bomb[6..10].copy_from_slice(&[0xf0, 0xff, 0xf0, 0xff]);
    let undecodable = "its image cannot be decoded";
    let unknown = "it cannot be decoded, because its bytes are those of no image, PDF document or sound that models read";
    let other = |kind: &str| {
        format!("it cannot be decoded, because models do not read images of the type image/{kind}")
    };
    let rows: Vec<(&str, &[u8], String)> = vec![
        ("image/png", b"this is no image", unknown.into()),
        (
            "image/png",
            b"",
            "it cannot be decoded, because it is empty".into(),
        ),
        ("image/png", &png[..20], undecodable.into()),
        ("image/png", &cut_png, undecodable.into()),
        ("image/png", &broken, undecodable.into()),
        ("image/gif", &cut_gif, undecodable.into()),
        ("image/gif", &empty, undecodable.into()),
        ("image/webp", &cut_webp, undecodable.into()),
        (
            "image/gif",
            &bomb,
            format!(
                "its image is 65520x65520 with base64 size {}, exceeding configured limits 2000x2000/5242880 bytes",
                bomb.len().div_ceil(3) * 4
            ),
        ),
        ("application/pdf", b"%!PS", unknown.into()),
        ("audio/mpeg", b"no sound", unknown.into()),
        ("image/bmp", b"BM\x46\0\0\0\0\0\0\0", other("bmp")),
        ("image/tiff", b"II*\0\x08\0\0\0", other("tiff")),
        ("image/heic", b"\0\0\0\x18ftypheic\0\0", other("heic")),
        ("image/avif", b"\0\0\0\x1cftypavif\0\0", other("avif")),
        ("image/svg+xml", b"\n<svg xmlns=\"\"/>", other("svg+xml")),
        ("image/x-icon", b"\0\0\x01\0\x01\0", other("x-icon")),
    ];
    for (mime, bytes, expected) in rows {
        expect_outcome(mime, bytes, &expected).await;
    }
    let large = vec![b'x'; 21 * 1024 * 1024];
    let pdf = [b"%PDF-1.7\n".as_slice(), &large].concat();
    assert_eq!(
        outcome(&data("application/pdf", &pdf), "application/pdf").await,
        "it is of the type application/pdf and has more than 20971520 bytes"
    );
}

async fn expect_outcome(mime: &str, bytes: &[u8], expected: &str) {
    let found = outcome(&data(mime, bytes), mime).await;
    let beginning = &bytes[..bytes.len().min(16)];
    assert_eq!(found, expected, "{mime}: {beginning:?}");
}

#[tokio::test]
async fn bytes_of_resources_become_media_by_their_content() {
    let bytes = encoded(ImageFormat::Png);
    let limits = ImageLimits::default;
    let media = |bytes: &[u8]| attached_media(bytes.to_vec(), limits(), CancellationToken::new());
    let png = media(&bytes).await.unwrap().unwrap();
    assert_eq!((png.mime, png.bytes), ("image/png", bytes.clone()));
    assert!(media(b"text").await.is_none());
    assert!(media(&bytes[..20]).await.unwrap().is_err());
}

#[tokio::test]
async fn every_spelling_of_base64_is_read() {
    let png = encoded(ImageFormat::Png);
    let base64 = STANDARD.encode(&png);
    let lines = base64.as_bytes().chunks(76);
    let lines: Vec<_> = lines.map(|it| std::str::from_utf8(it).unwrap()).collect();
    let percent: String = png.iter().map(|byte| format!("%{byte:02X}")).collect();
    let url_safe = base64.replace('+', "-").replace('/', "_");
    let url_safe = url_safe.trim_end_matches('=');
    let not_base64 = "its data cannot be decoded, because it is not valid base64";
    for (uri, expected) in [
        (format!("data:image/png;base64,{base64}"), "same"),
        (format!("DATA:image/png;BASE64,{base64}"), "image/png"),
        (
            format!("data:image/png;charset=utf-8;base64,{base64}"),
            "image/png",
        ),
        (format!("data:;base64,{base64}"), "image/png"),
        (
            format!("data:image/png;base64, {}\r\n", lines.join("\r\n")),
            "image/png",
        ),
        (format!("data:image/png;base64,{url_safe}"), "image/png"),
        (
            format!("data:image/png;base64,{}", base64.replace('+', "%2B")),
            "image/png",
        ),
        (format!("data:image/png,{percent}"), "image/png"),
        (base64.clone(), "image/png"),
        ("data:image/png;base64,%%%".to_owned(), not_base64),
        ("data:image/png;base64,\u{e4}\u{f6}".to_owned(), not_base64),
        ("data:application/zip;base64,!".to_owned(), not_base64),
        ("data:text/plain,hello".to_owned(), "same"),
        ("https://example.test/a.png".to_owned(), "same"),
        ("file:///a.png".to_owned(), "same"),
        ("a.png".to_owned(), "same"),
    ] {
        let mime = match uri.as_str() {
            "data:text/plain,hello" => "text/plain",
            "data:application/zip;base64,!" => "application/zip",
            _ => "image/png",
        };
        assert_eq!(
            outcome(&uri, mime).await,
            expected,
            "{}",
            &uri[..uri.len().min(60)]
        );
    }
}

#[tokio::test]
async fn images_of_every_origin_are_within_the_limits() {
    let mut bytes = Cursor::new(Vec::new());
    noise(300, 100)
        .write_to(&mut bytes, ImageFormat::Png)
        .unwrap();
    let uri = data("image/png", &bytes.into_inner());
    let limits = ImageLimits {
        max_width: 60,
        ..ImageLimits::default()
    };
    let checked = |limits| check_file(&uri, "image/png", limits, CancellationToken::new());
    let CheckedFile::Replaced { uri: small, .. } = checked(limits).await else {
        panic!("the image stays large");
    };
    let small = STANDARD.decode(small.split_once(',').unwrap().1).unwrap();
    let small = image::load_from_memory(&small).unwrap();
    assert_eq!(small.dimensions(), (60, 20));
    let fixed = ImageLimits {
        auto_resize: false,
        ..limits
    };
    let CheckedFile::Refused(error) = checked(fixed).await else {
        panic!("the image is not refused");
    };
    assert!(
        error.to_string().starts_with("its image is 300x100 with"),
        "{error}"
    );
}
