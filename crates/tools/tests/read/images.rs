//! Tests for images: unchanged within the limits, else made smaller, else refused with the reason.

use std::io::Cursor;
use std::path::Path;

use crate::common::{call, context, failed, success, text};
use crate::project::{Project, whole};
use base64::{Engine, engine::general_purpose::STANDARD};
use image::codecs::gif::GifEncoder;
use image::{DynamicImage, Frame, GenericImageView, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use opencode_location::config::ImageLimits;
use opencode_schema::message::ToolContent;
use opencode_tools::Settlement;
use serde_json::json;

const RED: Rgb<u8> = Rgb([255, 0, 0]);
const BLUE: Rgb<u8> = Rgb([0, 0, 255]);

/// The left half is red and the right half is blue.
fn halves(width: u32, height: u32) -> DynamicImage {
    let colour = |x, _| if x < width / 2 { RED } else { BLUE };
    RgbImage::from_fn(width, height, colour).into()
}

/// Returns an image that no encoding makes much smaller.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()])).into()
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn limits(max_width: u64, max_height: u64, max_base64_bytes: u64) -> ImageLimits {
    ImageLimits {
        auto_resize: true,
        max_width,
        max_height,
        max_base64_bytes,
    }
}

const ROOMY: u64 = 5_242_880;

async fn read(project: &Project, name: &str, limits: ImageLimits) -> Settlement {
    let mut context = context(&project.location());
    context.ports.image_limits = limits;
    let call = call("read", json!({"path": name}));
    project.turn.settle(call, &context).await
}

fn shown(path: &Path, bytes: &[u8], mime: &str) -> Settlement {
    let encoded = STANDARD.encode(bytes);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let part = ToolContent::File {
        uri: format!("data:{mime};base64,{encoded}"),
        mime: mime.to_owned(),
        name: Some(name),
    };
    let structured = whole(path, &encoded, "base64", mime);
    success(structured, vec![text("Image read successfully"), part])
}

/// Returns media type and picture of a shown image. Checks that programs and the model get the same.
async fn picture(project: &Project, name: &str, limits: ImageLimits) -> (String, DynamicImage) {
    let settled = read(project, name, limits).await;
    let Settlement::Success { structured, .. } = &settled else {
        panic!("{name}: {settled:?}");
    };
    let mime = structured["mime"].as_str().unwrap().to_owned();
    let content = structured["content"].as_str().unwrap();
    assert!(content.len() as u64 <= limits.max_base64_bytes, "{name}");
    let bytes = STANDARD.decode(content).unwrap();
    assert_eq!(
        settled,
        shown(&project.location().join(name), &bytes, &mime)
    );
    let format = ImageFormat::from_mime_type(&mime).unwrap();
    (
        mime,
        image::load_from_memory_with_format(&bytes, format).unwrap(),
    )
}

const FORMATS: [(&str, ImageFormat, &str); 4] = [
    ("a.png", ImageFormat::Png, "image/png"),
    ("b.jpg", ImageFormat::Jpeg, "image/jpeg"),
    ("c.gif", ImageFormat::Gif, "image/gif"),
    ("d.webp", ImageFormat::WebP, "image/webp"),
];

#[tokio::test]
async fn images_within_the_limits_are_unchanged() {
    let project = Project::new();
    for (name, format, mime) in FORMATS {
        let bytes = encoded(&halves(40, 20), format);
        let path = project.write(name, &bytes);
        let size = bytes.len().div_ceil(3) as u64 * 4;
        let settled = read(&project, name, limits(40, 20, size)).await;
        assert_eq!(settled, shown(&path, &bytes, mime), "{name}");
    }
}

#[tokio::test]
async fn a_damaged_image_within_the_limits_is_refused() {
    let project = Project::new();
    for (name, format, _) in FORMATS {
        let mut bytes = encoded(&noise(40, 20), format);
        bytes.truncate(bytes.len() - 40);
        project.write(name, &bytes);
        if name == "b.jpg" {
            // The decodable part is shown.
            let (mime, _) = picture(&project, name, limits(40, 20, ROOMY)).await;
            assert_eq!(mime, "image/png");
            continue;
        }
        let settled = read(&project, name, limits(40, 20, ROOMY)).await;
        let expected = failed(format!("Image could not be decoded: {name}"));
        assert_eq!(settled, expected);
    }
}

#[tokio::test]
async fn large_images_are_scaled_with_their_aspect_ratio() {
    let project = Project::new();
    for (name, format, _) in FORMATS {
        project.write(name, encoded(&halves(400, 200), format));
        for (limits, size) in [
            (limits(399, 200, ROOMY), (399, 200)),
            (limits(400, 100, ROOMY), (200, 100)),
            (limits(100, 100, ROOMY), (100, 50)),
            (limits(100, 10, ROOMY), (20, 10)),
            (limits(1, 1, ROOMY), (1, 1)),
        ] {
            let (mime, picture) = picture(&project, name, limits).await;
            assert_eq!(mime, "image/png", "{name}");
            assert_eq!(picture.dimensions(), size, "{name}");
        }
        let (_, small) = picture(&project, name, limits(100, 100, ROOMY)).await;
        let small = small.to_rgb8();
        for (x, colour) in [(10, RED), (90, BLUE)] {
            let found = small.get_pixel(x, 25).0;
            let far = found.iter().zip(colour.0).any(|(a, b)| a.abs_diff(b) > 40);
            assert!(!far, "{name}: {found:?} at {x}");
        }
    }
}

#[tokio::test]
async fn an_image_with_too_many_bytes_becomes_a_jpeg_and_then_smaller() {
    let project = Project::new();
    project.write("noise.png", encoded(&noise(200, 100), ImageFormat::Png));
    for (max_base64, size) in [(40_000, (200, 100)), (12_000, (150, 75)), (1_500, (63, 31))] {
        let (mime, picture) = picture(&project, "noise.png", limits(2000, 2000, max_base64)).await;
        assert_eq!(
            (&*mime, picture.dimensions()),
            ("image/jpeg", size),
            "{max_base64}"
        );
    }
}

#[tokio::test]
async fn transparency_is_kept_and_white_in_a_jpeg() {
    let project = Project::new();
    let mut clear = RgbaImage::from_pixel(200, 100, Rgba([0, 0, 0, 0]));
    project.write(
        "clear.png",
        encoded(&clear.clone().into(), ImageFormat::Png),
    );
    let (mime, drawing) = picture(&project, "clear.png", limits(100, 100, ROOMY)).await;
    assert_eq!(mime, "image/png");
    assert_eq!(drawing.get_pixel(50, 25), Rgba([0, 0, 0, 0]));
    // The noise below makes a PNG too large.
    for (x, y, colour) in noise(200, 60).to_rgba8().enumerate_pixels() {
        clear.put_pixel(x, y + 40, *colour);
    }
    project.write("half.png", encoded(&clear.into(), ImageFormat::Png));
    let (mime, picture) = picture(&project, "half.png", limits(200, 100, 30_000)).await;
    assert_eq!((&*mime, picture.dimensions()), ("image/jpeg", (200, 100)));
    assert_eq!(picture.get_pixel(100, 10), Rgba([255, 255, 255, 255]));
}

#[tokio::test]
async fn sixteen_bit_channels_become_eight_bit_channels() {
    let project = Project::new();
    let deep = DynamicImage::ImageRgb16(halves(40, 20).to_rgb16());
    project.write("deep.png", encoded(&deep, ImageFormat::Png));
    let (_, picture) = picture(&project, "deep.png", limits(20, 20, ROOMY)).await;
    assert_eq!(picture.color(), image::ColorType::Rgb8);
}

/// Returns the picture as a camera that was held upright stores it.
fn upright(image: &DynamicImage) -> Vec<u8> {
    let mut bytes = encoded(image, ImageFormat::Jpeg);
    let exif =
        b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    bytes.splice(2..2, exif.iter().copied());
    bytes
}

#[tokio::test]
async fn an_image_is_rotated_by_its_orientation() {
    let project = Project::new();
    let bytes = upright(&halves(80, 40));
    let path = project.write("photo.jpg", &bytes);
    let settled = read(&project, "photo.jpg", limits(40, 80, ROOMY)).await;
    assert_eq!(settled, shown(&path, &bytes, "image/jpeg"));
    let (_, picture) = picture(&project, "photo.jpg", limits(80, 40, ROOMY)).await;
    assert_eq!(picture.dimensions(), (20, 40));
    let picture = picture.to_rgb8();
    let reds = [
        picture.get_pixel(10, 5).0[0],
        picture.get_pixel(10, 35).0[0],
    ];
    assert!(reds[0] > 200 && reds[1] < 50, "{reds:?}");
    let refused = ImageLimits {
        auto_resize: false,
        ..limits(80, 40, ROOMY)
    };
    let size = bytes.len().div_ceil(3) * 4;
    let expected = format!(
        "Image photo.jpg is 40x80 with base64 size {size}, exceeding configured limits 80x40/5242880 bytes"
    );
    assert_eq!(read(&project, "photo.jpg", refused).await, failed(expected));
}

#[tokio::test]
async fn the_first_frame_of_an_animation_is_shown() {
    let project = Project::new();
    let mut bytes = Vec::new();
    let frames = [Rgba([255, 0, 0, 255]), Rgba([0, 0, 255, 255])];
    let frames = frames.map(|colour| Frame::new(RgbaImage::from_pixel(40, 20, colour)));
    GifEncoder::new(&mut bytes).encode_frames(frames).unwrap();
    project.write("film.gif", &bytes);
    // Some providers refuse animations.
    for width in [40, 20] {
        let (mime, picture) = picture(&project, "film.gif", limits(width, 20, ROOMY)).await;
        assert_eq!(mime, "image/png");
        assert_eq!(picture.get_pixel(10, 5), Rgba([255, 0, 0, 255]));
    }
}

#[tokio::test]
async fn an_image_that_cannot_be_reduced_is_refused_with_the_reason() {
    let project = Project::new();
    let bytes = encoded(&halves(400, 200), ImageFormat::Png);
    project.write("a.png", &bytes);
    let size = bytes.len().div_ceil(3) * 4;
    let fixed = |limits| ImageLimits {
        auto_resize: false,
        ..limits
    };
    for (limits, bounds) in [
        (limits(400, 200, 3), "400x200/3 bytes"),
        (fixed(limits(399, 200, ROOMY)), "399x200/5242880 bytes"),
        (fixed(limits(400, 199, ROOMY)), "400x199/5242880 bytes"),
        (fixed(limits(400, 200, 4)), "400x200/4 bytes"),
    ] {
        let expected = failed(format!(
            "Image a.png is 400x200 with base64 size {size}, exceeding configured limits {bounds}"
        ));
        assert_eq!(read(&project, "a.png", limits).await, expected);
    }
}

#[tokio::test]
async fn an_image_with_only_a_valid_header_is_refused() {
    let project = Project::new();
    for (name, bytes) in [
        ("a.png", &b"\x89PNG\r\n\x1a\n\0\0"[..]),
        ("b.jpg", b"\xff\xd8\xff\xe0"),
        ("c.gif", b"GIF89a"),
        ("d.webp", b"RIFF\0\0\0\0WEBPVP8 "),
        ("e.gif", b"GIF89a\0\0\0\0\0\0\0"),
    ] {
        project.write(name, bytes);
        let expected = failed(format!("Image could not be decoded: {name}"));
        assert_eq!(read(&project, name, ImageLimits::default()).await, expected);
    }
    for (name, format, _) in FORMATS {
        let mut bytes = encoded(&noise(40, 20), format);
        let half = bytes.len() / 2;
        bytes.truncate(half);
        project.write(name, &bytes);
        let settled = read(&project, name, limits(20, 20, ROOMY)).await;
        if name == "b.jpg" {
            // The decodable part is shown.
            assert!(matches!(settled, Settlement::Success { .. }), "{settled:?}");
            continue;
        }
        let expected = failed(format!("Image could not be decoded: {name}"));
        assert_eq!(settled, expected);
    }
}

/// The files have a few bytes and declare gigabytes of pixels.
#[tokio::test]
async fn an_image_with_too_many_pixels_is_not_decoded() {
    let project = Project::new();
    let mut jpeg = encoded(&halves(8, 8), ImageFormat::Jpeg);
    let sizes = jpeg
        .windows(2)
        .position(|marker| marker == b"\xff\xc0")
        .unwrap()
        + 5;
    jpeg[sizes..sizes + 4].copy_from_slice(&[0xff, 0xf0, 0xff, 0xf0]);
    let mut gif = encoded(&halves(8, 8), ImageFormat::Gif);
    gif[6..10].copy_from_slice(&[0xf0, 0xff, 0xf0, 0xff]);
    for (name, bytes) in [("bomb.jpg", jpeg), ("bomb.gif", gif)] {
        project.write(name, &bytes);
        let size = bytes.len().div_ceil(3) * 4;
        let expected = failed(format!(
            "Image {name} is 65520x65520 with base64 size {size}, exceeding configured limits 2000x2000/5242880 bytes"
        ));
        assert_eq!(read(&project, name, ImageLimits::default()).await, expected);
    }
}

#[tokio::test]
async fn many_large_images_wait_for_each_other() {
    let project = Project::new();
    project.write("a.png", encoded(&halves(400, 200), ImageFormat::Png));
    let reads = (0..20).map(|_| picture(&project, "a.png", limits(100, 100, ROOMY)));
    for (_, picture) in futures::future::join_all(reads).await {
        assert_eq!(picture.dimensions(), (100, 50));
    }
}
