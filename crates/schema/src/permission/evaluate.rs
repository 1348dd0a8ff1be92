//! What a list of rules says about an action: pure functions, shared by whoever asks and whoever
//! only shows what could be asked.

use std::borrow::Cow;

use super::{PermissionEffect, PermissionRule, SavedPermission};

/// Whether a pattern matches a whole text.
///
/// `*` stands for any run of characters, `/` and line ends included, `?` for exactly one; all
/// others for themselves, upper and lower case apart. A backslash counts as a slash on both sides.
/// A pattern that ends in a space and `*` also matches without that tail: `git *` is about `git`
/// alone, too.
///
/// Takes time in proportion to the text, for parts of the pattern with `?` times their length.
///
/// ```
/// # use opencode_schema::permission::matches;
/// assert!(matches("git *", "git") && matches("git *", "git push") && !matches("git *", "gitk"));
/// assert!(matches("src/*", r"src\a\b.rs") && matches("?.md", "a.md"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (slashes(pattern), slashes(text));
    let bare = pattern.strip_suffix(" *");
    covers(&pattern, &text) || bare.is_some_and(|bare| covers(bare, &text))
}

/// What the last rule that matches says; where none does, somebody has to be asked. What the limits
/// of the rules deny is denied.
///
/// Limits are the rules of somebody else, each begun by [`PermissionRule::LIMIT`]. They deny what
/// they would deny by themselves, and nothing more.
pub fn evaluate(action: &str, resource: &str, rules: &[PermissionRule]) -> PermissionEffect {
    let last = |rules: &[PermissionRule]| {
        let mut rules = rules.iter().rev();
        let last =
            rules.find(|rule| matches(&rule.action, action) && matches(&rule.resource, resource));
        last.map(|rule| rule.effect)
    };
    let mut lists = rules.split(PermissionRule::is_limit);
    let own = lists.next().and_then(last);
    if lists.any(|limits| last(limits) == Some(PermissionEffect::Deny)) {
        return PermissionEffect::Deny;
    }
    own.unwrap_or(PermissionEffect::Ask)
}

/// What holds for an action on several resources at once: one denied resource denies them all, one
/// that has to be asked for asks for them all. An action on nothing is allowed.
///
/// What a project has saved answers for configured rules that ask, never for one that denies.
pub fn decide(
    action: &str,
    resources: &[String],
    configured: &[PermissionRule],
    saved: &[SavedPermission],
) -> PermissionEffect {
    let is_saved = |resource: &str| {
        saved
            .iter()
            .any(|it| matches(&it.action, action) && matches(&it.resource, resource))
    };
    let mut outcome = PermissionEffect::Allow;
    for resource in resources {
        match evaluate(action, resource, configured) {
            PermissionEffect::Deny => return PermissionEffect::Deny,
            PermissionEffect::Ask if !is_saved(resource) => outcome = PermissionEffect::Ask,
            PermissionEffect::Ask | PermissionEffect::Allow => {}
        }
    }
    outcome
}

/// Whether no rule could allow the action on anything: the last rule for the action denies it
/// everywhere, or that of a limit does. Such an action is not worth offering; [`evaluate`] still
/// decides about each use.
pub fn is_denied_everywhere(action: &str, rules: &[PermissionRule]) -> bool {
    rules.split(PermissionRule::is_limit).any(|rules| {
        let mut rules = rules.iter().rev();
        let last = rules.find(|rule| matches(&rule.action, action));
        last.is_some_and(|rule| rule.effect == PermissionEffect::Deny && rule.resource == "*")
    })
}

/// Actions whose resources are paths.
const PATH_ACTIONS: [&str; 3] = ["external_directory", "read", "edit"];

impl PermissionRule {
    /// Begins a limit in a list of rules: those that follow, up to the next limit, only deny. By
    /// itself it matches nothing.
    pub const LIMIT: Self = Self {
        action: String::new(),
        resource: String::new(),
        effect: PermissionEffect::Deny,
    };

    /// Whether a limit begins here.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        *self == Self::LIMIT
    }

    /// The rule with the home directory in place of a leading `~` or `$HOME`, where its action is
    /// one on paths. An empty `home` is none.
    #[must_use]
    pub fn with_home(self, home: &str) -> Self {
        let below = ["~", "$HOME"]
            .iter()
            .find_map(|name| self.resource.strip_prefix(name));
        let below = below.filter(|below| below.is_empty() || below.starts_with(['/', '\\']));
        match below {
            Some(below) if !home.is_empty() && PATH_ACTIONS.contains(&&*self.action) => Self {
                resource: format!("{}{below}", home.trim_end_matches(['/', '\\'])),
                ..self
            },
            _ => self,
        }
    }
}

fn slashes(text: &str) -> Cow<'_, str> {
    if text.contains('\\') {
        text.replace('\\', "/").into()
    } else {
        text.into()
    }
}

/// Finds the pieces between the stars one after the other. The first place of a piece is as good as
/// any later one, since a star follows it; so nothing is ever tried again.
fn covers(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = after(first, text) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match after_first(piece, rest) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    ends_with(rest, last)
}

/// What follows a piece that the text begins with.
fn after<'t>(piece: &str, text: &'t str) -> Option<&'t str> {
    let mut rest = text.chars();
    for expected in piece.chars() {
        let found = rest.next()?;
        if expected != '?' && expected != found {
            return None;
        }
    }
    Some(rest.as_str())
}

/// What follows the first place of a piece in the text.
fn after_first<'t>(piece: &str, text: &'t str) -> Option<&'t str> {
    if !piece.contains('?') {
        return text.find(piece).map(|at| &text[at + piece.len()..]);
    }
    text.char_indices()
        .find_map(|(at, _)| after(piece, &text[at..]))
}

fn ends_with(text: &str, piece: &str) -> bool {
    let Some(back) = piece.chars().count().checked_sub(1) else {
        return true;
    };
    let start = text.char_indices().rev().nth(back);
    start.is_some_and(|(at, _)| after(piece, &text[at..]).is_some())
}

#[cfg(test)]
mod tests;
