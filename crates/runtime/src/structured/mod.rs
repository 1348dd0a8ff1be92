//! Structured outputs: their schemas, and the check of an output.
//!
//! Schemas come from clients and outputs from models, so neither is trusted: a schema refers to nothing outside of
//! itself, its size is bounded after its references are expanded, and the work of a check is bounded before it begins.

mod documents;
mod effort;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jsonschema::{Draft, PatternOptions, Validator};
use opencode_schema::Record;
use serde_json::Value;
use tokio::sync::Semaphore;

use self::documents::documents;

/// Maximum number of schemas after references are expanded. Alternatives that refer to alternatives grow exponentially.
const MAX_EXPANDED: u64 = 100_000;
/// Maximum number of problems in a message to the model.
const MAX_PROBLEMS: usize = 10;
/// Maximum length of the description of one problem, in characters. It may quote the output.
const MAX_DESCRIPTION: usize = 300;
/// Maximum duration of a check with its wait for other checks. Its work is bounded, so this only matters on a busy machine.
const MAX_DURATION: Duration = Duration::from_secs(30);
/// Maximum number of checks at the same time.
static CHECKS: Semaphore = Semaphore::const_new(8);

/// The schema of an output, ready to check values.
#[derive(Clone)]
pub(crate) struct OutputSchema(Arc<Checked>);

/// A schema with the program that checks values.
struct Checked {
    schema: Value,
    validator: Validator,
}

impl OutputSchema {
    /// # Errors
    ///
    /// Fails with the problem if the schema is no JSON Schema, refers to another document, or is too large.
    pub(crate) fn new(schema: &Record) -> Result<Self, String> {
        let mut schema = schema.clone();
        // Another draft has keywords with other names. The draft of the check is always the same.
        schema.shift_remove("$schema");
        let schema = Value::Object(schema);
        let expanded = Expansion::new(&schema).size(&schema);
        if expanded > MAX_EXPANDED {
            return Err(format!(
                "it has more than {MAX_EXPANDED} schemas after its references are expanded"
            ));
        }
        let patterns = PatternOptions::fancy_regex().backtrack_limit(effort::PATTERN_STEPS);
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(patterns);
        let validator = options.build(&schema).map_err(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/" } else { &place };
            format!("{} (at {place})", shortened(&error.to_string()))
        })?;
        effort::countable(&schema)?;
        Ok(Self(Arc::new(Checked { schema, validator })))
    }

    /// Checks an output.
    ///
    /// # Errors
    ///
    /// Fails with the problems, for the model.
    pub(crate) async fn check(&self, value: Value) -> Result<Record, String> {
        self.check_within(value, MAX_DURATION).await
    }

    /// Checks an output that a model wrote as text, and ignores the text around the only valid document.
    ///
    /// # Errors
    ///
    /// Fails with the problems, for the model.
    pub(crate) async fn check_text(&self, text: &str) -> Result<Record, String> {
        let mut valid = Vec::new();
        let mut problem = String::new();
        for document in documents(text)? {
            match self.check(document).await {
                Ok(output) => valid.push(output),
                Err(problems) => problem = problems,
            }
        }
        match valid.len() {
            0 => Err(problem),
            1 => Ok(valid.swap_remove(0)),
            count => Err(format!(
                "the answer contains {count} different documents that conform to the schema"
            )),
        }
    }

    async fn check_within(&self, value: Value, limit: Duration) -> Result<Record, String> {
        const TOO_LONG: &str = "the check of the output takes too long; make the output simpler";
        let schema = self.clone();
        let checking = async {
            let place = CHECKS.acquire().await.ok()?;
            let checked = opencode_log::spawn_blocking(move || {
                let _place = place;
                schema.problems(&value).map_or(Ok(value), Err)
            });
            checked.await.ok()
        };
        match tokio::time::timeout(limit, checking).await {
            Ok(Some(Ok(Value::Object(members)))) => Ok(members),
            Ok(Some(Ok(_))) => Err("/: the output is not an object".to_owned()),
            Ok(Some(Err(problems))) => Err(problems),
            Ok(None) | Err(_) => Err(TOO_LONG.to_owned()),
        }
    }

    /// Returns the problems of a value, one in each line.
    fn problems(&self, value: &Value) -> Option<String> {
        if let Err(reason) = effort::bound(&self.0.schema, value) {
            return Some(reason);
        }
        let mut errors = self.0.validator.iter_errors(value);
        let shown = errors.by_ref().take(MAX_PROBLEMS);
        let mut problems: Vec<_> = shown
            .map(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "/" } else { &place };
                format!("{place}: {}", shortened(&error.to_string()))
            })
            .collect();
        if errors.next().is_some() {
            problems.push("and more".to_owned());
        }
        (!problems.is_empty()).then(|| problems.join("\n"))
    }
}

/// Counts the schemas in a schema, with those that it refers to.
struct Expansion<'a> {
    root: &'a Value,
    /// The size of the target of each reference. A reference to a schema that contains it counts as one schema.
    known: HashMap<&'a str, u64>,
}

impl<'a> Expansion<'a> {
    fn new(root: &'a Value) -> Self {
        let known = HashMap::new();
        Self { root, known }
    }

    /// The size is at least the number of objects, because each of them may be a schema.
    fn size(&mut self, value: &'a Value) -> u64 {
        match value {
            Value::Array(items) => self.sum(items),
            Value::Object(members) => {
                let inner = self.sum(members.values());
                let reference = members.get("$ref").and_then(Value::as_str);
                let target = reference.map_or(0, |reference| self.target(reference));
                inner.saturating_add(target).saturating_add(1)
            }
            _ => 0,
        }
    }

    fn sum(&mut self, values: impl IntoIterator<Item = &'a Value>) -> u64 {
        let sizes = values.into_iter().map(|value| self.size(value));
        sizes.fold(0, u64::saturating_add)
    }

    fn target(&mut self, reference: &'a str) -> u64 {
        if let Some(size) = self.known.get(reference) {
            return *size;
        }
        self.known.insert(reference, 1);
        let pointer = reference.strip_prefix('#');
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        let size = target.map_or(0, |target| self.size(target));
        self.known.insert(reference, size);
        size
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn schema(value: Value) -> Result<OutputSchema, String> {
        match value {
            Value::Object(schema) => OutputSchema::new(&schema),
            other => panic!("{other} is no object"),
        }
    }

    #[tokio::test]
    async fn an_output_is_checked_against_all_keywords() {
        let wanted = schema(json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 3, "pattern": "^[a-z]+$"},
                "rows": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true},
                "kind": {"enum": ["a", "b"]},
            },
            "required": ["name"],
            "additionalProperties": false,
        }))
        .unwrap();
        for (value, problems) in [
            (json!({"name": "abc", "rows": [1, 2], "kind": "a"}), None),
            (json!({}), Some("/: \"name\" is a required property")),
            (
                json!({"name": "ab"}),
                Some("/name: \"ab\" is shorter than 3 characters"),
            ),
            (
                json!({"name": "ABC"}),
                Some("/name: \"ABC\" does not match \"^[a-z]+$\""),
            ),
            (
                json!({"name": "abc", "rows": [1, "x"]}),
                Some("/rows/1: \"x\" is not of type \"integer\""),
            ),
            (
                json!({"name": "abc", "more": 1}),
                Some("/: Additional properties are not allowed ('more' was unexpected)"),
            ),
            (json!([]), Some("/: [] is not of type \"object\"")),
        ] {
            let checked = wanted.check(value.clone()).await;
            match problems {
                None => assert_eq!(Value::Object(checked.unwrap()), value),
                Some(problems) => assert_eq!(checked.unwrap_err(), problems, "{value}"),
            }
        }
    }

    #[tokio::test]
    async fn one_valid_document_is_found_in_a_text() {
        let wanted = schema(json!({
            "type": "object",
            "properties": {"answer": {"type": "number"}},
            "required": ["answer"],
            "additionalProperties": false,
        }))
        .unwrap();
        for (text, problem) in [
            ("```json\n{\"answer\":42}\n```", None),
            (
                "Not {\"answer\":\"42\"} but {\"answer\":42}, see [1].",
                None,
            ),
            ("{\"answer\":42} {\"answer\":42}", None),
            (
                "{\"answer\":42} or {\"answer\":43}",
                Some("the answer contains 2 different documents that conform to the schema"),
            ),
            (
                "Is it {\"answer\":\"42\"}?",
                Some("/answer: \"42\" is not of type \"number\""),
            ),
            (
                "[{\"answer\":42}]",
                Some("/: [{\"answer\":42}] is not of type \"object\""),
            ),
        ] {
            let checked = wanted.check_text(text).await;
            match problem {
                None => assert_eq!(
                    Value::Object(checked.unwrap()),
                    json!({"answer": 42}),
                    "{text}"
                ),
                Some(problem) => assert_eq!(checked.unwrap_err(), problem, "{text}"),
            }
        }
    }

    #[test]
    fn a_wrong_schema_is_refused() {
        for wrong in [
            json!({"type": "object", "properties": 5}),
            json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
            json!({"type": "nothing"}),
            json!({"type": "object", "$ref": "http://127.0.0.1:9/x.json"}),
            json!({"type": "object", "$ref": "file:///etc/passwd"}),
            json!({"type": "object", "$ref": "#/$defs/none"}),
        ] {
            assert!(schema(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_schema_that_grows_exponentially_is_refused() {
        let mut definitions = Map::new();
        for n in 0..40 {
            let next = json!({"$ref": format!("#/$defs/a{}", n + 1)});
            definitions.insert(format!("a{n}"), json!({"anyOf": [next, next]}));
        }
        definitions.insert("a40".to_owned(), json!({"type": "string"}));
        let wide = json!({
            "type": "object", "$defs": definitions, "properties": {"a": {"$ref": "#/$defs/a0"}},
        });
        let problem = schema(wide).err().unwrap();
        assert!(
            problem.contains("after its references are expanded"),
            "{problem}"
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn checks_that_would_take_too_long_do_not_begin() {
        let both = json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["b"]});
        let deep = json!({
            "type": "object", "$defs": {"n": {"anyOf": [both, both]}}, "$ref": "#/$defs/n",
        });
        let value = (0..60).fold(json!({}), |inner, _| json!({"a": inner}));
        let deep = schema(deep).unwrap();
        for _ in 0..20 {
            let problem = deep.check(value.clone()).await.unwrap_err();
            assert!(
                problem.contains("steps; make the output simpler"),
                "{problem}"
            );
        }
        let simple = schema(json!({"type": "object"})).unwrap();
        assert!(simple.check(json!({})).await.is_ok());
    }

    #[tokio::test]
    async fn a_schema_that_refers_to_itself_can_be_checked() {
        let itself = schema(json!({"type": "object", "$ref": "#"})).unwrap();
        assert!(itself.check(json!({})).await.is_ok());
        let tree = schema(json!({
            "type": "object",
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "value": {"type": "number"}},
            "required": ["value"],
        }))
        .unwrap();
        let value = json!({"value": 1, "left": {"value": 2}});
        assert!(tree.check(value).await.is_ok());
        let problem = tree.check(json!({"value": 1, "left": {}})).await;
        let problem = problem.unwrap_err();
        assert_eq!(problem, "/left: \"value\" is a required property");
    }

    #[tokio::test]
    async fn the_description_of_problems_is_bounded() {
        let items = json!({"type": "object", "properties": {"a": {"items": {"type": "string"}}}});
        let value = json!({"a": vec![json!(1); 1000]});
        let problems = schema(items).unwrap().check(value).await.unwrap_err();
        assert_eq!(problems.lines().count(), MAX_PROBLEMS + 1);
        let text = json!({"type": "object", "properties": {"a": {"maxLength": 3}}});
        let value = json!({"a": "x".repeat(100_000)});
        let problem = schema(text).unwrap().check(value).await.unwrap_err();
        assert!(problem.len() < 1000);
    }
}
