//! The files of the corpus.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// One or more places where a quirk was reported.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Reports {
    One(String),
    Many(Vec<String>),
}

/// The members that every file has.
#[derive(serde::Deserialize)]
struct Heading {
    about: String,
    reported: Reports,
}

/// Returns the frames of the answers in a folder, with the names of their files.
pub(crate) fn frames_of(folder: &str) -> Vec<(String, Vec<Value>)> {
    #[derive(serde::Deserialize)]
    struct Frames {
        frames: Vec<Value>,
    }
    let answers = files(folder).into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let frames: Frames = serde_json::from_str(&text).unwrap();
        (path.display().to_string(), frames.frames)
    });
    answers.collect()
}

/// Checks every file of a folder. Names all files that fail.
pub(crate) fn check_each<T: DeserializeOwned>(
    folder: &str,
    check: impl Fn(T) -> Result<(), String>,
) {
    let failures: Vec<String> = files(folder)
        .iter()
        .filter_map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let failure = check_file(path, &check).err()?;
            Some(format!("{name}: {failure}"))
        })
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/wild")
        .join(folder);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

fn check_file<T: DeserializeOwned>(
    path: &Path,
    check: impl Fn(T) -> Result<(), String>,
) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let heading: Heading = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let reports = match heading.reported {
        Reports::One(report) => vec![report],
        Reports::Many(reports) => reports,
    };
    if heading.about.is_empty() || reports.is_empty() || !reports.iter().all(|it| is_report(it)) {
        return Err(
            "`about` must be a sentence, and `reported` a place as owner/repo#1 or https://"
                .to_owned(),
        );
    }
    check(serde_json::from_str(&text).map_err(|error| error.to_string())?)
}

/// True for an issue or a pull request as `owner/repo#1`, and for the address of a page. `like` marks a variation of
/// what was reported there.
fn is_report(text: &str) -> bool {
    let text = text.strip_prefix("like ").unwrap_or(text);
    let is_thread = text.split_once('#').is_some_and(|(repository, number)| {
        repository
            .split('/')
            .filter(|part| !part.is_empty())
            .count()
            == 2
            && number.parse::<u32>().is_ok()
    });
    is_thread || text.starts_with("https://")
}
