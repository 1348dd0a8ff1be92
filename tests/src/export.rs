//! The log of a session as lines.

use opencode_runtime::{Runtime, RuntimeError};
use opencode_schema::id::SessionID;

/// Every line of a session's export.
pub async fn lines(runtime: &Runtime, session: &SessionID) -> Result<Vec<String>, RuntimeError> {
    let mut export = runtime.export(session).await?;
    let mut lines = Vec::new();
    while let Some(batch) = export.next().await? {
        lines.extend(batch);
    }
    Ok(lines)
}

/// Appends a suffix to every session, message and event identifier in a line.
#[must_use]
pub fn renamed(line: &str, suffix: &str) -> String {
    let mut text = String::with_capacity(line.len() + 4 * suffix.len());
    for (index, piece) in line.split('"').enumerate() {
        if index > 0 {
            text.push('"');
        }
        text.push_str(piece);
        let is_id = ["ses_", "msg_", "evt_"]
            .iter()
            .any(|prefix| piece.starts_with(prefix));
        if is_id {
            text.push_str(suffix);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn only_identifiers_change() {
        assert_eq!(
            renamed(
                r#"{"id":"evt_1","type":"a","data":{"sessionID":"ses_1","text":"of msg_1"}}"#,
                "-x"
            ),
            r#"{"id":"evt_1-x","type":"a","data":{"sessionID":"ses_1-x","text":"of msg_1"}}"#
        );
    }
}
