//! Short names of models: the name of a model without its date, and the name of a family.
//!
//! The exact id always counts first. A short name only selects models that the list of models describes for the same
//! provider, so it never turns one model into a different kind of model.

use opencode_schema::clock::Millis;

/// The properties of a model that a short name can select.
pub(super) struct Named<'a, T> {
    pub(super) id: &'a str,
    pub(super) family: Option<&'a str>,
    pub(super) released: Millis,
    /// The model.
    pub(super) value: T,
}

/// Returns the newest model with this short name: the name followed by a date or `latest`, otherwise a model of the family
/// of this name. Of equally new models the one with the shortest id, then the first in the order of the alphabet.
pub(super) fn by_short_name<'a, T>(
    name: &str,
    models: impl Iterator<Item = Named<'a, T>> + Clone,
) -> Option<T> {
    let dated = |model: &Named<'_, T>| is_dated(name, model.id);
    let of_family = |model: &Named<'_, T>| model.family == Some(name);
    newest(models.clone().filter(dated)).or_else(|| newest(models.filter(of_family)))
}

fn newest<'a, T>(models: impl Iterator<Item = Named<'a, T>>) -> Option<T> {
    let order = |it: &Named<'a, T>| (std::cmp::Reverse(it.released), it.id.len(), it.id);
    let first = models.min_by(|one, other| order(one).cmp(&order(other)));
    first.map(|model| model.value)
}

/// True if the id is the name followed by `-latest` or by a date such as `-20250929` or `-2025-04-14`.
fn is_dated(name: &str, id: &str) -> bool {
    let rest = id
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix(['-', '@']));
    let Some(rest) = rest else {
        return false;
    };
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let is_date = digits == 8
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    rest == "latest" || is_date
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [(&str, Option<&str>, Millis); 8] = [
        ("claude-sonnet-4-20250514", Some("claude-sonnet"), 1),
        ("claude-sonnet-4-5", Some("claude-sonnet"), 3),
        ("claude-sonnet-4-5-20250929", Some("claude-sonnet"), 3),
        ("claude-opus-4-1", Some("claude-opus"), 2),
        ("gpt-4.1", Some("gpt"), 1),
        ("gpt-4.1-mini", Some("gpt-mini"), 1),
        ("gpt-4o-2024-08-06", Some("gpt"), 0),
        ("gemini-2.5-pro", None, 9),
    ];

    fn found(name: &str) -> Option<&'static str> {
        let models = MODELS.iter().map(|&(id, family, released)| Named {
            id,
            family,
            released,
            value: id,
        });
        by_short_name(name, models)
    }

    #[test]
    fn a_name_without_a_date_or_of_a_family_selects_the_newest_model() {
        for (name, expected) in [
            ("claude-sonnet-4", Some("claude-sonnet-4-20250514")),
            ("claude-sonnet", Some("claude-sonnet-4-5")),
            ("claude-opus", Some("claude-opus-4-1")),
            ("gpt-4o", Some("gpt-4o-2024-08-06")),
            ("gpt", Some("gpt-4.1")),
            ("gemini-2.5", None),
            ("claude", None),
            ("gpt-4", None),
            ("", None),
        ] {
            assert_eq!(found(name), expected, "{name}");
        }
    }
}
