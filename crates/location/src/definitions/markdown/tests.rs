use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// Returns the fields, the body, and the diagnostics as text.
fn parse(text: impl AsRef<[u8]>) -> (Value, String, Vec<String>) {
    let mut diagnostics = Vec::new();
    let file = Markdown::parse(Path::new("f.md"), text.as_ref(), &mut diagnostics);
    let shown = diagnostics.iter().map(ToString::to_string).collect();
    match file {
        Some(file) => (file.fields, file.body, shown),
        None => (Value::Null, String::new(), shown),
    }
}

#[test]
fn front_matter_and_text_are_separated() {
    for (text, fields, body) in [
        ("", json!({}), ""),
        ("just text\n", json!({}), "just text\n"),
        ("---\na: 1\n---\ntext\n", json!({"a": 1}), "text\n"),
        (
            "---\r\na: 1\r\n---\r\ntext\r\n",
            json!({"a": 1}),
            "text\r\n",
        ),
        ("\u{feff}---\na: 1\n---\ntext", json!({"a": 1}), "text"),
        ("--- \na: 1\n---  \n\n text", json!({"a": 1}), "\n text"),
        ("---\na: 1\n---", json!({"a": 1}), ""),
        ("---\n---\ntext", json!({}), "text"),
        ("---\n# nothing yet\n---\ntext", json!({}), "text"),
        ("---\na: 1\n---\nb\n---\nc", json!({"a": 1}), "b\n---\nc"),
        ("----\na: 1\n-----\nb", json!({"a": 1}), "b"),
        ("--\na: 1\n--\n", json!({}), "--\na: 1\n--\n"),
        ("--- yaml\na: 1\n---\nb", json!({"a": 1}), "b"),
        ("---json\n{\"a\": 1}\n---\nb", json!({"a": 1}), "b"),
        (
            "<!-- a -->\n<!--\nb\n-->\n\n---\na: 1\n---\nc",
            json!({"a": 1}),
            "c",
        ),
        (
            "<!-- a\n---\na: 1\n---\n",
            json!({}),
            "<!-- a\n---\na: 1\n---\n",
        ),
        ("+++\na = 1\n", json!({}), "+++\na = 1\n"),
        ("\n \n---\na: 1\n---\ntext", json!({"a": 1}), "text"),
        ("\n text\n---\n", json!({}), "\n text\n---\n"),
        ("---a: 1\n---\n", json!({}), "---a: 1\n---\n"),
    ] {
        assert_eq!(parse(text), (fields, body.to_owned(), vec![]), "{text:?}");
    }
}

#[test]
fn common_yaml_is_read() {
    for (front, fields) in [
        (
            "model: p/m#high\nsteps: 5\nhidden: true\nx: null\ny:\nz: ~",
            json!({"model": "p/m#high", "steps": 5, "hidden": true, "x": null, "y": null, "z": null}),
        ),
        (
            "permission:\n  bash:\n    \"git *\": allow\n    \"*\": ask\n  edit: deny",
            json!({"permission": {"bash": {"git *": "allow", "*": "ask"}, "edit": "deny"}}),
        ),
        ("color: \"#00ff00\"", json!({"color": "#00ff00"})),
        (
            "description: |\n  two\n  lines",
            json!({"description": "two\nlines\n"}),
        ),
        (
            "description: >\n  one\n  line",
            json!({"description": "one line\n"}),
        ),
        ("tools: [a, b]", json!({"tools": ["a", "b"]})),
        // Only `true` and `false` are booleans; all other words are texts.
        (
            "name: on\nother: yes",
            json!({"name": "on", "other": "yes"}),
        ),
        ("a: &x [1, 2]\nb: *x", json!({"a": [1, 2], "b": [1, 2]})),
        // An unquoted value with a colon is not valid YAML, but its meaning is clear.
        (
            "name: x\ndescription: Use this: always\nmodel: p/m:free",
            json!({"name": "x", "description": "Use this: always", "model": "p/m:free"}),
        ),
        (
            "description: Use this: always\n  and: more",
            json!({"description": "Use this: always and: more"}),
        ),
        (
            "description: a: b\nurl: \"http://x: y\"\nnested:\n  c: d",
            json!({"description": "a: b", "url": "http://x: y", "nested": {"c": "d"}}),
        ),
    ] {
        let text = format!("---\n{front}\n---\ntext");
        assert_eq!(parse(&text), (fields, "text".to_owned(), vec![]), "{front}");
    }
}

#[test]
fn a_text_without_quotes_is_read_as_it_is() {
    for text in [
        "@mention first",
        "`code` first",
        "%date first",
        "[beta] Does things",
        "{draft} Does things",
        "*bold* first",
        "**bold** first",
        "- not a list",
        "\"Quoted\" and more: text",
        "'Quoted' and more: text",
        "| a table |",
        "> a quotation: with a colon",
        "& more: things",
        "! careful: hot",
        "Ends with a colon:",
        "50%: half",
        "See a: b: c",
        "\u{e9}t\u{e9}: \u{1f600}",
    ] {
        for (front, fields) in [
            (
                format!("name: x\ndescription: {text}\nmode: y"),
                json!({"name": "x", "description": text, "mode": "y"}),
            ),
            (
                format!("description: {text}\n  goes: on\n\n  below"),
                json!({"description": format!("{text} goes: on\nbelow")}),
            ),
            (
                format!("description:\n  {text}\nmode: y"),
                json!({"description": text, "mode": "y"}),
            ),
            (
                format!("nested:\n  a: 1\n  b: {text}\n  c: z"),
                json!({"nested": {"a": 1, "b": text, "c": "z"}}),
            ),
        ] {
            let file = format!("---\n{front}\n---\ntext");
            let (found, _, complaints) = parse(&file);
            // Valid YAML keeps its meaning.
            if front_matter::is_yaml(&front) {
                continue;
            }
            assert_eq!((found, complaints), (fields, vec![]), "{front}");
        }
    }
    let skill = "name: stress\ndescription:\n  Tests the plan under stress.\n  Works with the design skill: questions first,\n  then build.";
    let (fields, ..) = parse(format!("---\n{skill}\n---\nbody\n"));
    let description =
        "Tests the plan under stress. Works with the design skill: questions first, then build.";
    assert_eq!(
        fields,
        json!({"name": "stress", "description": description})
    );
    let (fields, ..) = parse("---\nfiles:\n  - a\n  - @b/c\n  - `d`\n---\n");
    assert_eq!(fields, json!({"files": ["a", "@b/c", "`d`"]}));
}

#[test]
fn invalid_front_matter_is_text_and_reported_with_its_position() {
    for (text, complaint) in [
        (
            "---\na: 1\ntext",
            "f.md:1:1: The front matter has no end; put a line `---` below it",
        ),
        (
            "---\na: 1\nb: [1, 2\n---\ntext",
            "f.md:3:4: The front matter is not YAML: unclosed bracket '['",
        ),
        (
            "---\na: 1\nb: \"x\n---\ntext",
            "f.md:4:1: The front matter is not YAML: invalid indentation in multiline quoted scalar",
        ),
        (
            "<!-- a -->\n\n---\na: *b\n---\ntext",
            "f.md:4:4: The front matter is not YAML: reference to unknown value",
        ),
        (
            "+++\na = 1\n+++\ntext",
            "f.md:1:1: The front matter is TOML; write it as YAML between two lines `---`",
        ),
        (
            "---\na: *b\n---\ntext",
            "f.md:2:4: The front matter is not YAML: reference to unknown value",
        ),
        (
            "---\n- a\n- b\n---\ntext",
            "f.md:2:1: The front matter must be fields, each as `name: value`",
        ),
        (
            "---\ntext\n---\ntext",
            "f.md:2:1: The front matter must be fields, each as `name: value`",
        ),
        (
            "---\na: .inf\n---\ntext",
            "f.md:2:4: The front matter is not YAML: value `.inf` is not a finite number",
        ),
    ] {
        let complaint = format!("{complaint}; everything counts as the text");
        assert_eq!(
            parse(text),
            (json!({}), text.to_owned(), vec![complaint]),
            "{text}"
        );
    }
}

/// Front matter in which every line doubles the previous one.
fn bomb() -> String {
    let lines = (1..40).map(|it| format!("a{it}: &a{it} [*a{}, *a{}]\n", it - 1, it - 1));
    format!("a0: &a0 [x, x]\n{}", lines.collect::<String>())
}

#[test]
fn hostile_front_matter_takes_linear_time() {
    let many: String = (0..5_000).map(|it| format!("k{it}: v\n")).collect();
    let too_much = "The front matter has more fields or references than settings need";
    let too_deep = "The front matter is not YAML: recursion limit exceeded";
    for (front, complaint) in [
        (bomb(), too_much),
        (many, too_much),
        (
            "x".repeat(65 * 1024),
            "The front matter is larger than 65536 bytes",
        ),
        (format!("a: {}", "[".repeat(30_000)), too_deep),
        (format!("a:\n  {}", "{b: ".repeat(10_000)), too_deep),
        ("? ".repeat(10_000), too_much),
        ("- ".repeat(10_000), too_much),
    ] {
        let began = std::time::Instant::now();
        let text = format!("---\n{front}\n---\ntext");
        let (fields, body, complaints) = parse(&text);
        assert!(began.elapsed().as_secs() < 5, "{front:.40}");
        let [found] = &complaints[..] else {
            panic!("one complaint about {front:.40}: {complaints:?}");
        };
        let (_, message) = found.split_once(": ").unwrap();
        let expected = format!("{complaint}; everything counts as the text");
        assert_eq!((message, fields, body), (&*expected, json!({}), text));
    }
}

#[test]
fn text_that_is_not_utf8_is_omitted_and_reported_with_its_position() {
    assert_eq!(
        parse(b"---\na: 1\n---\n\xc3\xa4\xff"),
        (
            Value::Null,
            String::new(),
            vec!["f.md:4:2: The text is not UTF-8; the whole file is left out".to_owned()]
        )
    );
}

#[test]
fn every_fragment_of_a_file_is_parsed_without_a_panic() {
    let text = "---\r\na: \"ä\" # c\nb: [1, {c: &x d}]\n'e f': |\n  g: *x\nh: i: j\n---\nk";
    for (start, _) in text.char_indices() {
        for (end, _) in text[start..].char_indices() {
            parse(&text[start..start + end]);
        }
    }
}

#[test]
fn a_wrong_field_is_reported_with_its_line() {
    let mut diagnostics = Vec::new();
    let text = b"---\nname: x\n\"steps\" : none\n---\ntext";
    let file = Markdown::parse(Path::new("f.md"), text, &mut diagnostics).unwrap();
    let read = |value: &Value| -> Decoded<Option<String>> {
        match value.get("steps") {
            Some(_) => Err(crate::config::Invalid::new("is odd").at("steps")),
            None => Ok(value["name"].as_str().map(str::to_owned)),
        }
    };
    let fields = file.decode(read, &mut diagnostics).unwrap();
    assert_eq!(fields.value.as_deref(), Some("x"));
    let said = "f.md:3:1: steps is odd; this value is left out";
    let steps = vec![crate::config::Step::Key("steps".to_owned())];
    assert_eq!(fields.lost, [(steps, said.to_owned())]);
    let [diagnostic] = &diagnostics[..] else {
        panic!("{diagnostics:?}")
    };
    assert_eq!(diagnostic.to_string(), said);
}
