//! The header `WWW-Authenticate` of a refusal (RFC 6750, RFC 9728).

use opencode_oauth::scopes;

/// Maximum length of the header.
const MAX_HEADER_BYTES: usize = 8192;

/// The parameters of a challenge for a bearer token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    /// The address of the metadata of the server.
    pub(super) resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub(super) scopes: Vec<String>,
    /// The code of the error.
    pub(super) error: Option<String>,
}

impl Parameters {
    /// Reads a header. Unknown parts are ignored.
    pub(super) fn read(header: &str) -> Self {
        let mut found = Self::default();
        if header.len() > MAX_HEADER_BYTES {
            return found;
        }
        for (name, value) in parameters(header) {
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => found.resource_metadata = Some(value),
                "scope" => found.scopes = scopes(&value),
                "error" => found.error = Some(value),
                _ => {}
            }
        }
        found
    }
}

/// Returns the pairs `name=value` of a header. Names of schemes are skipped.
fn parameters(header: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(equals) = rest.find('=') {
        let name = rest[..equals].trim_end();
        let name = name.rsplit([' ', ',', '\t']).next().unwrap_or_default();
        let after = rest[equals + 1..].trim_start();
        let (value, tail) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
                (after[..end].to_owned(), &after[end..])
            }
        };
        found.push((name, value));
        rest = tail;
    }
    found
}

/// Returns a quoted text without its escapes, and the rest after its end.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_among_others() {
        let header = r#"Basic realm="a=b, scope=x", Bearer error="insufficient_scope",
            resource_metadata = "https://h/m?a=\"1\"", scope="files:read  files:write files:read", Scope2=z"#;
        let read = Parameters::read(header);
        assert_eq!(
            read.resource_metadata.as_deref(),
            Some("https://h/m?a=\"1\"")
        );
        assert_eq!(read.scopes, ["files:read", "files:write"]);
        assert_eq!(read.error.as_deref(), Some("insufficient_scope"));
    }

    #[test]
    fn broken_headers_have_no_parameters() {
        for header in ["", "Bearer", "=", "Bearer scope=\"", "\"=\\"] {
            assert_eq!(Parameters::read(header).scopes, [""; 0], "{header}");
        }
        let long = format!("Bearer scope={}", "a".repeat(MAX_HEADER_BYTES));
        assert_eq!(Parameters::read(&long), Parameters::default());
    }
}
