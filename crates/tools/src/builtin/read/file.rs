//! Reads one file: an image, other binary content, a whole text or a page of a text.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use opencode_llm::media_type;
use opencode_location::files::{media_type::mime_of, opening::open_file};
use opencode_schema::message::ToolContent;
use serde::Serialize;

use super::{MAX_BYTES, Paging, ReadError, Reading, page};
use crate::builtin::{
    file_uri::file_uri,
    text::{
        Charset, Form, NotText, SAMPLE_BYTES, TextReader, has_binary_format, is_binary, recognize,
    },
};
use crate::contract::tool::ToolOutput;
use crate::media::{MAX_MEDIA_BYTES, Media, MediaError, Turn};

#[derive(Serialize)]
struct WholeFile<'a> {
    uri: String,
    name: String,
    content: String,
    encoding: &'static str,
    mime: &'a str,
    /// The encoding of the file, if it was recognized by the look of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    charset: Option<&'static str>,
}

#[derive(Serialize)]
struct TextPage<'a> {
    r#type: &'static str,
    content: String,
    mime: &'a str,
    offset: u64,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    charset: Option<&'static str>,
}

/// Reads a regular file.
pub(super) fn read(
    reading: &Reading,
    paging: Paging,
    turn: Option<&Turn>,
) -> Result<ToolOutput, ReadError> {
    let path = &reading.target.canonical;
    // Another entry may have replaced the file since the check.
    let mut file = open_file(path)?;
    let metadata = file.metadata()?;
    let mut head = Vec::new();
    file.by_ref()
        .take(SAMPLE_BYTES as u64)
        .read_to_end(&mut head)?;
    let image_type = media_type(&head).filter(|mime| mime.starts_with("image/"));
    if let Some(mime) = image_type {
        let media = media(mime, head, &file, metadata.len(), turn)?;
        let image = media.within(&reading.image_limits, &reading.cancel)?;
        return shown(path, &reading.input.path, &image);
    }
    let is_whole = head.len() < SAMPLE_BYTES;
    let charset = match recognize(&head, true, is_whole) {
        Ok(charset) => charset,
        // A part of a large file may be text.
        Err(NotText::Binary) if head.len() > MAX_BYTES && !has_binary_format(&head) => {
            Some(Charset::UTF8)
        }
        Err(NotText::Binary) => return binary(path, &head),
        Err(reason) => return Err(ReadError::NotText(reason)),
    };
    if head.len() <= MAX_BYTES && !paging.is_given() {
        let mut text = String::new();
        TextReader::new(head.as_slice(), charset).read_to_string(&mut text)?;
        if is_binary(text.as_bytes()) {
            return binary(path, &head);
        }
        if text.len() <= MAX_BYTES {
            return whole_file(path, text, "utf8", mime_of(path), guessed(charset));
        }
    }
    let bytes = TextReader::new(head.as_slice().chain(file), charset);
    let text = BufReader::new(bytes);
    match page::read(text, paging.offset(), paging.limit(), &reading.cancel) {
        Ok(page) => Ok(ToolOutput::encode(&TextPage {
            r#type: "text-page",
            content: page.content,
            mime: mime_of(path),
            offset: paging.offset(),
            truncated: page.next.is_some(),
            next: page.next,
            charset: guessed(charset),
        })?),
        Err(ReadError::Binary) => binary(path, &head),
        Err(error) => Err(error),
    }
}

/// Returns the name of an encoding that no byte proves.
fn guessed(charset: Option<Charset>) -> Option<&'static str> {
    let charset = charset.filter(|charset| charset.form == Form::Windows1252)?;
    Some(charset.encoding().name())
}

/// Returns the bytes for programs, and type and size for the model.
fn binary(path: &Path, head: &[u8]) -> Result<ToolOutput, ReadError> {
    if head.len() > MAX_BYTES {
        return Err(ReadError::Binary);
    }
    let mime = mime_of(path);
    let output = whole_file(path, STANDARD.encode(head), "base64", mime, None)?;
    let text = format!(
        "Binary file read successfully: {mime}, {} bytes",
        head.len()
    );
    Ok(output.with_content(vec![ToolContent::Text { text }]))
}

/// Reads the whole media of this type and size. An image requires a turn.
pub(super) fn media(
    mime: &'static str,
    head: Vec<u8>,
    rest: &File,
    size: u64,
    turn: Option<&Turn>,
) -> Result<Media, ReadError> {
    if size > MAX_MEDIA_BYTES {
        let mime = mime.to_owned();
        return Err(MediaError::TooLarge { mime }.into());
    }
    let mut media = Media { mime, bytes: head };
    if media.is_image() && turn.is_none() {
        return Err(ReadError::NotItsTurn);
    }
    // One byte more than allowed distinguishes a file that grew from one that just fits.
    let room = MAX_MEDIA_BYTES + 1 - media.bytes.len() as u64;
    rest.take(room).read_to_end(&mut media.bytes)?;
    Ok(media)
}

/// Returns the image for programs and for the model. `given` is the path as the model wrote it.
fn shown(path: &Path, given: &str, image: &Media) -> Result<ToolOutput, ReadError> {
    let (mime, encoded) = (image.mime, STANDARD.encode(&image.bytes));
    let shown = ToolContent::File {
        uri: format!("data:{mime};base64,{encoded}"),
        mime: mime.to_owned(),
        name: Some(given.to_owned()),
    };
    let text = "Image read successfully".to_owned();
    let output = whole_file(path, encoded, "base64", mime, None)?;
    Ok(output.with_content(vec![ToolContent::Text { text }, shown]))
}

fn whole_file(
    path: &Path,
    content: String,
    encoding: &'static str,
    mime: &str,
    charset: Option<&'static str>,
) -> Result<ToolOutput, ReadError> {
    let name = path.file_name().unwrap_or_default();
    Ok(ToolOutput::encode(&WholeFile {
        uri: file_uri(path),
        name: name.to_string_lossy().into_owned(),
        content,
        encoding,
        mime,
        charset,
    })?)
}
