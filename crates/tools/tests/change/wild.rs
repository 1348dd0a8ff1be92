//! Calls that models made on files that people have, one JSON file each in `tests/wild/edits`.
//!
//! `files` are the files before the call, by name: a text, or `{"hex": "..."}`. Either `after` has the files that the
//! call changes, with `null` for a deleted one, or `reason` is a part of the message of the failure, and no file
//! changes. `shows` is a part of the result of a call that only reads. `reported` is where it was reported, as `owner/repo#1`.

use std::{collections::BTreeMap, fs, path::Path};

use crate::project::{Project, text_of};
use opencode_tools::Settlement;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[allow(dead_code, reason = "for readers")]
    about: String,
    #[allow(dead_code, reason = "for readers")]
    reported: String,
    files: BTreeMap<String, Content>,
    tool: String,
    input: Value,
    #[serde(default)]
    after: BTreeMap<String, Option<Content>>,
    reason: Option<String>,
    shows: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Bytes { hex: String },
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Bytes { hex } => {
                let bytes = hex.split_whitespace();
                let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16));
                bytes
                    .collect::<Result<_, _>>()
                    .expect("the digits of bytes")
            }
        }
    }
}

async fn check(name: &str, case: Case) {
    let project = Project::new();
    for (file, content) in &case.files {
        project.put(file, content.bytes());
    }
    let mut expected = project.files();
    let settled = project.run(&case.tool, case.input).await;
    if let Some(shows) = case.shows {
        let Settlement::Success {
            structured,
            content,
            ..
        } = settled
        else {
            panic!("{name}: {settled:?}");
        };
        let shown = format!("{} {content:?}", Value::Object(structured));
        assert!(shown.contains(&shows), "{name}: {shown}");
    } else {
        match (text_of(settled), case.reason) {
            (Ok(_), None) => {}
            (Err(message), Some(reason)) => {
                assert!(message.contains(&reason), "{name}: {message}");
                assert!(
                    case.after.is_empty(),
                    "{name} has a reason, so nothing changes"
                );
            }
            (outcome, _) => panic!("{name}: {outcome:?}"),
        }
    }
    for (file, content) in case.after {
        let file = format!("loc/{file}");
        match content {
            Some(content) => expected.insert(file, content.bytes()),
            None => expected.remove(&file),
        };
    }
    let files = project.files();
    let shown = |files: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let files = files.iter();
        let shown =
            |(name, bytes): (&String, &Vec<u8>)| format!("{name}: {}", bytes.escape_ascii());
        files.map(shown).collect()
    };
    assert_eq!(shown(&files), shown(&expected), "{name}");
}

#[tokio::test]
async fn each_call_of_the_corpus_has_its_outcome() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wild/edits");
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the corpus exists")
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    names.sort();
    assert!(names.len() > 30, "the corpus has {} cases", names.len());
    for path in names {
        let text = fs::read_to_string(&path).expect("it is readable");
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let case: Case =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&name, case).await;
    }
}
