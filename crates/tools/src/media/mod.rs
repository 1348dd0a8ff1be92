//! Media for the model: images, PDF documents and sounds. Whatever their origin is, they are checked here before they
//! become a part of a conversation, because every later request repeats them: their bytes decide their type, an image can
//! be decoded and is within the limits, and nothing is too large.

mod data_uri;
mod images;

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use opencode_llm::media_type;
use opencode_location::config::ImageLimits;
use tokio_util::sync::CancellationToken;

pub use self::data_uri::decode_base64;
pub(crate) use self::images::{Turn, turn};

use self::data_uri::DataUri;
use self::images::Excess;

/// Maximum size of media in bytes.
pub(crate) const MAX_MEDIA_BYTES: u64 = 20 * 1024 * 1024;

/// Bytes of a type that some models read.
#[derive(Debug, PartialEq, Eq)]
pub struct Media {
    /// The media type, according to the first bytes.
    pub mime: &'static str,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The reason why media are not shown. The text is the end of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// Media over the size limit.
    #[error("it is of the type {mime} and has more than {MAX_MEDIA_BYTES} bytes")]
    TooLarge {
        /// The type, according to its first bytes.
        mime: String,
    },
    /// An image that is damaged.
    #[error("its image cannot be decoded")]
    Undecodable,
    /// An image that cannot be made small enough.
    #[error("its image {0}")]
    ImageTooLarge(Excess),
    /// The data is not valid base64.
    #[error("its data cannot be decoded, because it is not valid base64")]
    NotBase64,
    /// The bytes are those of another format.
    #[error("it cannot be decoded, because {0}")]
    OtherFormat(&'static str),
    /// The work was interrupted.
    #[error("the work was interrupted")]
    Interrupted,
}

/// A file of a conversation after its check.
#[derive(Debug)]
pub enum CheckedFile {
    /// The file stays as it is. Files of types that no model reads are not checked: a model gets a note about them.
    Unchanged,
    /// This file takes its place.
    Replaced {
        /// A `data:` URI.
        uri: String,
        /// The media type, according to its bytes.
        mime: &'static str,
    },
    /// The file must not be sent to any model.
    Refused(MediaError),
}

/// Returns bytes as media within the limits. `None` if they are not media.
pub async fn attached_media(
    bytes: Vec<u8>,
    limits: ImageLimits,
    cancel: CancellationToken,
) -> Option<Result<Media, MediaError>> {
    let mime = media_type(&bytes)?;
    let media = Media { mime, bytes };
    Some(fitting(media, limits, cancel, |media| media).await)
}

/// Checks a file with its content in its URI. `mime` is the declared type.
pub async fn check_file(
    uri: &str,
    mime: &str,
    limits: ImageLimits,
    cancel: CancellationToken,
) -> CheckedFile {
    let Some(data) = DataUri::of(uri) else {
        return CheckedFile::Unchanged;
    };
    let essence = |mime: &str| {
        let essence = mime.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    };
    let mut declared = essence(mime);
    if is_unspecific(&declared) {
        declared = essence(data.declared);
    }
    if !data.is_base64 && !is_medium(&declared) {
        return CheckedFile::Unchanged;
    }
    let uri: Arc<str> = uri.into();
    let given = Arc::clone(&uri);
    let decoding = opencode_log::spawn_blocking(move || decoded(&given, &declared));
    let media = match decoding.await {
        Ok(Ok(Some(media))) => media,
        Ok(Ok(None)) => return CheckedFile::Unchanged,
        Ok(Err(error)) => return CheckedFile::Refused(error),
        Err(_) => return CheckedFile::Refused(MediaError::Interrupted),
    };
    let written = |Media { mime, bytes }: Media| {
        let encoded = STANDARD.encode(bytes);
        (format!("data:{mime};base64,{encoded}"), mime)
    };
    match fitting(media, limits, cancel, written).await {
        Ok((fitted, kind)) if *fitted == *uri && kind == mime => CheckedFile::Unchanged,
        Ok((uri, mime)) => CheckedFile::Replaced { uri, mime },
        Err(error) => CheckedFile::Refused(error),
    }
}

/// Returns the media in the URI. `None` for a type that no model reads.
fn decoded(uri: &str, declared: &str) -> Result<Option<Media>, MediaError> {
    let bytes = DataUri::of(uri).and_then(|data| data.decode());
    let bytes = bytes.ok_or(MediaError::NotBase64)?;
    let is_declared = is_medium(declared);
    // Too many other files begin like a frame of a sound.
    let is_certain = |mime: &str| is_unspecific(declared) && !mime.starts_with("audio/");
    let found = media_type(&bytes).filter(|mime| is_declared || is_certain(mime));
    let Some(mime) = found else {
        return match is_declared {
            true => Err(MediaError::OtherFormat(other_format(&bytes))),
            false => Ok(None),
        };
    };
    if bytes.len() as u64 > MAX_MEDIA_BYTES {
        let mime = mime.to_owned();
        return Err(MediaError::TooLarge { mime });
    }
    Ok(Some(Media { mime, bytes }))
}

/// True for a declared type that a model may read.
fn is_medium(declared: &str) -> bool {
    declared.starts_with("image/")
        || declared.starts_with("audio/")
        || declared == "application/pdf"
}

/// True for a declared type that says nothing.
fn is_unspecific(declared: &str) -> bool {
    let unspecific = ["", "application/octet-stream", "binary/octet-stream"];
    unspecific.contains(&declared)
}

/// Returns what is wrong with bytes that are no media.
fn other_format(bytes: &[u8]) -> &'static str {
    let begins = |beginning: &[u8]| bytes.starts_with(beginning);
    let text = bytes.trim_ascii_start();
    match bytes.get(4..12) {
        _ if bytes.is_empty() => "it is empty",
        Some(b"ftypheic" | b"ftypheix" | b"ftypmif1" | b"ftypmsf1") => {
            "models do not read images of the type image/heic"
        }
        Some(b"ftypavif" | b"ftypavis") => "models do not read images of the type image/avif",
        _ if begins(b"BM") => "models do not read images of the type image/bmp",
        _ if begins(b"II*\0") || begins(b"MM\0*") => {
            "models do not read images of the type image/tiff"
        }
        _ if begins(b"\0\0\x01\0") => "models do not read images of the type image/x-icon",
        _ if text.starts_with(b"<svg") || text.starts_with(b"<?xml") => {
            "models do not read images of the type image/svg+xml"
        }
        _ => "its bytes are those of no image, PDF document or sound that models read",
    }
}

/// Returns what `then` makes of media within the limits, on a thread that may block. Only images are made smaller.
async fn fitting<T: Send + 'static>(
    media: Media,
    limits: ImageLimits,
    cancel: CancellationToken,
    then: impl FnOnce(Media) -> T + Send + 'static,
) -> Result<T, MediaError> {
    let turn = match media.is_image() {
        true => turn().await,
        false => None,
    };
    let work = opencode_log::spawn_blocking(move || {
        // The turn belongs to the work, which runs to its end even if the caller is gone.
        let _turn = turn;
        media.within(&limits, &cancel).map(then)
    });
    // A panic of a decoder is the fault of the image.
    work.await.unwrap_or(Err(MediaError::Undecodable))
}

impl Media {
    pub(crate) fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }

    /// Returns the media within the limits. Blocks. For an image, the caller has a turn.
    pub(crate) fn within(
        self,
        limits: &ImageLimits,
        cancel: &CancellationToken,
    ) -> Result<Self, MediaError> {
        if self.bytes.len() as u64 > MAX_MEDIA_BYTES {
            let mime = self.mime.to_owned();
            return Err(MediaError::TooLarge { mime });
        }
        match self.is_image() {
            true => self.fitted(limits, cancel),
            false => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests;
