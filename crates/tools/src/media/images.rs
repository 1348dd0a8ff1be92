//! Images for the model: unchanged if every provider accepts them and they are within the limits, else written again,
//! smaller if necessary.
//!
//! Each image is decoded once, because a provider refuses every request with an image that it cannot decode. Pixels cost
//! memory and time, so one process decodes few images at once, and no image above [`MAX_DECODED_BYTES`]: a file of a few
//! kilobytes may declare huge dimensions.

use std::{borrow::Cow, fmt, io::Cursor};

use image::{
    AnimationDecoder, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits,
    Rgb, RgbImage, Rgba,
    codecs::{gif::GifDecoder, jpeg::JpegEncoder, webp::WebPDecoder},
    imageops::FilterType,
    metadata::Orientation,
};
use opencode_location::config::ImageLimits;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::{Media, MediaError};

/// Number of images that the process decodes at once.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Maximum size of the decoded pixels in bytes: 64 million pixels, or 48 million with transparency. The
/// decoder of a progressive JPEG needs three times as much.
const MAX_DECODED_BYTES: u64 = 192 * 1024 * 1024;

/// Maximum memory for reading a head, in bytes. Color profiles are unpacked there.
const MAX_HEAD_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum number of pixels for the filter, which needs sixteen bytes for each. Larger images are
/// averaged first.
const MAX_FILTERED_PIXELS: u64 = 16_000_000;

/// Maximum number of sizes to try. Each is three quarters of the one before.
const MAX_SIZES: usize = 32;

/// JPEG qualities in the order in which they are tried.
const QUALITIES: [u8; 5] = [80, 85, 70, 55, 40];

/// Permission to decode an image. A call that waits for it should hold no image in memory.
pub(crate) type Turn = SemaphorePermit<'static>;

/// Waits for permission to decode an image. Returns `None` if it is never granted.
pub(crate) async fn turn() -> Option<Turn> {
    TURNS.acquire().await.ok()
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    width: u32,
    height: u32,
}

/// An image that is over the limits.
#[derive(Debug)]
pub struct Excess {
    size: Size,
    base64: u64,
    limits: ImageLimits,
}

impl fmt::Display for Excess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            size: Size { width, height },
            base64,
            limits,
        } = self;
        write!(
            formatter,
            "is {width}x{height} with base64 size {base64}, exceeding configured limits {}x{}/{} bytes",
            limits.max_width, limits.max_height, limits.max_base64_bytes
        )
    }
}

impl Media {
    /// Returns an image within `limits`, which is the image itself if it fits. Blocks. The caller has a turn.
    pub(super) fn fitted(
        self,
        limits: &ImageLimits,
        cancel: &CancellationToken,
    ) -> Result<Self, MediaError> {
        let size = self.size()?;
        let base64 = base64_size(&self.bytes);
        let fits = size == size.within(limits) && base64 <= limits.max_base64_bytes;
        if fits && self.is_accepted().map_err(undecodable)? {
            return Ok(self);
        }
        let smaller = match fits || limits.auto_resize {
            true => self.smaller(size.within(limits), limits, cancel)?,
            false => None,
        };
        let excess = Excess {
            size,
            base64,
            limits: *limits,
        };
        smaller.ok_or(MediaError::ImageTooLarge(excess))
    }

    /// True if every provider accepts the image: its first picture is complete, and it has no colours for printing and
    /// no more pictures. Too many pixels are not decoded.
    fn is_accepted(&self) -> Result<bool, ImageError> {
        let decoder = self.decoder(MAX_DECODED_BYTES)?;
        let size = decoder.total_bytes();
        if size > MAX_DECODED_BYTES {
            return Ok(true);
        }
        decoder.read_image(&mut vec![0; size as usize])?;
        Ok(!self.is_for_printing() && !self.is_animated()? && !self.is_cut())
    }

    fn is_animated(&self) -> Result<bool, ImageError> {
        let bytes = Cursor::new(&self.bytes);
        Ok(match self.mime {
            // A damaged second picture counts, too.
            "image/gif" => GifDecoder::new(bytes)?.into_frames().nth(1).is_some(),
            "image/webp" => WebPDecoder::new(bytes)?.has_animation(),
            _ => false,
        })
    }

    /// True for a JPEG with the four colours of a printer. The library decodes them to three and does not tell.
    fn is_for_printing(&self) -> bool {
        self.mime == "image/jpeg" && jpeg_components(&self.bytes) == Some(4)
    }

    /// True for a JPEG without an end. The library decodes the part that is there, and a provider refuses it.
    fn is_cut(&self) -> bool {
        let has_end = |scan: &[u8]| scan.windows(2).rev().any(|it| it == b"\xff\xd9");
        self.mime == "image/jpeg" && !jpeg_scan(&self.bytes).is_some_and(has_end)
    }

    /// Returns the displayed size. Reads only the head.
    fn size(&self) -> Result<Size, MediaError> {
        let mut decoder = self.decoder(MAX_HEAD_BYTES).map_err(undecodable)?;
        let (width, height) = decoder.dimensions();
        if width == 0 || height == 0 {
            return Err(MediaError::Undecodable);
        }
        let size = Size { width, height };
        Ok(size.rotated(orientation(&mut decoder)))
    }

    fn decoder(&self, max_bytes: u64) -> Result<impl ImageDecoder + '_, ImageError> {
        let format = ImageFormat::from_mime_type(self.mime).unwrap_or(ImageFormat::Png);
        let mut reader = ImageReader::with_format(Cursor::new(&self.bytes), format);
        reader.limits(limited(max_bytes));
        reader.into_decoder()
    }

    /// Tries smaller and smaller sizes from `size` on. Returns `None` if no size is small enough, or if
    /// the image has too many pixels to decode.
    fn smaller(
        self,
        mut size: Size,
        limits: &ImageLimits,
        cancel: &CancellationToken,
    ) -> Result<Option<Self>, MediaError> {
        let largest = match self.decoded(size) {
            Err(ImageError::Limits(_)) => return Ok(None),
            decoded => decoded.map_err(undecodable)?,
        };
        drop(self);
        for _ in 0..MAX_SIZES {
            let scaled = scaled(&largest, size);
            if let Some(found) = encoded(&scaled, limits.max_base64_bytes, cancel)? {
                return Ok(Some(found));
            }
            size = size.three_quarters();
        }
        Ok(None)
    }

    /// Returns the displayed pixels, scaled to `size`. Uses the first picture of an animation.
    fn decoded(&self, size: Size) -> Result<DynamicImage, ImageError> {
        let mut decoder = self.decoder(MAX_DECODED_BYTES)?;
        let orientation = orientation(&mut decoder);
        let mut limits = limited(MAX_DECODED_BYTES);
        limits.reserve(decoder.total_bytes())?;
        decoder.set_limits(limits)?;
        let decoded = DynamicImage::from_decoder(decoder)?;
        let mut image = scaled(&decoded, size.rotated(orientation)).into_owned();
        drop(decoded);
        image.apply_orientation(orientation);
        Ok(if image.color().has_alpha() {
            image.into_rgba8().into()
        } else {
            image.into_rgb8().into()
        })
    }
}

impl Size {
    /// Returns the largest size with the same proportions within the limits.
    fn within(self, limits: &ImageLimits) -> Self {
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        let scale = (limits.max_width as f64 / width).min(limits.max_height as f64 / height);
        let side = |side: f64| ((side * scale.min(1.0)).round() as u32).max(1);
        Self {
            width: side(width),
            height: side(height),
        }
    }

    fn three_quarters(self) -> Self {
        let side = |side: u32| (side - side.div_ceil(4)).max(1);
        Self {
            width: side(self.width),
            height: side(self.height),
        }
    }

    /// Applies the rotation of an orientation. The inverse is the same operation.
    fn rotated(self, orientation: Orientation) -> Self {
        match orientation {
            Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH => Self {
                width: self.height,
                height: self.width,
            },
            _ => self,
        }
    }
}

/// Returns the number of colours of a JPEG.
fn jpeg_components(bytes: &[u8]) -> Option<u8> {
    // The markers of tables and extensions are among those of frames.
    let is_frame = |marker| matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
    let frame = jpeg_segment(bytes, is_frame)?;
    // After the length, the precision, the height and the width.
    frame.get(7).copied()
}

/// Returns the first scan of a JPEG and everything behind it. The thumbnails in extensions are in front of it.
fn jpeg_scan(bytes: &[u8]) -> Option<&[u8]> {
    jpeg_segment(bytes, |marker| marker == 0xda)
}

/// Returns the bytes behind the first marker that is wanted.
fn jpeg_segment(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        match rest {
            [0xff, 0xff, ..] => rest = &rest[1..],
            [0xff, marker, after @ ..] if is_wanted(*marker) => return Some(after),
            [0xff, _, after @ ..] => {
                let length = after.first_chunk().map(|it| u16::from_be_bytes(*it))?;
                rest = after.get(usize::from(length)..)?;
            }
            _ => return None,
        }
    }
}

fn limited(max_bytes: u64) -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(max_bytes);
    limits
}

fn orientation(decoder: &mut impl ImageDecoder) -> Orientation {
    let orientation = decoder.orientation();
    orientation.unwrap_or(Orientation::NoTransforms)
}

fn undecodable(error: ImageError) -> MediaError {
    tracing::debug!(%error, "an image could not be decoded");
    MediaError::Undecodable
}

/// Returns the number of bytes in base64.
fn base64_size(bytes: &[u8]) -> u64 {
    bytes.len().div_ceil(3) as u64 * 4
}

/// Scales an image. The filter looks best but needs memory for every pixel, so a much larger image is
/// first averaged to twice the size.
fn scaled(image: &DynamicImage, size: Size) -> Cow<'_, DynamicImage> {
    let Size { width, height } = size;
    if (image.width(), image.height()) == (width, height) {
        return Cow::Borrowed(image);
    }
    let (twice_width, twice_height) = (width.saturating_mul(2), height.saturating_mul(2));
    Cow::Owned(
        if image.width() > twice_width && image.height() > twice_height {
            let near = image.thumbnail_exact(twice_width, twice_height);
            scaled(&near, size).into_owned()
        } else if u64::from(image.width()) * u64::from(image.height()) > MAX_FILTERED_PIXELS {
            image.thumbnail_exact(width, height)
        } else {
            image.resize_exact(width, height, FilterType::CatmullRom)
        },
    )
}

/// Returns the first encoding that is small enough: a PNG, else a JPEG.
fn encoded(
    image: &DynamicImage,
    max_base64: u64,
    cancel: &CancellationToken,
) -> Result<Option<Media>, MediaError> {
    let small = |bytes: &Vec<u8>| base64_size(bytes) <= max_base64;
    let found = |mime, bytes| Ok(Some(Media { mime, bytes }));
    if let Some(bytes) = png(image).filter(small) {
        return found("image/png", bytes);
    }
    let opaque = on_white(image);
    for quality in QUALITIES {
        // After an interruption, the call waits for at most one encoding.
        if cancel.is_cancelled() {
            return Err(MediaError::Interrupted);
        }
        if let Some(bytes) = jpeg(&opaque, quality).filter(small) {
            return found("image/jpeg", bytes);
        }
    }
    Ok(None)
}

fn png(image: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).ok()?;
    Some(bytes.into_inner())
}

/// Returns `None` if a side is too long for the format.
fn jpeg(image: &RgbImage, quality: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
    image.write_with_encoder(encoder).ok()?;
    Some(bytes)
}

/// Draws the image on white, because JPEG does not support transparency.
fn on_white(image: &DynamicImage) -> Cow<'_, RgbImage> {
    let transparent = match image {
        DynamicImage::ImageRgb8(opaque) => return Cow::Borrowed(opaque),
        DynamicImage::ImageRgba8(transparent) => Cow::Borrowed(transparent),
        other => Cow::Owned(other.to_rgba8()),
    };
    let (width, height) = transparent.dimensions();
    Cow::Owned(RgbImage::from_fn(width, height, |x, y| {
        let Rgba([red, green, blue, alpha]) = *transparent.get_pixel(x, y);
        let shine = |part: u8| {
            let (part, alpha) = (u16::from(part), u16::from(alpha));
            ((part * alpha + 255 * (255 - alpha)) / 255) as u8
        };
        Rgb([shine(red), shine(green), shine(blue)])
    }))
}
