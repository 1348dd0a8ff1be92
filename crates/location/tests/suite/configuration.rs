//! The documents that are read, their precedence, and the diagnostics for unusable ones.

use crate::machine::{ASKS, Machine};
use opencode_location::catalogue::Catalogue;
use opencode_location::config::{
    Configuration, Diagnostic, DiagnosticKind, Entry, MAX_DOCUMENT_BYTES, Settings,
};
use opencode_location::environment::Environment;
use serde_json::{Value, json};

/// The name that the strongest document gives to provider `p`.
fn winner(configuration: &Configuration) -> String {
    let (catalogue, _) = Catalogue::build(configuration, &Environment::default());
    catalogue.providers()[0].name.clone()
}

fn naming(name: &str) -> Value {
    json!({ "provider": { "p": { "name": name } } })
}

/// All sources of documents, weakest first.
const LAYERS: [&str; 13] = [
    "config/opencode.json",
    "config/opencode.jsonc",
    "home/.opencode/opencode.json",
    "OPENCODE_CONFIG",
    "project/opencode.json",
    "project/opencode.jsonc",
    "project/a/b/opencode.json",
    "project/.opencode/opencode.json",
    "project/.opencode/opencode.jsonc",
    "project/a/b/.opencode/opencode.json",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_CONFIG_CONTENT",
    "host",
];

fn place(machine: &mut Machine, host: &mut Option<Value>, layer: &str) {
    let content = naming(layer);
    match layer {
        "host" => *host = Some(content),
        "OPENCODE_CONFIG_CONTENT" => machine.set(layer, &content.to_string()),
        "OPENCODE_CONFIG" => {
            machine.write("elsewhere/any.name", content.to_string());
            machine.set(layer, &machine.text("elsewhere/any.name"));
        }
        "OPENCODE_CONFIG_DIR" => {
            machine.write("elsewhere/opencode.json", content.to_string());
            machine.set(layer, &machine.text("elsewhere"));
        }
        file => machine.write(file, content.to_string()),
    }
}

#[test]
fn of_every_two_documents_the_stronger_wins() {
    for (strength, stronger) in LAYERS.iter().enumerate() {
        for weaker in &LAYERS[..strength] {
            let (mut machine, mut host) = (Machine::new(), None);
            place(&mut machine, &mut host, stronger);
            place(&mut machine, &mut host, weaker);
            let configuration = machine.configuration("project", "project/a/b", host.as_ref());
            assert_eq!(
                configuration.documents().count(),
                2,
                "{weaker} < {stronger}"
            );
            assert_eq!(configuration.diagnostics, []);
            assert_eq!(winner(&configuration), *stronger, "{weaker} < {stronger}");
        }
    }
}

#[test]
fn all_documents_are_listed_in_order() {
    let (mut machine, mut host) = (Machine::new(), None);
    for layer in LAYERS {
        place(&mut machine, &mut host, layer);
    }
    let configuration = machine.configuration("project", "project/a/b", host.as_ref());
    let origins: Vec<_> = configuration
        .documents()
        .map(|document| document.origin.as_str())
        .collect();
    let expected = LAYERS.map(|layer| match layer {
        "OPENCODE_CONFIG" => machine.text("elsewhere/any.name"),
        "OPENCODE_CONFIG_DIR" => machine.text("elsewhere/opencode.json"),
        "OPENCODE_CONFIG_CONTENT" => layer.to_owned(),
        "host" => "the host's config option".to_owned(),
        file => machine.text(file),
    });
    assert_eq!(origins, expected);
}

#[test]
fn the_switch_excludes_only_the_project() {
    let (mut machine, mut host) = (Machine::new(), None);
    for layer in LAYERS {
        place(&mut machine, &mut host, layer);
    }
    machine.set("OPENCODE_DISABLE_PROJECT_CONFIG", "true");
    let configuration = machine.configuration("project", "project/a/b", host.as_ref());
    assert_eq!(configuration.documents().count(), 7);
    let in_project = machine.text("project");
    assert!(
        configuration
            .documents()
            .all(|document| !document.origin.starts_with(&in_project))
    );
}

#[test]
fn nothing_above_the_project_is_read() {
    let machine = Machine::new();
    machine.write("opencode.json", naming("outside").to_string());
    machine.write("project/opencode.json", naming("inside").to_string());
    machine.write("project/a/c/opencode.json", naming("beside").to_string());
    let configuration = machine.configuration("project", "project/a/b", None);
    assert_eq!(configuration.documents().count(), 1);
    assert_eq!(winner(&configuration), "inside");
}

#[test]
fn missing_documents_are_accepted() {
    let machine = Machine::new();
    let configuration = machine.configuration("project", "project", None);
    let directories = ["config", "home/.opencode", "project/.opencode"];
    let directories = directories.map(|directory| machine.path(directory));
    let found: Vec<_> = configuration
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::Directory(directory) => directory.path.clone(),
            Entry::Document(document) => panic!("{document:?}"),
        })
        .collect();
    assert_eq!(found, directories);
    assert_eq!(configuration.diagnostics, []);
    assert_eq!(configuration.settings, Settings::default());
    assert_eq!(configuration.instructions(), []);
}

/// The diagnostics for `content` as the document of the project, next to a valid one.
fn complaints(content: impl AsRef<[u8]>) -> Vec<Diagnostic> {
    let machine = Machine::new();
    machine.write("config/opencode.json", naming("good").to_string());
    machine.write("project/opencode.jsonc", content);
    let configuration = machine.configuration("project", "project", None);
    assert_eq!(winner(&configuration), "good");
    let file = machine.text("project/opencode.jsonc");
    for diagnostic in &configuration.diagnostics {
        assert_eq!(diagnostic.path, file);
    }
    configuration.diagnostics
}

#[test]
fn a_wrong_value_is_omitted_and_reported_with_its_position() {
    let wrong = |text: &str, line: u32, column: u32, message: &str| {
        let [diagnostic] = &complaints(text)[..] else {
            panic!("one diagnostic for {text}");
        };
        assert_eq!(
            (diagnostic.kind, diagnostic.line, diagnostic.column),
            (DiagnosticKind::Invalid, Some(line), Some(column)),
            "{text}: {diagnostic:?}"
        );
        let left_out = match message.starts_with("The document") {
            true => format!("; the whole document is left out{ASKS}"),
            false => "; this value is left out".to_owned(),
        };
        assert_eq!(diagnostic.message, message.to_owned() + &left_out);
    };
    wrong("[]", 1, 1, "The document must be an object, found an array");
    wrong(" null", 1, 2, "The document must be an object, found null");
    wrong(
        "{\n  // which one?\n  \"model\": 5,\n}",
        3,
        12,
        "model must be a string or an object, found a number",
    );
    wrong(
        "{\"model\": \"m1\"}",
        1,
        11,
        "model must have the form provider/model or provider/model#variant",
    );
    wrong(
        "{\"model\": {\"id\": \"m\"}}",
        1,
        11,
        "model.providerID is missing",
    );
    wrong(
        "{\n  \"provider\": {\n    \"p\": { \"options\": { \"baseURL\": 1 } }\n  }\n}",
        3,
        36,
        "provider.p.options.baseURL must be a string, found a number",
    );
    wrong(
        "{\"provider\": {\"p\": {\"options\": {\"chunkTimeout\": \"5\"}}}}",
        1,
        49,
        "provider.p.options.chunkTimeout must be false or a whole number of milliseconds above 0",
    );
    wrong(
        "{\"provider\": {\"p\": {\"models\": {\"m\": {\"options\": {\"temperature\": \"hot\"}}}}}}",
        1,
        65,
        "provider.p.models.m.options.temperature must be a number, found a string",
    );
    wrong(
        "{\"provider\": {\"p\": {\"models\": {\"m\": {\"cost\": {\"input\": 1}}}}}}",
        1,
        46,
        "provider.p.models.m.cost.output is missing",
    );
    wrong(
        "{\"providers\": {\"p\": {\"models\": {\"m\": {\"variants\": [{\"id\": \"a\"}, 5]}}}}}",
        1,
        65,
        "providers.p.models.m.variants[1] must be an object, found a number",
    );
    wrong(
        "{\"providers\": {\"p\": {\"api\": {\"type\": \"rest\"}}}}",
        1,
        38,
        "providers.p.api.type must be \"aisdk\" or \"native\"",
    );
    wrong(
        "{\"agent\": {\"a\": {\"maxSteps\": 0}}}",
        1,
        30,
        "agent.a.maxSteps must be a whole number of at least 1",
    );
    wrong(
        "{\"provider\": {\"p\": {\"options\": {\"headers\": {\"X\": \"a\\nb\"}}}}}",
        1,
        50,
        "provider.p.options.headers.X has a line end or control character, which no header can carry",
    );
    wrong(
        "{\"provider\": {\"p\": {\"options\": {\"headers\": {\"a b\": \"c\"}}}}}",
        1,
        52,
        "provider.p.options.headers.a b is not the name of an HTTP header",
    );
}

#[test]
fn excessive_documents_are_refused() {
    let complaint = |provider: Value| {
        let document = json!({ "provider": { "p": provider } });
        complaints(document.to_string()).remove(0).message
    };
    let numbered = |count: usize, value: Value| {
        let members = (0..count).map(|number| (format!("n{number}"), value.clone()));
        Value::Object(members.collect())
    };
    assert_eq!(
        complaint(json!({"options": {"headers": numbered(101, json!("v"))}})),
        "provider.p.options.headers must have at most 100 members; this value is left out"
    );
    assert_eq!(
        complaint(json!({"models": {"m": {"variants": numbered(101, json!({}))}}})),
        "provider.p.models.m.variants must have at most 100 members; this value is left out"
    );
}

#[test]
fn a_broken_document_is_omitted_and_reported_with_its_position() {
    let diagnostics = complaints("{\n  \"model\": \"p/m\"\n  \"provider\": {}\n}");
    let [diagnostic] = &diagnostics[..] else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(diagnostic.kind, DiagnosticKind::Syntax);
    assert_eq!(diagnostic.message, format!("Expected comma{ASKS}"));
    assert_eq!((diagnostic.line, diagnostic.column), (Some(2), Some(17)));
}

#[test]
fn text_that_is_not_utf8_is_omitted_and_reported_with_its_position() {
    let diagnostics = complaints(b"{\n\"\xc3\xa4\": \"\xff\"}");
    let [diagnostic] = &diagnostics[..] else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(diagnostic.kind, DiagnosticKind::Syntax);
    assert_eq!(diagnostic.message, format!("The text is not UTF-8{ASKS}"));
    assert_eq!((diagnostic.line, diagnostic.column), (Some(2), Some(7)));
}

#[test]
fn unreadable_documents_are_reported() {
    let large = vec![b' '; usize::try_from(MAX_DOCUMENT_BYTES).unwrap() + 1];
    let diagnostics = complaints(large);
    let [diagnostic] = &diagnostics[..] else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(diagnostic.kind, DiagnosticKind::Io);
    assert_eq!(
        diagnostic.message,
        format!("The file cannot be read: it is larger than 4194304 bytes{ASKS}")
    );
    assert_eq!((diagnostic.line, diagnostic.column), (None, None));

    let machine = Machine::new();
    machine.directory("project/opencode.json");
    let configuration = machine.configuration("project", "project", None);
    let [diagnostic] = &configuration.diagnostics[..] else {
        panic!("{configuration:?}");
    };
    assert_eq!(
        diagnostic.message,
        format!("The file cannot be read: it is not a regular file{ASKS}")
    );
}

#[test]
fn a_named_file_must_exist() {
    for (name, message) in [
        (
            "/nowhere/opencode.json",
            "There is no such file; it is named by OPENCODE_CONFIG",
        ),
        (
            "opencode.json",
            "The path must be absolute; it is named by OPENCODE_CONFIG",
        ),
    ] {
        let mut machine = Machine::new();
        machine.set("OPENCODE_CONFIG", name);
        let configuration = machine.configuration("project", "project", None);
        assert_eq!(
            configuration.diagnostics,
            [Diagnostic {
                path: name.to_owned(),
                kind: DiagnosticKind::Io,
                message: message.to_owned() + ASKS,
                line: None,
                column: None,
            }]
        );
    }
}

#[test]
fn a_named_directory_does_not_depend_on_the_working_directory() {
    let mut machine = Machine::new();
    machine.set("OPENCODE_CONFIG_DIR", "src");
    let configuration = machine.configuration("project", "project", None);
    let is_relative = |entry: &Entry| matches!(entry, Entry::Directory(directory) if directory.path == std::path::Path::new("src"));
    assert!(!configuration.entries.iter().any(is_relative));
    assert_eq!(
        configuration.diagnostics,
        [Diagnostic {
            path: "src".to_owned(),
            kind: DiagnosticKind::Io,
            message: format!("The path must be absolute; it is named by OPENCODE_CONFIG_DIR{ASKS}"),
            line: None,
            column: None,
        }]
    );
}

#[test]
fn inline_documents_have_different_names() {
    let mut machine = Machine::new();
    machine.set("OPENCODE_CONFIG_CONTENT", "{\n?");
    let host = json!({"provider": []});
    let configuration = machine.configuration("project", "project", Some(&host));
    assert_eq!(
        configuration.diagnostics,
        [
            Diagnostic {
                path: "OPENCODE_CONFIG_CONTENT".to_owned(),
                kind: DiagnosticKind::Syntax,
                message: format!("Unexpected token{ASKS}"),
                line: Some(2),
                column: Some(1),
            },
            Diagnostic {
                path: "the host's config option".to_owned(),
                kind: DiagnosticKind::Invalid,
                message: "provider must be an object, found an array; this value is left out"
                    .to_owned(),
                line: None,
                column: None,
            },
        ]
    );
}

#[test]
fn tolerated_documents() {
    for text in [
        "",
        "\u{feff}{}",
        "// nothing yet",
        "{}",
        "{ \"unknown\": [1, {\"a\": null}], \"$schema\": 5, \"plugin\": 1, \"lsp\": 7 }",
        "{ \"provider\": { \"p\": { \"name\": \"good\", \"models\": { \"m\": { \"unknown\": 1, }, }, /* c */ }, }, }",
    ] {
        let machine = Machine::new();
        machine.write("project/opencode.jsonc", text);
        let configuration = machine.configuration("project", "project", None);
        assert_eq!(configuration.diagnostics, [], "{text}");
    }
}

#[test]
fn both_generations_of_one_provider_are_merged_and_reported() {
    let machine = Machine::new();
    machine.write(
        "project/opencode.json",
        "{\n\"provider\": {\n  \"p\": {\"name\": \"old\", \"npm\": \"a\"}, \"q\": {}},\n\"providers\": {\"p\": {\"name\": \"new\"}}}",
    );
    let configuration = machine.configuration("project", "project", None);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    assert_eq!(catalogue.providers()[0].name, "new");
    assert_eq!(
        catalogue
            .described_provider("p")
            .unwrap()
            .api
            .kind
            .to_string(),
        "aisdk:a"
    );
    assert_eq!(
        configuration.diagnostics,
        [Diagnostic {
            path: machine.text("project/opencode.json"),
            kind: DiagnosticKind::Ignored,
            message:
                "provider.p and providers.p speak of the same; where they differ, providers.p holds"
                    .to_owned(),
            line: Some(3),
            column: Some(8),
        }]
    );
}

#[test]
fn no_diagnostic_contains_a_value() {
    for text in [
        "{\"provider\": {\"p\": {\"options\": \"sk-secret\"}}}",
        "{\"provider\": {\"p\": {\"options\": {\"headers\": \"sk-secret\"}}}}",
        "{\"provider\": {\"p\": {\"options\": {\"headers\": {\"a\": \"sk-secret\\n\"}}}}}",
        "{\"provider\": \"sk-secret\"}",
        "{\"provider\": {\"p\": {\"options\": {\"apiKey\": [\"sk-secret\"]}}}}",
        "{\"provider\": {\"p\": {\"options\": {\"apiKey\": sk-secret}}}}",
        "{\"provider\": {\"p\": {\"options\": {\"apiKey\": \"sk-secret}}}}",
        "\"sk-secret\"",
    ] {
        let diagnostics = complaints(text);
        assert_eq!(diagnostics.len(), 1, "{text}");
        assert!(
            !format!("{diagnostics:?}").contains("sk-secret"),
            "{diagnostics:?}"
        );
    }
}
