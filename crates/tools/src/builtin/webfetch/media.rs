//! Recognizes answers with text.

/// True if an answer of this content type can be read.
pub(super) fn is_text(content_type: &str) -> bool {
    let essence = essence(content_type).to_ascii_lowercase();
    let known = [
        "",
        "application/json",
        "application/xml",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
    ];
    essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || known.contains(&&*essence)
}

/// Returns a content type without its parameters, cut at 100 bytes.
pub(super) fn essence(content_type: &str) -> &str {
    let essence = content_type.split(';').next().unwrap_or_default();
    let essence = essence.trim();
    &essence[..essence.floor_char_boundary(100)]
}

/// True if an answer of this content type is an HTML page.
pub(super) fn is_html(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().contains("text/html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_distinguished_from_other_content() {
        for text in [
            "",
            " ; charset=utf-8",
            "text/html; charset=utf-8",
            "TEXT/PLAIN",
            "text/anything",
            "application/json",
            "application/ld+json; profile=x",
            "application/xml",
            "application/xhtml+xml",
            "image/svg+xml",
            "application/javascript",
            "text/javascript",
        ] {
            assert!(is_text(text), "{text}");
        }
        for other in [
            "image/png",
            "image/jpeg; charset=utf-8",
            "application/octet-stream",
            "application/pdf",
            "video/mp4",
            "application/jsonp",
            "multipart/form-data; boundary=text/html",
        ] {
            assert!(!is_text(other), "{other}");
        }
    }

    #[test]
    fn pages_are_distinguished_from_other_texts() {
        assert!(is_html("Text/HTML;charset=latin1"));
        assert!(!is_html("application/xhtml+xml"));
        assert!(!is_html("text/plain"));
    }
}
