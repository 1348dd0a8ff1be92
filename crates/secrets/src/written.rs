//! Redaction of values that have a secret name in a text, in JSON or as `name=value`.

use super::names::is_secret_name;
use super::secret::REDACTED;

/// Maximum length of a member name that is checked, in bytes.
const LONGEST_NAME: usize = 64;

/// Replaces the values of JSON string members with secret names in any text.
pub(super) fn redact_members(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let (before, quoted) = rest.split_at(open);
        out.push_str(before);
        match secret_member(quoted) {
            Some((head, tail)) => {
                out.push_str(head);
                out.push_str(REDACTED);
                rest = tail;
            }
            None => {
                out.push('"');
                rest = &quoted[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Splits `"name": "value"…` before and after the value if the name is secret. An unterminated
/// value extends to the end of the text.
fn secret_member(quoted: &str) -> Option<(&str, &str)> {
    let name_end = 1 + quoted[1..].find('"')?;
    let name = &quoted[1..name_end];
    if name.len() > LONGEST_NAME || !is_secret_name(name) {
        return None;
    }
    let after_name = quoted[name_end + 1..].trim_start();
    let value = after_name
        .strip_prefix(':')?
        .trim_start()
        .strip_prefix('"')?;
    let head = &quoted[..quoted.len() - value.len()];
    let mut escaped = false;
    let end = value.find(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    Some((head, &value[end.unwrap_or(value.len())..]))
}

/// Replaces the values of `name=value` pairs with secret names.
pub(super) fn redact_pairs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(equals) = rest.find('=') {
        let (before, after) = (&rest[..equals], &rest[equals + 1..]);
        out.push_str(before);
        out.push('=');
        rest = after;
        let name_start = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            .map_or(0, |at| {
                at + before[at..].chars().next().map_or(1, char::len_utf8)
            });
        if is_secret_name(&before[name_start..]) {
            let end = after
                .find(|c: char| c.is_whitespace() || "&\"'<>,;)}\\".contains(c))
                .unwrap_or(after.len());
            if end > 0 {
                out.push_str(REDACTED);
                rest = &after[end..];
            }
        }
    }
    out.push_str(rest);
    out
}
