//! Documents with accidental or malicious content.

use std::time::{Duration, Instant};

use opencode_location::catalogue::Catalogue;
use opencode_location::config::{Diagnostic, DiagnosticKind};
use serde_json::{Value, json};

use crate::machine::{ASKS, Machine};

/// The diagnostics for the document of the project, next to a valid one of the user.
fn complaints(machine: &Machine) -> Vec<Diagnostic> {
    machine.write(
        "config/opencode.json",
        json!({"username": "ada"}).to_string(),
    );
    let configuration = machine.configuration("project", "project", None);
    let broken = |it: &Diagnostic| it.message.ends_with(ASKS);
    if configuration.diagnostics.iter().any(broken) {
        assert_eq!(configuration.settings.username.as_deref(), Some("ada"));
    }
    configuration.diagnostics
}

fn complaint(
    kind: DiagnosticKind,
    message: &str,
    place: Option<(u32, u32)>,
) -> impl Fn(&Machine) + use<> {
    let asks = match kind {
        DiagnosticKind::Syntax | DiagnosticKind::Io => ASKS,
        _ => "",
    };
    let message = message.to_owned() + asks;
    move |machine| {
        let expected = Diagnostic {
            path: machine.text("project/opencode.json"),
            kind,
            message: message.clone(),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
        };
        assert_eq!(complaints(machine), [expected]);
    }
}

/// Creates a machine with this document in the project.
fn with(content: impl AsRef<[u8]>) -> Machine {
    let machine = Machine::new();
    machine.write("project/opencode.json", content);
    machine
}

#[test]
fn broken_texts() {
    let syntax = |message: &str, line, column| {
        complaint(DiagnosticKind::Syntax, message, Some((line, column)))
    };
    syntax("Maximum nesting depth exceeded", 1, 513)(&with("[".repeat(100_000)));
    syntax("Unexpected token", 1, 1)(&with("\0"));
    syntax("Unescaped line end or control character in a string", 1, 9)(&with("{\"a\": \"x\0\"}"));
    syntax("Unexpected token", 1, 1)(&with("\u{feff}\u{feff}{}"));
    syntax("The text is not UTF-8", 1, 1)(&with(b"\xff\xfe{\0}\0"));
    syntax("Expected comma", 2, 17)(&with("{\n  \"model\": \"p/m\"\n  \"x\": 1}"));
}

#[test]
fn valid_texts() {
    for content in [
        "",
        "\u{feff}{}",
        " \r\n\t ",
        "// nothing",
        "/* nothing */",
        "{/**/}",
        "{\"shell\": \"a\",}",
        "{\"\": 1, \" \": 2, \"\u{202e}\": 3, \"__proto__\": 4, \"constructor\": 5}",
    ] {
        assert_eq!(complaints(&with(content)), [], "{content:?}");
    }
}

#[test]
fn unreadable_documents() {
    let large = format!("{{\"x\": \"{}\"}}", "a".repeat(10 * 1024 * 1024));
    let io = |message: &str| complaint(DiagnosticKind::Io, message, None);
    io("The file cannot be read: it is larger than 4194304 bytes")(&with(large));

    let machine = Machine::new();
    machine.directory("project/opencode.json");
    io("The file cannot be read: it is not a regular file")(&machine);
}

#[cfg(unix)]
#[test]
fn directories_and_special_files() {
    use std::os::unix::fs::symlink;
    let message = "The file cannot be read: it is not a regular file";
    let pipe = Machine::new();
    pipe.directory("project");
    let path = pipe.path("project/opencode.json");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    complaint(DiagnosticKind::Io, message, None)(&pipe);

    let device = Machine::new();
    device.directory("project");
    symlink("/dev/zero", device.path("project/opencode.json")).unwrap();
    complaint(DiagnosticKind::Io, message, None)(&device);

    let links = Machine::new();
    links.directory("project");
    let file = links.path("project/opencode.json");
    symlink(&file, &file).unwrap();
    let [diagnostic] = &complaints(&links)[..] else {
        panic!("one complaint about the loop");
    };
    assert_eq!(diagnostic.kind, DiagnosticKind::Io);
    assert_eq!(diagnostic.path, file.display().to_string());

    // A dangling link counts as a missing document.
    let dangling = Machine::new();
    dangling.directory("project");
    symlink("nowhere", dangling.path("project/opencode.json")).unwrap();
    assert_eq!(complaints(&dangling), []);
}

#[test]
fn tokens_of_a_document_are_replaced_before_it_is_read() {
    let mut machine = with(
        "{\n  // {file:missing}\n  \"username\": \"{env:NAME}\",\n  \"shell\": \"{file:shell}\",\n  \"snapshots\": {env:SNAPSHOTS}\n}",
    );
    machine.write("project/shell", "/bin/\"zsh\"\n");
    machine.set("NAME", "a\"b");
    machine.set("SNAPSHOTS", "false");
    let configuration = machine.configuration("project", "project", None);
    assert_eq!(configuration.diagnostics, []);
    let settings = configuration.settings;
    assert_eq!(settings.username.as_deref(), Some("a\"b"));
    assert_eq!(settings.shell.as_deref(), Some("/bin/\"zsh\""));
    assert!(!settings.snapshots);
}

#[test]
fn positions_refer_to_the_original_text() {
    let mut machine = with("{\n  \"username\": \"{env:NAME}\", \"shell\": {env:SHELL_NAME}\n}");
    machine.set("NAME", "a very long name indeed");
    machine.set("SHELL_NAME", "5");
    complaint(
        DiagnosticKind::Invalid,
        "shell must be a string, found a number; this value is left out",
        Some((2, 38)),
    )(&machine);
    machine.set("SHELL_NAME", "?");
    complaint(DiagnosticKind::Syntax, "Unexpected token", Some((2, 38)))(&machine);
}

#[test]
fn a_missing_file_removes_only_its_value() {
    let machine = with("{\n  \"shell\": \"x\", \"username\": \"{file:./missing}\"\n}");
    let path = machine
        .path("project")
        .join("./missing")
        .display()
        .to_string();
    let message = format!(
        "username: {{file:./missing}} cannot be replaced with {path}: there is no such file; this value is left out"
    );
    complaint(DiagnosticKind::Substitution, &message, Some((2, 29)))(&machine);
}

#[test]
fn documents_of_the_host_keep_their_values() {
    let mut machine = Machine::new();
    machine.set("NAME", "ada");
    let host = json!({"username": "{env:NAME}"});
    let configuration = machine.configuration("project", "project", Some(&host));
    assert_eq!(
        configuration.settings.username.as_deref(),
        Some("{env:NAME}")
    );
}

#[test]
fn the_number_of_reported_mistakes_is_bounded() {
    let described = |count: usize| {
        let members = (0..count).map(|number| (format!("p{number}"), json!({})));
        Value::Object(members.collect())
    };
    let both = json!({"provider": described(10_000), "providers": described(10_000)});
    let machine = with(both.to_string());
    assert_eq!(complaints(&machine).len(), 50);
}

/// Much more time than needed, and much less than any quadratic algorithm would take.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn large_documents_are_read_quickly() {
    let started = Instant::now();
    let named = |count: usize, value: Value| {
        let members = (0..count).map(|number| (format!("n{number}"), value.clone()));
        Value::Object(members.collect())
    };
    let document = json!({
        "provider": {
            "many": {"models": named(30_000, json!({}))},
            "p": {"options": named(10_000, json!(1)), "models": {"m": {"options": named(10_000, json!(1))}}},
        },
        "disabled_providers": (0..900).map(|number| format!("x{number}*")).collect::<Vec<_>>(),
        "instructions": (0..900).map(|number| format!("{number}.md")).collect::<Vec<_>>(),
        "watcher": {"ignore": (0..900).map(|number| format!("{number}")).collect::<Vec<_>>()},
    });
    let machine = with(document.to_string());
    let configuration = machine.configuration("project", "project", Some(&document));
    assert_eq!(configuration.diagnostics, []);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    assert_eq!(catalogue.models().len(), 30_001);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[test]
fn searched_lists_are_bounded() {
    for (document, key) in [
        (
            json!({"disabled_providers": vec!["x"; 1001]}),
            "disabled_providers",
        ),
        (
            json!({"enabled_providers": vec!["x"; 1001]}),
            "enabled_providers",
        ),
        (
            json!({"watcher": {"ignore": vec!["x"; 1001]}}),
            "watcher.ignore",
        ),
        (json!({"instructions": vec!["x"; 1001]}), "instructions"),
        (
            json!({"commands": (0..1001).map(|it| (it.to_string(), json!({}))).collect::<serde_json::Map<_, _>>()}),
            "commands",
        ),
        (
            json!({"provider": {"p": {"whitelist": vec!["x"; 1001]}}}),
            "provider.p.whitelist",
        ),
        (
            json!({"providers": {"p": {"blacklist": vec!["x"; 1001]}}}),
            "providers.p.blacklist",
        ),
        (
            json!({"provider": {"p": {"env": vec!["x"; 101]}}}),
            "provider.p.env",
        ),
    ] {
        let most = if key.ends_with("env") { 100 } else { 1000 };
        let configuration = Machine::new().configuration("project", "project", Some(&document));
        let messages: Vec<_> = configuration
            .diagnostics
            .iter()
            .map(|it| it.message.clone())
            .collect();
        assert_eq!(
            messages,
            [format!(
                "{key} must have at most {most} members; this value is left out"
            )]
        );
    }
}
