//! The host reads every declared option, with the declared defaults.

use std::fmt::Debug;

use opencode_declaration::options::{
    BUDGET, BUDGETS, COMMAND_ENVIRONMENT, DEADLINES, LIMITS, LISTEN_OPTIONS, LOG_OPTIONS, OAUTH,
    OPTIONS, PERMISSIONS, RETRY, SERVER,
};
use opencode_declaration::vocabulary::{Default as Declared, Kind, Member, Object};
use opencode_server::ListenOptions;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::*;

/// Options that do not reach the native host: functions, and properties of the JavaScript process.
const ONLY_IN_JAVASCRIPT: [&str; 4] = ["keepAlive", "log", "plugins", "ptyEnvironment"];

/// A value of an option in the form in which the native host gets it.
fn sample(member: &'static Member) -> Value {
    match member.name {
        "config" | "mcp" | "env" => json!({}),
        "remoteConfig" => json!(["https://h"]),
        // A function of the program stays in JavaScript.
        "trust" => json!("ask"),
        "share" => json!("auto"),
        "credentials" => json!(true),
        _ => member.kind.as_ref().map_or(Value::Null, value_of),
    }
}

fn value_of(kind: &'static Kind) -> Value {
    match kind {
        Kind::Boolean => json!(true),
        Kind::Number(number) => json!(number.least.unwrap_or(1)),
        Kind::False => json!(false),
        Kind::Words(words) => json!(words[0]),
        Kind::List { of, .. } => json!([value_of(of)]),
        Kind::Map { of, .. } => json!({ "a": value_of(of) }),
        Kind::Object(object) => Value::Object(needed(object)),
        Kind::OneOf(kinds) => kinds.iter().map(value_of).collect::<Vec<_>>().remove(0),
        Kind::Named(named) if named.name == "Unanswered" => json!({ "denyAfterMs": 5 }),
        Kind::Named(named) => value_of(&named.kind),
        _ => json!("a"),
    }
}

fn needed(object: &'static Object) -> Map<String, Value> {
    let members = object.all_members().into_iter().filter(|it| it.is_required);
    members.map(|it| (it.name.to_owned(), sample(it))).collect()
}

/// Gives each declared member to the reader of an object, which refuses all others.
fn reads<T: DeserializeOwned>(object: &'static Object, base: &Map<String, Value>) {
    let read = |name: &str, value| {
        let mut members = base.clone();
        members.insert(name.to_owned(), value);
        serde_json::from_value::<T>(Value::Object(members)).map(drop)
    };
    for member in object.all_members() {
        if !ONLY_IN_JAVASCRIPT.contains(&member.name) {
            let result = read(member.name, sample(member));
            assert!(
                result.is_ok(),
                "{}.{}: {result:?}",
                object.name,
                member.name
            );
        }
    }
    assert!(read("zzz", json!(1)).is_err(), "{}", object.name);
}

#[test]
fn the_option_log_names_every_target() {
    let members = LOG_OPTIONS.all_members().into_iter();
    let targets = members.filter_map(|it| match (it.name, it.kind?) {
        ("targets", Kind::Written(written)) => written.members,
        _ => None,
    });
    let names = targets.flat_map(|it| it.all_members()).map(|it| it.name);
    assert_eq!(names.collect::<Vec<_>>(), opencode_log::TARGETS);
}

#[test]
fn the_host_reads_every_declared_option() {
    let folders = [
        "directory",
        "database",
        "home",
        "dataDirectory",
        "configDirectory",
        "cacheDirectory",
    ];
    let folders = folders.map(|name| (name.to_owned(), json!("/a")));
    reads::<HostOptions>(&OPTIONS, &Map::from_iter(folders));
    let none = Map::new();
    reads::<CommandEnvironmentOptions>(&COMMAND_ENVIRONMENT, &none);
    reads::<BudgetsOption>(&BUDGETS, &none);
    reads::<Limited>(&BUDGET, &none);
    reads::<LimitOptions>(&LIMITS, &none);
    reads::<ListenOptions>(&LISTEN_OPTIONS, &none);
    reads::<PermissionOptions>(&PERMISSIONS, &none);
    reads::<RetryOptions>(&RETRY, &none);
    reads::<DeadlineOptions>(&DEADLINES, &none);
    reads::<ProviderOAuthOption>(&OAUTH, &needed(&OAUTH));
    reads::<RemoteOption>(&SERVER, &needed(&SERVER));
}

/// Compares the result of all declared defaults with the result of no member.
fn has_defaults<T: DeserializeOwned + PartialEq + Debug>(object: &'static Object) {
    let members = object.all_members().into_iter();
    let defaults = members.filter_map(|member| {
        let value = match member.default {
            Declared::Boolean(value) => json!(value),
            Declared::Number(value) => json!(value),
            Declared::Text(value) => json!(value),
            Declared::Unsaid | Declared::Said(_) => return None,
        };
        Some((member.name.to_owned(), value))
    });
    let defaults = Value::Object(defaults.collect());
    assert_ne!(defaults, json!({}), "{}", object.name);
    let read = |value| serde_json::from_value::<T>(value).expect(object.name);
    assert_eq!(read(defaults), read(json!({})), "{}", object.name);
}

#[test]
fn the_defaults_are_the_declared_ones() {
    has_defaults::<LimitOptions>(&LIMITS);
    has_defaults::<RetryOptions>(&RETRY);
    has_defaults::<DeadlineOptions>(&DEADLINES);
    has_defaults::<PermissionOptions>(&PERMISSIONS);
    let listen = ListenOptions::default();
    let declared = |name| LISTEN_OPTIONS.member(name).map(|member| member.default);
    assert_eq!(
        declared("port"),
        Some(Declared::Number(u64::from(listen.port)))
    );
    assert_eq!(declared("hostname"), Some(Declared::Text("127.0.0.1")));
    assert_eq!(listen.hostname, "127.0.0.1");
    assert_eq!(
        declared("maxBodyBytes"),
        Some(Declared::Number(listen.max_body_bytes))
    );
}

fn limits(given: Value) -> Limits {
    let options: LimitOptions = serde_json::from_value(given).expect("the limits are valid");
    options.into()
}

#[test]
fn one_boundary_promotes_as_many_steers_as_the_inbox_holds() {
    let steers = |given| limits(given).steer_batch;
    assert_eq!(steers(json!({})), 10_000);
    assert_eq!(steers(json!({ "inbox": 3 })), 3);
    assert_eq!(steers(json!({ "inbox": 3, "steerBatch": 2 })), 2);
    assert_eq!(limits(json!({ "steerBatch": 3 })).inbox, 10_000);
}
