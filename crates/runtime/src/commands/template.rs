//! Templates of commands: text with placeholders for arguments, and shell commands whose output is inserted.
//!
//! Only the template itself is parsed. Arguments are inserted as they are, so they cannot add placeholders or commands.

use super::arguments::{parameters, words};

/// Highest number of a placeholder. A larger number is text.
const MAX_PLACEHOLDER: usize = 100;

const ARGUMENTS: &str = "ARGUMENTS";

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'t> {
    Text(&'t str),
    /// `$1` and so on.
    Argument(usize),
    /// `$ARGUMENTS`.
    Arguments,
    /// A shell command in `` !`…` ``.
    Span(&'t str),
}

/// A part of an expanded template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expanded {
    /// Text of the template or of the arguments.
    Text(String),
    /// A shell command that still has to run.
    Span(Span),
}

/// A shell command of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// The command, as the template has it.
    pub(super) command: String,
    /// The command with its arguments in the place of the placeholders, quoted. Only for users and permission rules.
    pub(super) shown: String,
    /// The values of `$1` and so on. Empty if the command uses none.
    pub(super) parameters: Vec<String>,
    /// The value of `$ARGUMENTS`, if the command uses it.
    pub(super) arguments: Option<String>,
}

/// Expands a template up to its shell commands. Arguments that it does not use follow it after a blank line.
pub(super) fn expand(template: &str, arguments: &str) -> Vec<Expanded> {
    let parts = parse(template);
    let placeholders = || {
        parts.iter().flat_map(|part| match part {
            Part::Span(command) => placeholders(command),
            other => vec![*other],
        })
    };
    let numbers = placeholders().filter_map(|part| match part {
        Part::Argument(number) => Some(number),
        _ => None,
    });
    let parameters = parameters(&words(arguments), numbers.max().unwrap_or(0));
    let is_used = placeholders().any(|it| matches!(it, Part::Argument(_) | Part::Arguments));
    let values = Values {
        parameters: &parameters,
        arguments,
    };
    let mut expanded: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => Expanded::Text((*text).to_owned()),
            Part::Argument(number) => Expanded::Text(values.parameters[number - 1].clone()),
            Part::Arguments => Expanded::Text(arguments.to_owned()),
            Part::Span(command) => Expanded::Span(values.span(command)),
        })
        .collect();
    if !is_used && !arguments.trim().is_empty() {
        expanded.push(Expanded::Text(format!("\n\n{arguments}")));
    }
    expanded
}

/// The values of placeholders.
struct Values<'v> {
    parameters: &'v [String],
    arguments: &'v str,
}

impl Values<'_> {
    fn span(&self, command: &str) -> Span {
        let parts = placeholders(command);
        let shown = parts.iter().map(|part| match part {
            Part::Text(text) | Part::Span(text) => (*text).to_owned(),
            Part::Argument(number) => quoted(&self.parameters[number - 1]),
            Part::Arguments => quoted(self.arguments),
        });
        let uses_numbers = parts.iter().any(|it| matches!(it, Part::Argument(_)));
        Span {
            command: command.to_owned(),
            shown: shown.collect(),
            parameters: match uses_numbers {
                true => self.parameters.to_vec(),
                false => Vec::new(),
            },
            arguments: parts
                .contains(&Part::Arguments)
                .then(|| self.arguments.to_owned()),
        }
    }
}

/// Returns a text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./=:,+@%".contains(character);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Splits a template into its parts.
fn parse(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((before, span, after)) = next_span(rest) {
        parts.extend(placeholders(before));
        parts.push(Part::Span(span));
        rest = after;
    }
    parts.extend(placeholders(rest));
    parts
}

/// Returns the text before the next shell command, the command, and the text after it.
fn next_span(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find("!`") {
        let (begin, inner) = (from + at, from + at + 2);
        let length = text[inner..].find('`')?;
        let command = &text[inner..inner + length];
        if !command.trim().is_empty() {
            return Some((&text[..begin], command, &text[inner + length + 1..]));
        }
        // The closing backtick of an empty command may open the next one.
        from = inner;
    }
    None
}

/// Splits a text without shell commands into its parts.
fn placeholders(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, _) in text.match_indices('$') {
        if at < begin {
            continue;
        }
        let after = &text[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let number = after[..digits].parse();
        let (part, length) = match number {
            Ok(number) if (1..=MAX_PLACEHOLDER).contains(&number) => {
                (Part::Argument(number), digits)
            }
            _ if after.starts_with(ARGUMENTS) => (Part::Arguments, ARGUMENTS.len()),
            _ => continue,
        };
        if begin < at {
            parts.push(Part::Text(&text[begin..at]));
        }
        parts.push(part);
        begin = at + 1 + length;
    }
    if begin < text.len() {
        parts.push(Part::Text(&text[begin..]));
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The expansion, with each command as `<command|shown|parameters|arguments>`.
    fn expanded(template: &str, arguments: &str) -> String {
        let parts = expand(template, arguments);
        let shown = parts.into_iter().map(|part| match part {
            Expanded::Text(text) => text,
            Expanded::Span(span) => format!(
                "<{}|{}|{}|{}>",
                span.command,
                span.shown,
                span.parameters.join(","),
                span.arguments.unwrap_or_default()
            ),
        });
        shown.collect()
    }

    #[test]
    fn templates_are_expanded() {
        for (template, arguments, expected) in [
            ("Say hi", "", "Say hi"),
            ("Say hi", " ", "Say hi"),
            ("Say hi", "to Ann", "Say hi\n\nto Ann"),
            ("Say $ARGUMENTS!", "to Ann", "Say to Ann!"),
            ("$1 then $2", "a b c", "a then b c"),
            ("$2 $1", "'x y' z", "z x y"),
            ("$1 $2 $3", "a", "a  "),
            ("$1$1", "a", "aa"),
            (
                "$0 $ $x $101 $99999999999999999999999",
                "a",
                "$0 $ $x $101 $99999999999999999999999\n\na",
            ),
            ("$10", "1 2 3 4 5 6 7 8 9 10 11", "10 11"),
            ("a !`ls` b", "", "a <ls|ls||> b"),
            ("!`ls` ", "x", "<ls|ls||> \n\nx"),
            (
                "!`git log $1`",
                "main dev",
                "<git log $1|git log 'main dev'|main dev|>",
            ),
            ("$2 !`echo $1`", "a b c", "b c <echo $1|echo a|a,b c|>"),
            (
                "!`echo \"$ARGUMENTS\"`",
                "a'b",
                "<echo \"$ARGUMENTS\"|echo \"'a'\\''b'\"||a'b>",
            ),
            ("! `ls` !`` !`", "", "! `ls` !`` !`"),
            ("!` ` !`ls`", "", "!` ` <ls|ls||>"),
            ("$ARGUMENTS", "!`rm` $1 $ARGUMENTS", "!`rm` $1 $ARGUMENTS"),
            ("$1", "!`rm` `$2`", "!`rm` `$2`"),
            ("!`echo $1`", "`rm`", "<echo $1|echo '`rm`'|`rm`|>"),
        ] {
            assert_eq!(
                expanded(template, arguments),
                expected,
                "{template:?} {arguments:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn arguments_never_add_a_command(
            template in "[a $`!1A]{0,20}(\\$ARGUMENTS|\\$1)?[a $`!1A]{0,20}",
            arguments in "[a $`!1'\"]{0,30}",
        ) {
            let commands = |arguments: &str| {
                let parts = expand(&template, arguments).into_iter();
                let commands = parts.filter_map(|part| match part {
                    Expanded::Text(_) => None,
                    Expanded::Span(span) => Some(span.command),
                });
                commands.collect::<Vec<_>>()
            };
            prop_assert_eq!(commands(&arguments), commands(""));
        }

        #[test]
        fn a_template_without_special_characters_stays_as_it_is(template in "[^$!]{0,60}") {
            prop_assert_eq!(expanded(&template, ""), template);
        }

        #[test]
        fn any_input_is_expanded(template in ".{0,80}", arguments in ".{0,80}") {
            expand(&template, &arguments);
        }
    }
}
