//! The names of tools and prompts, as models and users see them.

use ring::digest::{SHA256, digest};

/// Maximum length of the name of a tool for a model.
const MAX_LENGTH: usize = 64;

/// Number of hexadecimal digits in the suffix of a name that was cut.
const SUFFIX: usize = 8;

/// Replaces every character that providers do not accept in the name of a tool. A character outside of
/// the basic plane becomes two underscores, as in JavaScript.
pub(crate) fn sanitize(name: &str) -> String {
    let mut clean = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            clean.push(c);
        } else {
            clean.extend(std::iter::repeat_n('_', c.len_utf16()));
        }
    }
    clean
}

/// Returns the name of a tool for models. A name that is too long ends with a hash of the two original
/// names, so that different tools have different names.
pub fn tool_name(server: &str, tool: &str) -> String {
    let mut name = format!("{}_{}", sanitize(server), sanitize(tool));
    if name.len() > MAX_LENGTH {
        let hash = digest(&SHA256, format!("{server}\0{tool}").as_bytes());
        let hash: String = hash
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        name.truncate(MAX_LENGTH - SUFFIX - 1);
        name.push('_');
        name.push_str(&hash[..SUFFIX]);
    }
    name
}

/// Returns the name of a prompt as a command.
pub(crate) fn prompt_name(server: &str, prompt: &str) -> String {
    format!("{}:{}", sanitize(server), sanitize(prompt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_only_accepted_characters() {
        for (server, tool, name) in [
            ("my server", "do.thing x", "my_server_do_thing_x"),
            ("a-b_C9", "T-1_x", "a-b_C9_T-1_x"),
            ("é", "😀", "____"),
            ("s", "", "s_"),
        ] {
            assert_eq!(tool_name(server, tool), name);
        }
        assert_eq!(prompt_name("my server", "a:b"), "my_server:a_b");
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let exact = tool_name("s", &"x".repeat(62));
        assert_eq!(exact, format!("s_{}", "x".repeat(62)));
        let (a, b) = ("x".repeat(63) + "a", "x".repeat(63) + "b");
        let (first, second) = (tool_name("s", &a), tool_name("s", &b));
        assert_eq!(first.len(), 64);
        assert_eq!(first[..56], second[..56]);
        assert_ne!(first, second);
        assert_eq!(first, tool_name("s", &a));
        // The boundary between the names is part of the hash.
        let (left, right) = ("y".repeat(40), "z".repeat(40));
        let joined = format!("{left}_{right}");
        assert_ne!(
            tool_name("s", &joined),
            tool_name(&format!("s_{left}"), &right)
        );
    }
}
