//! The address of a request in failures, and the detection of HTML pages in place of an answer.

use url::Url;

/// Returns `provider/model at scheme://host/path`. User information, query and fragment are
/// removed, because they may be secret.
pub fn place(model: &str, url: &Url) -> String {
    let mut shown = url.clone();
    // Both calls succeed for an address with a host.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    format!("{model} at {shown}")
}

/// Number of bytes of a body that suffice to detect a page.
pub const BEGINNING: usize = 64;

/// True if an answer is an HTML page, by its first bytes, or by its content type if they are not those of an event or
/// of JSON. Some servers send streams with the content type of a page.
pub fn is_page(content_type: Option<&str>, body: &[u8]) -> bool {
    let typed = content_type.is_some_and(|it| begins_with(it.trim_start().as_bytes(), "text/html"));
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let text = text.trim_ascii_start();
    let is_data = DATA.iter().any(|it| text.starts_with(it.as_bytes()));
    typed && !is_data || begins_with(text, "<!doctype html") || begins_with(text, "<html")
}

/// The beginnings of server-sent events and of JSON.
const DATA: [&str; 8] = ["data:", "event:", "id:", "retry:", "error:", ":", "{", "["];

fn begins_with(text: &[u8], beginning: &str) -> bool {
    let head = text.get(..beginning.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(beginning.as_bytes()))
}

/// Returns the message about a page. A failing server may return one for any request. From a
/// working server it means that the address is wrong.
pub fn page_message(place: &str, status: u16) -> String {
    if status >= 500 {
        return format!("{place} answered with an HTML page (status {status})");
    }
    format!(
        "{place} answered with an HTML page (status {status}) instead of a stream: is the baseURL right?"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_pages_are_recognised_by_media_type_or_first_bytes() {
        for (content_type, body, page) in [
            (Some("text/html; charset=utf-8"), "", true),
            (Some("Text/HTML"), "Welcome", true),
            (Some("Text/HTML"), "{}", false),
            (Some("text/html"), "\n: ping\n\n", false),
            (Some("text/html"), "event: message_start\n", false),
            (None, "<!DOCTYPE html><html>", true),
            (Some("text/event-stream"), "\u{feff} \n<HTML lang=en>", true),
            (Some("text/event-stream"), "data: <html>", false),
            (None, "<ht", false),
            (None, "", false),
        ] {
            let found = is_page(content_type, body.as_bytes());
            assert_eq!(found, page, "{content_type:?} {body:?}");
        }
    }

    #[test]
    fn a_shown_address_has_no_secrets() {
        let url = Url::parse("https://user:key@host:8443/v1/responses?key=1#key").unwrap();
        assert_eq!(place("p/m", &url), "p/m at https://host:8443/v1/responses");
    }
}
