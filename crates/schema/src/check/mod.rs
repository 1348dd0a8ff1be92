//! Checks JSON values against JSON Schemas and reports the first problem.
//!
//! Supports the keywords that the types of this crate and ordinary tool schemas use: `type`,
//! `properties`, `required`, `items`, `enum`, `const`, `$ref` into the same document, `allOf`,
//! `anyOf` and `oneOf` (both mean "at least one"), the three bounds of numbers, a `pattern` that is
//! a literal prefix, and an `additionalProperties` that is a schema. Ignores any other keyword:
//! undeclared members are accepted. An integer must be one that JavaScript represents exactly.
//!
//! Neither schemas nor values are trusted: schemas also come from servers of the Model Context
//! Protocol. For any depth or width of a value, a check uses bounded stack. Its number of steps is
//! bounded, because a schema that refers to itself may need exponential time.

mod budget;
mod issue;
mod meant;
mod number;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use budget::Budget;
pub use issue::{Issue, Segment};
pub use meant::{convert_meant, lower_to_maximum};
pub use number::normalise_integers;
use shape::{describe, discriminator, list, literal, takes, target};

/// Maximum nesting of schemas during a check. A parsed document is at most 128 values deep, and
/// each level enters up to four schemas: the property, its union, the chosen alternative and the
/// referenced type.
const MAX_DEPTH: usize = 512;

/// Maximum number of steps in trying alternatives without a discriminator. Nested tries grow
/// exponentially, so the check of a hostile value stops at this limit.
const MAX_TRIES: usize = 1 << 17;

/// The meaning of a `null` member at the top of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// A null is a value like any other. An optional member then either has a value or is absent,
    /// and the message for a wrong value is `Expected boolean | undefined, got "yes"`.
    Values,
    /// A null is the same as an absent member, if the member is optional and its schema accepts a null.
    Absent,
}

/// Checks `value` against `schema`. Fails with the first problem.
pub fn check(schema: &Value, value: &Value, nulls: Nulls) -> Result<(), Issue> {
    check_within(schema, schema, value, nulls, &Budget::of_check())
}

/// Checks `value` against a schema within the document `root`, to which its references point.
fn check_within(
    root: &Value,
    schema: &Value,
    value: &Value,
    nulls: Nulls,
    budget: &Budget,
) -> Result<(), Issue> {
    let mut checker = Checker {
        root,
        budget,
        top: (nulls == Nulls::Absent).then_some(value),
        optional: None,
        depth: 0,
        trying: false,
        tries: 0,
    };
    checker.value(schema, value)
}

/// The state of one check.
struct Checker<'a> {
    root: &'a Value,
    budget: &'a Budget,
    /// Value with null members that count as absent.
    top: Option<&'a Value>,
    /// Schema of the current member, if the member is optional but may not be null.
    optional: Option<&'a Value>,
    depth: usize,
    trying: bool,
    tries: usize,
}

impl<'a> Checker<'a> {
    fn value(&mut self, schema: &'a Value, value: &Value) -> Result<(), Issue> {
        if self.depth == MAX_DEPTH {
            return Err(Issue::new("Nested too deeply"));
        }
        if !self.budget.step() {
            return Err(self.budget.exceeded());
        }
        if self.trying {
            self.tries += 1;
            if self.tries > MAX_TRIES {
                return Err(Issue::new("Too many alternatives to try"));
            }
        }
        self.depth += 1;
        let result = match schema {
            Value::Object(keywords) => self.keywords(schema, keywords, value),
            Value::Bool(false) => Err(Issue::expected("nothing", value)),
            _ => Ok(()),
        };
        self.depth -= 1;
        result
    }

    fn keywords(
        &mut self,
        schema: &'a Value,
        keywords: &'a Map<String, Value>,
        value: &Value,
    ) -> Result<(), Issue> {
        if !takes(self.root, schema, value, self.budget) {
            return Err(self.expected(schema, value));
        }
        if let Some(target) = target(self.root, keywords) {
            self.value(target, value)?;
        }
        for key in ["anyOf", "oneOf"] {
            if keywords.contains_key(key) {
                self.union(schema, list(keywords, key), value)?;
            }
        }
        let literal = keywords.get("const").is_none_or(|literal| literal == value);
        if !literal || (keywords.contains_key("enum") && !list(keywords, "enum").contains(value)) {
            return Err(self.expected(schema, value));
        }
        match value {
            Value::String(text) => prefix(keywords, text, value),
            Value::Number(_) => bounds(keywords, value),
            Value::Array(items) => self.items(keywords, items),
            Value::Object(members) => self.members(keywords, members, value),
            Value::Null | Value::Bool(_) => Ok(()),
        }?;
        list(keywords, "allOf")
            .iter()
            .try_for_each(|part| self.value(part, value))
    }

    fn items(&mut self, keywords: &'a Map<String, Value>, items: &[Value]) -> Result<(), Issue> {
        let Some(schema) = keywords.get("items") else {
            return Ok(());
        };
        for (index, item) in items.iter().enumerate() {
            self.value(schema, item)
                .map_err(|issue| issue.at(Segment::Index(index)))?;
        }
        Ok(())
    }

    fn members(
        &mut self,
        keywords: &'a Map<String, Value>,
        members: &Map<String, Value>,
        value: &Value,
    ) -> Result<(), Issue> {
        let required = list(keywords, "required");
        let is_required = |key: &str| required.iter().any(|name| name == key);
        let skips_nulls = self.top.is_some_and(|top| std::ptr::eq(top, value));
        let declared = keywords.get("properties").and_then(Value::as_object);
        for (key, schema) in declared.into_iter().flatten() {
            match members.get(key) {
                None if is_required(key) => return Err(Issue::new("Missing key").at_key(key)),
                None => {}
                Some(null @ Value::Null)
                    if skips_nulls
                        && !is_required(key)
                        && takes(self.root, schema, null, self.budget) => {}
                Some(member) => {
                    let is_optional = self.top.is_none() && !is_required(key);
                    let outer =
                        std::mem::replace(&mut self.optional, is_optional.then_some(schema));
                    let result = self.value(schema, member);
                    self.optional = outer;
                    result.map_err(|issue| issue.at_key(key))?;
                }
            }
        }
        for key in required.iter().filter_map(Value::as_str) {
            if !members.contains_key(key) {
                return Err(Issue::new("Missing key").at_key(key));
            }
        }
        if let Some(schema @ Value::Object(_)) = keywords.get("additionalProperties") {
            for (key, member) in members {
                if declared.is_none_or(|declared| !declared.contains_key(key)) {
                    self.value(schema, member)
                        .map_err(|issue| issue.at_key(key))?;
                }
            }
        }
        Ok(())
    }

    /// Finds the intended alternative, so that its specific problem can be reported. It is the only
    /// alternative that accepts values of this kind, or the one that a discriminating member names.
    fn union(
        &mut self,
        schema: &'a Value,
        alternatives: &'a [Value],
        value: &Value,
    ) -> Result<(), Issue> {
        let candidates: Vec<&Value> = alternatives
            .iter()
            .filter(|schema| takes(self.root, schema, value, self.budget))
            .collect();
        if let [only] = candidates[..] {
            return self.value(only, value);
        }
        if let (Some(tag), Value::Object(members)) = (discriminator(self.root, &candidates), value)
        {
            return self.tagged(schema, tag, &candidates, members, value);
        }
        self.any(schema, &candidates, value)
    }

    fn tagged(
        &mut self,
        schema: &'a Value,
        tag: &str,
        candidates: &[&'a Value],
        members: &Map<String, Value>,
        value: &Value,
    ) -> Result<(), Issue> {
        let Some(given) = members.get(tag) else {
            return Err(Issue::new("Missing key").at_key(tag));
        };
        let literal = |schema: &&'a Value| literal(self.root, schema, tag);
        let mut named = candidates.to_vec();
        named.retain(|schema| literal(schema) == Some(given));
        match named[..] {
            [] => {
                let names = candidates.iter().filter_map(literal).map(Value::to_string);
                let names = names.collect::<Vec<_>>().join(" | ");
                Err(Issue::expected(&names, given).at_key(tag))
            }
            [only] => self.value(only, value),
            _ => self.any(schema, &named, value),
        }
    }

    fn any(
        &mut self,
        schema: &'a Value,
        candidates: &[&'a Value],
        value: &Value,
    ) -> Result<(), Issue> {
        let was_trying = std::mem::replace(&mut self.trying, true);
        let fits = candidates
            .iter()
            .any(|schema| self.value(schema, value).is_ok());
        self.trying = was_trying;
        if fits {
            return Ok(());
        }
        if self.budget.is_exceeded() {
            return Err(self.budget.exceeded());
        }
        Err(self.expected(schema, value))
    }

    fn expected(&self, schema: &Value, value: &Value) -> Issue {
        // The caller drops the problem of a tried alternative, and describing a value costs more than checking it.
        if self.trying || !self.budget.reports {
            return Issue::new("");
        }
        let mut what = describe(self.root, schema, self.budget);
        if self.optional.is_some_and(|it| std::ptr::eq(it, schema)) {
            what.push_str(" | undefined");
        }
        Issue::expected(&what, value)
    }
}

fn prefix(keywords: &Map<String, Value>, text: &str, value: &Value) -> Result<(), Issue> {
    let pattern = keywords.get("pattern").and_then(Value::as_str);
    let Some(prefix) = pattern.and_then(|pattern| pattern.strip_prefix('^')) else {
        return Ok(());
    };
    let is_literal = !prefix.contains(|c: char| "\\^$.|?*+()[]{}".contains(c));
    if is_literal && !text.starts_with(prefix) {
        let what = format!("a string starting with {}", Value::from(prefix));
        return Err(Issue::expected(&what, value));
    }
    Ok(())
}

fn bounds(keywords: &Map<String, Value>, value: &Value) -> Result<(), Issue> {
    let number = value.as_f64().unwrap_or(f64::NAN);
    if keywords.get("type").is_some_and(only_integers) && number::integer(number).is_none() {
        return Err(Issue::expected("an integer", value));
    }
    let bound = |key: &str| Some((keywords.get(key)?, keywords.get(key)?.as_f64()?));
    let failed =
        |what: &str, bound: &Value| Issue::expected(&format!("a value {what} {bound}"), value);
    match (
        bound("exclusiveMinimum"),
        bound("minimum"),
        bound("maximum"),
    ) {
        (Some((shown, least)), ..) if number <= least => Err(failed("greater than", shown)),
        (_, Some((shown, least)), _) if number < least => {
            Err(failed("greater than or equal to", shown))
        }
        (.., Some((shown, most))) if number > most => Err(failed("less than or equal to", shown)),
        _ => Ok(()),
    }
}

fn only_integers(types: &Value) -> bool {
    let names = || {
        types
            .as_array()
            .map_or(std::slice::from_ref(types), Vec::as_slice)
    };
    names().iter().any(|name| name == "integer") && !names().iter().any(|name| name == "number")
}
