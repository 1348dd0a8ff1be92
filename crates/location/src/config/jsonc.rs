//! JSON with comments and trailing commas, with the positions of values in the text.

use std::cell::Cell;

use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value as Node};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value};

use super::repeated::{Member, Node as Tree, Repeats};
use super::step::Step;

/// A position in a text. Line and column are counted from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// The reason why a text is not JSON with comments and trailing commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The problem, without any part of the text, which may contain secrets.
    pub message: String,
    /// The position, in bytes from the start of the text.
    pub at: usize,
}

impl SyntaxError {
    pub(crate) fn new(message: &str, at: usize) -> Self {
        let message = message.to_owned();
        Self { message, at }
    }
}

/// A parsed text.
pub(crate) struct Jsonc<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
    /// True if an object has two members of one name. Known after [`Self::value`].
    has_repeats: Cell<bool>,
}

impl<'a> Jsonc<'a> {
    /// Parses a text. A text with only blanks and comments has no value.
    pub(crate) fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options());
        match parsed {
            Ok(parsed) => Ok(Self {
                text,
                root: parsed.value,
                has_repeats: Cell::new(false),
            }),
            Err(error) => Err(SyntaxError {
                message: error.kind().to_string(),
                at: error.range().start,
            }),
        }
    }

    /// Returns the value. The last of several members with the same name wins.
    pub(crate) fn value(&self) -> Result<Option<Value>, SyntaxError> {
        self.root
            .as_ref()
            .map(|node| self.convert(node))
            .transpose()
    }

    /// Returns the members that [`Self::value`] leaves out, because a later one has the same name.
    pub(crate) fn repeats(&self) -> Result<Repeats<usize>, SyntaxError> {
        match &self.root {
            Some(root) if self.has_repeats.get() => Ok(self.tree(root)?.repeats()),
            _ => Ok(Repeats::default()),
        }
    }

    fn tree(&self, node: &Node<'a>) -> Result<Tree<usize>, SyntaxError> {
        Ok(match node {
            Node::Array(array) => {
                let elements = array.elements.iter();
                Tree::List(elements.map(|it| self.tree(it)).collect::<Result<_, _>>()?)
            }
            Node::Object(object) => {
                let members = object.properties.iter().map(|property| {
                    Ok(Member {
                        name: name(property).to_owned(),
                        at: property.name.range().start,
                        value: self.tree(&property.value)?,
                    })
                });
                Tree::Object(members.collect::<Result<_, _>>()?)
            }
            plain => Tree::Plain(self.convert(plain)?),
        })
    }

    /// The byte offset where the value at the end of `path` starts. If `path` leads to no value, the
    /// offset of the last value on the path that exists.
    pub(crate) fn offset(&self, path: &[Step]) -> usize {
        let mut at = 0;
        let mut node = self.root.as_ref();
        for step in path {
            let Some(found) = node else { break };
            at = found.start();
            node = child(found, step);
        }
        node.map_or(at, |found| found.start())
    }

    fn convert(&self, node: &Node<'a>) -> Result<Value, SyntaxError> {
        Ok(match node {
            Node::NullKeyword(_) => Value::Null,
            Node::BooleanLit(literal) => Value::Bool(literal.value),
            Node::NumberLit(literal) => Self::number(literal.value, literal.range)?,
            Node::StringLit(literal) => {
                self.check_text(literal.range)?;
                Value::String(literal.value.clone().into_owned())
            }
            Node::Array(array) => Value::Array(
                array
                    .elements
                    .iter()
                    .map(|element| self.convert(element))
                    .collect::<Result<_, _>>()?,
            ),
            Node::Object(object) => {
                let mut members = Map::with_capacity(object.properties.len());
                for property in &object.properties {
                    self.check_text(property.name.range())?;
                    let value = self.convert(&property.value)?;
                    if members.insert(name(property).to_owned(), value).is_some() {
                        self.has_repeats.set(true);
                    }
                }
                Value::Object(members)
            }
        })
    }

    fn number(text: &str, range: Range) -> Result<Value, SyntaxError> {
        let whole = text.parse::<i64>().map(Number::from);
        let whole = whole.or_else(|_| text.parse::<u64>().map(Number::from));
        whole
            .ok()
            .or_else(|| Number::from_f64(text.parse().ok()?))
            .map(Value::Number)
            .ok_or_else(|| SyntaxError::new("Number is out of range", range.start))
    }

    /// JSON requires escapes for control characters in strings, but the parser accepts them unescaped.
    fn check_text(&self, range: Range) -> Result<(), SyntaxError> {
        let text = &self.text[range.start..range.end];
        match text.bytes().position(|byte| byte < 0x20) {
            Some(at) => Err(SyntaxError::new(
                "Unescaped line end or control character in a string",
                range.start + at,
            )),
            None => Ok(()),
        }
    }
}

/// Permits comments and trailing commas, and no other extension of JSON.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Returns the line and column of a byte offset.
pub(crate) fn position(text: &str, at: usize) -> Position {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let count = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
    Position {
        line: count(before.bytes().filter(|byte| *byte == b'\n').count()),
        column: count(before[line_start..].chars().count()),
    }
}

fn child<'n, 'a>(node: &'n Node<'a>, step: &Step) -> Option<&'n Node<'a>> {
    match (node, step) {
        (Node::Object(object), Step::Key(key)) => object
            .properties
            .iter()
            .rfind(|property| name(property) == key)
            .map(|property| &property.value),
        (Node::Array(array), Step::Index(index)) => array.elements.get(*index),
        _ => None,
    }
}

fn name<'n>(property: &'n ObjectProp<'_>) -> &'n str {
    match &property.name {
        ObjectPropName::String(literal) => &literal.value,
        ObjectPropName::Word(literal) => literal.value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Result<Option<Value>, SyntaxError> {
        Jsonc::parse(text)?.value()
    }

    #[test]
    fn comments_and_trailing_commas_are_json() {
        for (text, value) in [
            ("", None),
            (" // only a comment\n/* and this */", None),
            ("{}", Some(json!({}))),
            (
                "// c\n{ /* c */ \"a\" /**/ : 1, // c\n}",
                Some(json!({"a": 1})),
            ),
            ("{\"a\": [1, 2,],}", Some(json!({"a": [1, 2]}))),
            (
                "{\"a\": \"// no comment\"}",
                Some(json!({"a": "// no comment"})),
            ),
            (
                "{\"a\": 1, \"b\": 2, \"a\": 3}",
                Some(json!({"a": 3, "b": 2})),
            ),
            (
                "{\"\\u0061\\n\": \"\\ud83d\\ude00\"}",
                Some(json!({"a\n": "😀"})),
            ),
            (
                "[0, -1, 1.5, 1e3, 18446744073709551615, 12345678901234567890123]",
                Some(json!([
                    0,
                    -1,
                    1.5,
                    1e3,
                    u64::MAX,
                    12345678901234567890123.0
                ])),
            ),
            ("\"text\"", Some(json!("text"))),
            ("null", Some(Value::Null)),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn problems_name_their_place() {
        for (text, message, line, column) in [
            ("{", "Unterminated object", 1, 1),
            ("{\n  \"a\": [1\n", "Unterminated array", 2, 8),
            (
                "{\"a\" 1}",
                "Expected colon after the string or word in object property",
                1,
                6,
            ),
            ("{\"a\": }", "Unexpected close brace", 1, 7),
            ("{\"a\": 1 \"b\": 2}", "Expected comma", 1, 8),
            ("{\"a\": 1,, \"b\": 2}", "Unexpected token in object", 1, 9),
            ("[,]", "Unexpected comma", 1, 2),
            ("{a: 1}", "Expected string for object property", 1, 2),
            ("{'a': 1}", "Single-quoted strings are not allowed", 1, 2),
            ("{\"a\": 0x1F}", "Hexadecimal numbers are not allowed", 1, 7),
            ("{\"a\": +1}", "Unary plus on numbers is not allowed", 1, 7),
            (
                "{\"a\": .5}",
                "Leading or trailing decimal points on numbers are not allowed",
                1,
                7,
            ),
            ("{\"a\": NaN}", "Unexpected token", 1, 7),
            ("{\"a\": 1e999}", "Number is out of range", 1, 7),
            ("{\"a\": \"\\x41\"}", "Invalid escape", 1, 8),
            ("{\"ü\": \"b}", "Unterminated string literal", 1, 7),
            (
                "{\n  \"a\": \"b\nc\"\n}",
                "Unescaped line end or control character in a string",
                2,
                10,
            ),
            (
                "{} {}",
                "Text cannot contain more than one JSON value",
                1,
                4,
            ),
            ("{} /* open", "Unterminated comment block", 1, 4),
            ("\r\n\r\n  ?", "Unexpected token", 3, 3),
        ] {
            let error = parse(text).unwrap_err();
            let expected = (message, Position { line, column });
            let found = (error.message.as_str(), position(text, error.at));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        for text in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
            assert_eq!(
                parse(&text).unwrap_err().message,
                "Maximum nesting depth exceeded"
            );
        }
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        assert!(parse(&deep).is_ok());
    }

    #[test]
    fn the_position_of_a_value_is_found_by_its_path() {
        let text = "{\n  \"a\": {\n    \"b\": [1, 2],\n    \"b\": [3, 4]\n  }\n}";
        let parsed = Jsonc::parse(text).unwrap();
        let key = |name: &str| Step::Key(name.to_owned());
        for (path, line, column) in [
            (vec![], 1, 1),
            (vec![key("a")], 2, 8),
            (vec![key("a"), key("b"), Step::Index(1)], 4, 14),
            (vec![key("a"), key("missing"), key("x")], 2, 8),
        ] {
            assert_eq!(
                position(text, parsed.offset(&path)),
                Position { line, column },
                "{path:?}"
            );
        }
    }

    #[test]
    fn hostile_documents_take_linear_time() {
        let text = "/* ü */{\"a\": [1e5, -0.5, true, null,], // c\r\n\"\\ud83d\\ude00\": {\"b\": \"\\u00e4\"}}";
        for (start, _) in text.char_indices() {
            for (end, _) in text[start..].char_indices() {
                if let Err(error) = parse(&text[start..start + end]) {
                    assert!(error.at <= end, "{error:?}");
                }
            }
        }
    }
}
