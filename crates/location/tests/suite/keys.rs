//! All keys with a single value: their consumers, the precedence of documents, and the switches of the environment.

use jiff::tz::TimeZone;
use opencode_location::config::Source;
use opencode_location::config::{
    Compaction, Configuration, Diagnostic, DiagnosticKind, ImageLimits, InstructionEntry, Settings,
    Share, ToolOutputLimits,
};
use serde_json::{Value, json};

use crate::documents::select;
use crate::machine::Machine;

/// The configuration of two documents: the weaker one of the user, the stronger one of the project.
fn configuration(weaker: Value, stronger: Value) -> Configuration {
    let machine = Machine::new();
    machine.write("config/opencode.json", weaker.to_string());
    machine.write("project/opencode.json", stronger.to_string());
    machine.configuration("project", "project", None)
}

fn settings(weaker: Value, stronger: Value) -> Settings {
    let configuration = configuration(weaker, stronger);
    assert_eq!(configuration.diagnostics, []);
    configuration.settings
}

/// A document that sets all keys, in the newer form.
fn everything() -> Value {
    json!({
        "shell": "/bin/zsh", "username": "ada", "timezone": "Europe/Oslo", "share": "disabled", "snapshots": false,
        "attachments": {"image": {
            "auto_resize": false, "max_width": 1, "max_height": 2, "max_base64_bytes": 3,
        }},
        "tool_output": {"max_lines": 4, "max_bytes": 5},
        "compaction": {"auto": false, "prune": true, "keep": {"tokens": 6}, "buffer": 7},
        "watcher": {"ignore": ["a", "b"]},
    })
}

fn all_set() -> Settings {
    Settings {
        shell: Some("/bin/zsh".to_owned()),
        username: Some("ada".to_owned()),
        timezone: TimeZone::get("Europe/Oslo").ok(),
        share: Share::Disabled,
        snapshots: false,
        image: ImageLimits {
            auto_resize: false,
            max_width: 1,
            max_height: 2,
            max_base64_bytes: 3,
        },
        tool_output: ToolOutputLimits {
            max_lines: 4,
            max_bytes: 5,
        },
        compaction: Compaction {
            auto: false,
            prune: true,
            keep_tokens: 6,
            buffer_tokens: 7,
        },
        output_token_max: None,
        watcher_ignore: vec!["a".to_owned(), "b".to_owned()],
    }
}

#[test]
fn without_documents_the_defaults_apply() {
    let defaults = Settings {
        shell: None,
        username: None,
        timezone: None,
        share: Share::Manual,
        snapshots: true,
        image: ImageLimits {
            auto_resize: true,
            max_width: 2000,
            max_height: 2000,
            max_base64_bytes: 5_242_880,
        },
        tool_output: ToolOutputLimits {
            max_lines: 2000,
            max_bytes: 51_200,
        },
        compaction: Compaction {
            auto: true,
            prune: true,
            keep_tokens: 8000,
            buffer_tokens: 20_000,
        },
        output_token_max: None,
        watcher_ignore: vec![],
    };
    assert_eq!(settings(json!({}), json!({})), defaults);
}

#[test]
fn every_key_is_read_from_both_documents() {
    assert_eq!(settings(everything(), json!({})), all_set());
    assert_eq!(settings(json!({}), everything()), all_set());
}

#[test]
fn the_older_form_has_the_same_effect() {
    let mut older = everything();
    older["snapshot"] = older["snapshots"].take();
    older["attachment"] = older["attachments"].take();
    older["compaction"] =
        json!({"auto": false, "prune": true, "preserve_recent_tokens": 6, "reserved": 7});
    let members = older.as_object_mut().unwrap();
    members.retain(|_, value| !value.is_null());
    assert_eq!(settings(older, json!({})), all_set());
    let media = json!({"media": {"image": {"max_width": 9}}});
    assert_eq!(settings(media, json!({})).image.max_width, 9);
    let shared = settings(json!({"autoshare": true}), json!({}));
    assert_eq!(shared.share, Share::Auto);
}

#[test]
fn the_stronger_document_overrides_single_members() {
    let stronger = json!({
        "share": "auto", "snapshots": true, "attachments": {"image": {"max_height": 20}},
        "tool_output": {"max_bytes": 50}, "compaction": {"auto": true, "keep": {}},
        "watcher": {"ignore": ["b", "c"]}, "shell": "/bin/sh",
    });
    let mut expected = all_set();
    expected.shell = Some("/bin/sh".to_owned());
    expected.share = Share::Auto;
    expected.snapshots = true;
    expected.image.max_height = 20;
    expected.tool_output.max_bytes = 50;
    expected.compaction.auto = true;
    // Lists accumulate.
    expected.watcher_ignore.push("c".to_owned());
    assert_eq!(settings(everything(), stronger), expected);
}

#[test]
fn models_and_agents_are_named_by_the_strongest() {
    let weaker = json!({"small_model": "p/weak", "default_agent": "weak"});
    let named = |configuration: &Configuration| {
        let model = configuration.small_model().cloned();
        (model, configuration.default_agent().map(str::to_owned))
    };
    let strong = json!({"small_model": "p/strong#low", "default_agent": "strong"});
    assert_eq!(
        named(&configuration(weaker.clone(), strong)),
        (
            Some(select("p", "strong", Some("low"))),
            Some("strong".to_owned())
        )
    );
    assert_eq!(
        named(&configuration(weaker, json!({}))),
        (Some(select("p", "weak", None)), Some("weak".to_owned()))
    );
    assert_eq!(named(&configuration(json!({}), json!({}))), (None, None));
}

#[test]
fn instructions_of_all_documents_are_kept_with_their_base() {
    let mut machine = Machine::new();
    machine.write(
        "config/opencode.json",
        json!({"instructions": ["a.md"]}).to_string(),
    );
    machine.write(
        "project/opencode.json",
        json!({"instructions": ["a.md", "*.md"]}).to_string(),
    );
    machine.write(
        "project/b/.opencode/opencode.json",
        json!({"instructions": ["https://h/x.md"]}).to_string(),
    );
    machine.set(
        "OPENCODE_CONFIG_CONTENT",
        r#"{"instructions": ["inline.md"]}"#,
    );
    let host = json!({"instructions": ["host.md"]});
    let configuration = machine.configuration("project", "project/b", Some(&host));
    let entry = |text: &str, base: &str, source| InstructionEntry {
        text: text.to_owned(),
        base: machine.path(base),
        source,
    };
    assert_eq!(
        configuration.instructions(),
        [
            entry("a.md", "config", Source::User),
            entry("a.md", "project", Source::Project),
            entry("*.md", "project", Source::Project),
            entry("https://h/x.md", "project/b/.opencode", Source::Project),
            entry("inline.md", "project/b", Source::User),
            entry("host.md", "project/b", Source::Host),
        ]
    );
}

#[test]
fn switches_of_the_environment_override_every_document() {
    let switched = |name: &str, value: &str| {
        let mut machine = Machine::new();
        machine.set(name, value);
        let host = json!({"share": "disabled", "compaction": {"auto": true, "prune": true}});
        let configuration = machine.configuration("project", "project", Some(&host));
        (configuration.settings, configuration.diagnostics)
    };
    let base = Settings {
        share: Share::Disabled,
        compaction: Compaction {
            prune: true,
            ..Compaction::default()
        },
        ..Settings::default()
    };
    let without_compaction = Settings {
        compaction: Compaction {
            auto: false,
            ..base.compaction
        },
        ..base.clone()
    };
    let without_pruning = Settings {
        compaction: Compaction {
            prune: false,
            ..base.compaction
        },
        ..base.clone()
    };
    let shared = Settings {
        share: Share::Auto,
        ..base.clone()
    };
    let capped = Settings {
        output_token_max: Some(512),
        ..base.clone()
    };
    for (name, value, expected) in [
        ("OPENCODE_DISABLE_AUTOCOMPACT", "1", &without_compaction),
        ("OPENCODE_DISABLE_AUTOCOMPACT", "0", &base),
        ("OPENCODE_DISABLE_PRUNE", "true", &without_pruning),
        ("OPENCODE_AUTO_SHARE", "1", &shared),
        ("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "512", &capped),
        ("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "", &base),
    ] {
        assert_eq!(
            switched(name, value),
            (expected.clone(), vec![]),
            "{name}={value}"
        );
    }
    for value in ["0", "-1", "1.5", "many", "99999999999999999999"] {
        let name = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX";
        let diagnostic = Diagnostic {
            path: name.to_owned(),
            kind: DiagnosticKind::Ignored,
            message: "The variable has no effect: it must be a whole number of at least 1"
                .to_owned(),
            line: None,
            column: None,
        };
        assert_eq!(
            switched(name, value),
            (base.clone(), vec![diagnostic]),
            "{value}"
        );
    }
}

#[test]
fn ineffective_parts_of_older_keys_are_reported() {
    let machine = Machine::new();
    machine.write(
        "project/opencode.json",
        "{\n\"snapshot\": true, \"snapshots\": false,\n\"autoshare\": true, \"share\": \"auto\",\n\"attachment\": {}, \"attachments\": {}\n}",
    );
    let configuration = machine.configuration("project", "project", None);
    assert!(!configuration.settings.snapshots);
    let expected = |message: &str, line, column| Diagnostic {
        path: machine.text("project/opencode.json"),
        kind: DiagnosticKind::Ignored,
        message: message.to_owned(),
        line: Some(line),
        column: Some(column),
    };
    assert_eq!(
        configuration.diagnostics,
        [
            expected(
                "autoshare has no effect beside share, which says the same in the newer form",
                3,
                14
            ),
            expected(
                "snapshot has no effect beside snapshots, which says the same in the newer form",
                2,
                13
            ),
        ]
    );
}

#[test]
fn a_misspelt_key_is_reported_and_other_keys_are_kept() {
    let machine = Machine::new();
    machine.write(
        "project/opencode.json",
        "{\n  \"plugin_settings\": 1, \"theme\": \"dark\", \"$schema\": \"x\",\n  \"instruction\": [\"a\"]\n}",
    );
    let configuration = machine.configuration("project", "project", None);
    assert_eq!(
        configuration.diagnostics,
        [Diagnostic {
            path: machine.text("project/opencode.json"),
            kind: DiagnosticKind::Ignored,
            message: "There is no key instruction; instructions is probably meant".to_owned(),
            line: Some(3),
            column: Some(18),
        }]
    );
}

#[test]
fn permissions_may_be_in_their_own_variable() {
    let mut machine = Machine::new();
    machine.set("OPENCODE_PERMISSION", "{\n  \"bash\": 5}");
    let configuration = machine.configuration("project", "project", None);
    let [diagnostic] = &configuration.diagnostics[..] else {
        panic!("{:?}", configuration.diagnostics);
    };
    assert_eq!(
        (diagnostic.path.as_str(), diagnostic.line, diagnostic.column),
        ("OPENCODE_PERMISSION", Some(2), Some(11)),
    );
    machine.set("OPENCODE_PERMISSION", "{\"bash\": \"deny\"}");
    let configuration = machine.configuration("project", "project", None);
    assert_eq!(configuration.diagnostics, []);
    let origins: Vec<_> = configuration.documents().map(|it| &it.origin).collect();
    assert_eq!(origins, ["OPENCODE_PERMISSION"]);
}

#[test]
fn keys_of_drafts_are_reported() {
    let document = json!({
        "mcp": {
            "timeout": {"catalog": 5, "execution": 7},
            "servers": {"s": {"type": "local", "command": ["x"], "codemode": true}},
        },
        "experimental": {"subagent_depth": 2},
    });
    let configuration = configuration(json!({}), document);
    let messages: Vec<_> = configuration
        .diagnostics
        .iter()
        .map(|it| &it.message)
        .collect();
    assert_eq!(
        messages,
        [
            "experimental.subagent_depth has no effect in this version",
            "mcp.timeout.catalog has no effect in this version",
            "mcp.servers.s.codemode has no effect in this version",
        ]
    );
}
