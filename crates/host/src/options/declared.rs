//! Compares the options with their public declarations in TypeScript.

use std::collections::BTreeSet;

use opencode_server::ListenOptions;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::providers::{DeadlineMembers, RetryForm};
use super::{
    BudgetsOption, CommandEnvironmentOptions, HostOptions, LimitOptions, PermissionOptions,
    ProviderOAuthOption,
};

/// The public declarations, without their documentation.
const DECLARATIONS: &str = include_str!("../../../../docs/declarations.txt");

/// Options that do not reach the native host: functions, and properties of the JavaScript process.
const ONLY_IN_JAVASCRIPT: [&str; 4] = ["keepAlive", "log", "plugins", "ptyEnvironment"];

type Names = BTreeSet<String>;

/// Returns the members of an interface.
fn declared(interface: &str) -> Names {
    let start = format!("\nexport interface {interface} {{\n");
    let (_, rest) = DECLARATIONS.split_once(&start).expect(interface);
    let (members, _) = rest.split_once("\n}").expect(interface);
    let member = |line: &str| {
        let name = line.strip_prefix("  readonly ")?;
        let end = name.find(['?', ':'])?;
        Some(name[..end].to_owned())
    };
    members.lines().filter_map(member).collect()
}

/// Returns the members that a type of options reads. serde lists them if it refuses an unknown one.
fn read<T: DeserializeOwned>() -> Names {
    let error = serde_json::from_value::<T>(json!({ "?": 0 })).err();
    let message = error.expect("unknown members are refused").to_string();
    let names = message.split('`').skip(1).step_by(2);
    names
        .filter(|name| *name != "?")
        .map(str::to_owned)
        .collect()
}

#[test]
fn typescript_declares_the_options_that_rust_reads() {
    let mut options = declared("OpenCodeOptions");
    for name in ONLY_IN_JAVASCRIPT {
        assert!(options.remove(name), "{name}");
    }
    assert_eq!(read::<HostOptions>(), options);
    for (interface, members) in [
        ("CommandEnvironment", read::<CommandEnvironmentOptions>()),
        ("Budgets", read::<BudgetsOption>()),
        ("Deadlines", read::<DeadlineMembers>()),
        ("Limits", read::<LimitOptions>()),
        ("ListenOptions", read::<ListenOptions>()),
        ("PermissionOptions", read::<PermissionOptions>()),
        ("ProviderOAuth", read::<ProviderOAuthOption>()),
        ("RetryPolicy", read::<RetryForm>()),
    ] {
        assert_eq!(members, declared(interface), "{interface}");
    }
}
