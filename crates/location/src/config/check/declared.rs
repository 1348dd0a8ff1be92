//! Feeds each declared member to its reader, and compares what the reader accepts with the declaration.

use opencode_declaration::configuration::keys;
use opencode_declaration::vocabulary::{Kind, Member, Number, Object};
use serde_json::{Map, Value, json};

use super::problems;

/// Puts a value into a document.
type Wrap<'w> = &'w dyn Fn(Value) -> Value;

/// The function of a test that gets a path for messages, a member, its kind, and the function that puts a value of it
/// into a document.
type Visit<'v> = &'v mut dyn FnMut(&str, &'static Member, &'static Kind, Wrap<'_>);

fn each_member(visit: Visit<'_>) {
    for key in keys() {
        let wrap = |value| json!({ key.name: value });
        member(key, key.name, &wrap, visit);
    }
}

fn member(member: &'static Member, path: &str, wrap: Wrap<'_>, visit: Visit<'_>) {
    if let Some(kind) = &member.kind {
        visit(path, member, kind, wrap);
        within(kind, path, wrap, visit);
    }
}

fn within(kind: &'static Kind, path: &str, wrap: Wrap<'_>, visit: Visit<'_>) {
    match kind {
        Kind::Object(object) => {
            for inner in object.all_members() {
                let wrap = |value| {
                    let mut members = required(object);
                    members.insert(inner.name.to_owned(), value);
                    wrap(Value::Object(members))
                };
                member(inner, &format!("{path}.{}", inner.name), &wrap, visit);
            }
        }
        Kind::List { of, .. } => within(of, path, &|value| wrap(json!([value])), visit),
        Kind::Map { of, .. } => within(of, path, &|value| wrap(json!({ "a": value })), visit),
        Kind::OneOf(kinds) => kinds
            .iter()
            .for_each(|kind| within(kind, path, wrap, visit)),
        Kind::Named(named) => within(&named.kind, path, wrap, visit),
        _ => {}
    }
}

/// The necessary members of an object.
fn required(object: &'static Object) -> Map<String, Value> {
    let members = object.all_members().into_iter();
    let members = members.filter(|member| member.is_required);
    let sampled = members.filter_map(|it| Some((it.name.to_owned(), sample(it.kind.as_ref()?))));
    sampled.collect()
}

/// A text that is an address, a path, a repository and a model.
const TEXT: &str = "https://h/b";

/// A value of a kind.
fn sample(kind: &'static Kind) -> Value {
    match kind {
        Kind::Json | Kind::Unknown | Kind::Written(_) | Kind::Null => Value::Null,
        Kind::False => json!(false),
        Kind::Boolean => json!(true),
        Kind::Text => json!(TEXT),
        Kind::Prefixed(prefix) => json!(format!("{prefix}7fa0ff")),
        Kind::Words(words) => json!(words[0]),
        Kind::Number(Number { least, .. }) => json!(least.unwrap_or(1)),
        Kind::List { of, .. } => json!([sample(of)]),
        Kind::Map { of, .. } => json!({ "a": sample(of) }),
        Kind::Object(object) => Value::Object(required(object)),
        Kind::OneOf(kinds) => sample(&kinds[0]),
        Kind::Named(named) => sample(&named.kind),
    }
}

/// Values of a member that its declaration permits: one of each alternative, all words, and the bounds.
fn permitted(name: &str, kind: &'static Kind) -> Vec<Value> {
    if name == "timezone" {
        return vec![json!("Europe/Oslo")];
    }
    let kinds = kind.alternatives().into_iter();
    kinds
        .flat_map(|kind| match kind {
            Kind::Words(words) => words.iter().map(|word| json!(word)).collect(),
            Kind::Number(Number { least, most, .. }) => {
                let bounds = least.iter().chain(most).map(|bound| json!(bound));
                bounds.chain([sample(kind)]).collect()
            }
            Kind::List {
                of,
                most: Some(most),
            } => {
                vec![sample(kind), json!([]), json!(vec![sample(of); *most])]
            }
            kind => vec![sample(kind)],
        })
        .collect()
}

/// The names of the JSON types of a kind.
fn types(kind: &Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::False | Kind::Boolean => "boolean",
        Kind::Text | Kind::Prefixed(_) | Kind::Words(_) => "text",
        Kind::Number(_) => "number",
        Kind::List { .. } => "list",
        Kind::Map { .. } | Kind::Object(_) => "object",
        Kind::Json | Kind::Unknown | Kind::Written(_) | Kind::OneOf(_) | Kind::Named(_) => "any",
    }
}

/// Values of a member that its declaration refuses.
fn refused(kind: &'static Kind) -> Vec<Value> {
    let kinds = kind.alternatives();
    let known: Vec<_> = kinds.iter().map(|kind| types(kind)).collect();
    if known.contains(&"any") {
        return Vec::new();
    }
    let others = [
        ("null", Value::Null),
        ("boolean", json!(true)),
        ("text", json!("\u{7}?")),
        ("number", json!(5)),
        ("list", json!([5])),
        ("object", json!({ "?": 5 })),
    ];
    let others = others.into_iter().filter(|(of, _)| !known.contains(of));
    let mut values: Vec<_> = others.map(|(_, value)| value).collect();
    let is_free = |kind: &&&Kind| matches!(kind, Kind::Text);
    for kind in &kinds {
        match kind {
            Kind::Words(_) | Kind::Prefixed(_) if !kinds.iter().any(|it| is_free(&it)) => {
                values.push(json!("?"));
            }
            Kind::Number(number) => {
                values.extend(number.least.map(|least| json!(i64::from(least) - 1)));
                values.extend(number.most.map(|most| json!(u64::from(most) + 1)));
                values.extend(number.is_whole.then(|| json!(1.5)));
            }
            Kind::List {
                of,
                most: Some(most),
            } => values.push(json!(vec![sample(of); most + 1])),
            Kind::Map {
                of,
                most: Some(most),
            } => {
                let members = (0..=*most).map(|at| (format!("a{at}"), sample(of)));
                values.push(Value::Object(members.collect()));
            }
            _ => {}
        }
    }
    values
}

#[test]
fn every_declared_value_is_accepted() {
    let mut wrong = Vec::new();
    each_member(&mut |path, member, kind, wrap| {
        for value in permitted(member.name, kind) {
            let document = wrap(value);
            let found = problems(&document).into_iter().next();
            wrong.extend(
                found.map(|it| format!("{path}: {} {}: {document:.300}", it.path, it.message)),
            );
        }
    });
    assert_eq!(wrong, [""; 0], "{}", wrong.join("\n"));
}

#[test]
fn every_other_value_is_refused() {
    let mut accepted = Vec::new();
    let mut count = 0;
    each_member(&mut |path, member, kind, wrap| {
        for value in refused(kind) {
            count += 1;
            let document = wrap(value);
            if !member.is_unused && problems(&document).is_empty() {
                accepted.push(format!("{path}: {document:.300}"));
            }
        }
    });
    assert_eq!(accepted, [""; 0], "{}", accepted.join("\n"));
    assert!(count > 1_000, "{count}");
}

#[test]
fn every_name_that_is_not_declared_is_refused() {
    let mut accepted = Vec::new();
    let mut closed = |path: &str, kind: &'static Kind, wrap: Wrap<'_>| {
        let Kind::Object(object) = kind else { return };
        let mut members = required(object);
        members.insert("zzz".to_owned(), Value::Null);
        if object.others.is_none() && problems(&wrap(Value::Object(members))).is_empty() {
            accepted.push(path.to_owned());
        }
    };
    each_member(&mut |path, _, kind, wrap| {
        for kind in kind.alternatives() {
            closed(path, kind, wrap);
        }
    });
    assert_eq!(accepted, [""; 0]);
}
