//! Writes the files that are generated from the contract and from the declarations of the configuration and the
//! options, or lists the stale ones.
//!
//! An emitter owns a file or a folder. A file in its folder that the emitter no longer writes is
//! also stale, and is removed.

use std::path::Path;
use std::{fs, io};

use opencode_protocol::contract::{Contract, compile};
use opencode_protocol::decode::generate_schemas;
use opencode_protocol::openapi;
use opencode_protocol::operations::OPERATIONS;

use crate::{declared, promise, reference};

/// The error of a failed generation.
pub(crate) type Error = Box<dyn std::error::Error>;

/// A generated file.
struct Output {
    /// Path from the root of the repository.
    path: String,
    /// The content, or `None` if the file must not exist.
    content: Option<Vec<u8>>,
}

impl Output {
    fn file(path: &str, text: String) -> Self {
        Self {
            path: path.to_owned(),
            content: Some(text.into_bytes()),
        }
    }
}

/// Writes the stale files and returns their paths.
pub(crate) fn write(root: &Path) -> Result<Vec<String>, Error> {
    let changes = changes(root)?;
    for change in &changes {
        let path = root.join(&change.path);
        match &change.content {
            Some(content) => {
                fs::create_dir_all(path.parent().unwrap_or(root))?;
                fs::write(path, content)?;
            }
            None => fs::remove_file(path)?,
        }
    }
    Ok(paths(changes))
}

/// The paths of the stale files.
pub(crate) fn stale(root: &Path) -> Result<Vec<String>, Error> {
    Ok(paths(changes(root)?))
}

fn paths(outputs: Vec<Output>) -> Vec<String> {
    outputs.into_iter().map(|output| output.path).collect()
}

/// The files that must be written or removed.
fn changes(root: &Path) -> Result<Vec<Output>, Error> {
    let contract = compile(OPERATIONS)?;
    let ir = serde_json::to_string_pretty(&contract)? + "\n";
    let mut outputs = vec![
        Output::file("crates/protocol/contract.json", ir),
        Output::file(
            "crates/protocol/request-schemas.json",
            generate_schemas(OPERATIONS),
        ),
        Output::file("docs/api.md", reference::emit(&contract)?),
        Output::file("opencode.schema.json", declared::schema()),
    ];
    outputs.extend(document(root, &contract)?);
    for page in declared::pages() {
        let text = read(&root.join(page.path))?.unwrap_or_default();
        let text = String::from_utf8(text)?;
        outputs.push(Output::file(page.path, page.fill(text)?));
    }
    outputs.extend(folder(
        root,
        "src/client/generated",
        promise::emit(&contract)?,
    )?);
    outputs.extend(folder(root, "src/host/generated", declared::types())?);
    let mut changes = Vec::new();
    for output in outputs {
        if read(&root.join(&output.path))? != output.content {
            changes.push(output);
        }
    }
    Ok(changes)
}

/// The compressed OpenAPI document, if it is stale. Versions of the compressor may write other bytes for the same text.
fn document(root: &Path, contract: &Contract) -> Result<Option<Output>, Error> {
    let path = "crates/protocol/openapi.json.deflate";
    let written = read(&root.join(path))?;
    let written = written.and_then(|bytes| openapi::decompress(&bytes).ok());
    let text = openapi::emit(contract).to_string();
    if written.as_deref() == Some(&text) {
        return Ok(None);
    }
    Ok(Some(Output {
        path: path.to_owned(),
        content: Some(openapi::compress(contract)?),
    }))
}

/// The files of one emitter, and the other files in its folder, which must be removed.
fn folder(root: &Path, folder: &str, files: promise::Files) -> Result<Vec<Output>, Error> {
    let is_known = |name: &str| files.iter().any(|(known, _)| *known == name);
    let mut outputs = Vec::new();
    for entry in entries(&root.join(folder))? {
        if !is_known(&entry) {
            outputs.push(Output {
                path: format!("{folder}/{entry}"),
                content: None,
            });
        }
    }
    let files = files.into_iter();
    outputs.extend(files.map(|(name, text)| Output::file(&format!("{folder}/{name}"), text)));
    Ok(outputs)
}

fn entries(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the documents with empty places for their tables.
    fn write_pages(root: &Path) {
        fs::create_dir(root.join("docs")).unwrap();
        for page in declared::pages() {
            let place =
                |(name, _): &(&str, _)| format!("<!-- generated: {name} -->\n\n<!-- end -->\n");
            let text: String = page.tables.iter().map(place).collect();
            fs::write(root.join(page.path), text).unwrap();
        }
    }

    #[test]
    fn stale_files_are_listed_written_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write_pages(root);
        let all = [
            "crates/protocol/contract.json",
            "crates/protocol/request-schemas.json",
            "docs/api.md",
            "opencode.schema.json",
            "crates/protocol/openapi.json.deflate",
            "docs/configuration.md",
            "docs/options.md",
            "docs/serving.md",
            "src/client/generated/operations.ts",
            "src/client/generated/guards.ts",
            "src/client/generated/guards.mts",
            "src/client/generated/types.ts",
            "src/host/generated/config.ts",
            "src/host/generated/options.ts",
            "src/host/generated/checks.ts",
        ];
        assert_eq!(stale(root).unwrap(), all);
        assert_eq!(fs::read_dir(root).unwrap().count(), 1);
        assert_eq!(write(root).unwrap(), all);
        assert!(stale(root).unwrap().is_empty());
        assert!(write(root).unwrap().is_empty());

        let changed = root.join("src/client/generated/types.ts");
        let left = root.join("src/client/generated/old.ts");
        fs::write(&changed, "changed").unwrap();
        fs::write(&left, "").unwrap();
        let two = [
            "src/client/generated/old.ts",
            "src/client/generated/types.ts",
        ];
        assert_eq!(stale(root).unwrap(), two);
        assert_eq!(fs::read_to_string(&changed).unwrap(), "changed");
        assert_eq!(write(root).unwrap(), two);
        assert!(!left.exists());
        assert!(stale(root).unwrap().is_empty());
    }
}
