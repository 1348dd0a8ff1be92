//! The file with the list of models, and its replacement by a newer list.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use opencode_handles::Directory;
use opencode_llm::short_hash;
use opencode_schema::clock::Millis;
use serde_json::Value;
use url::Url;

use super::models_dev::{MAX_BYTES, ingest};
use crate::config::object;
use crate::environment::Environment;

/// The variable with the path of a list that the user maintains. It is never replaced.
pub(super) const PATH_VARIABLE: &str = "OPENCODE_MODELS_PATH";

/// The variable with the address before `/api.json`.
const URL_VARIABLE: &str = "OPENCODE_MODELS_URL";

/// The variable that turns downloads off.
const DISABLE_VARIABLE: &str = "OPENCODE_DISABLE_MODELS_FETCH";

/// The usual address before `/api.json`.
const USUAL_URL: &str = "https://models.opencode.ai";

/// Age from which a list is replaced when a host opens.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// The file that a downloaded list replaces.
#[derive(Debug, Clone)]
pub struct ListFile {
    path: PathBuf,
    /// The address of the list.
    pub address: Url,
}

impl ListFile {
    /// Returns the file. `None` if the user turned downloads off or maintains the list, or if there is no directory for
    /// it.
    ///
    /// # Errors
    ///
    /// A text that names the variable with an unusable address.
    pub(crate) fn of(environment: &Environment) -> Result<Option<Self>, String> {
        let is_own = environment.variable(PATH_VARIABLE).is_some();
        if is_own || environment.flag(DISABLE_VARIABLE) {
            return Ok(None);
        }
        let base = environment.variable(URL_VARIABLE).unwrap_or(USUAL_URL);
        let address = Url::parse(&format!("{}/api.json", base.trim_end_matches('/')));
        let address = address
            .ok()
            .filter(|it| matches!(it.scheme(), "http" | "https"));
        let Some(address) = address else {
            return Err(format!("{URL_VARIABLE} is not an address of the web"));
        };
        Ok(path(environment).map(|path| Self { path, address }))
    }

    /// Maximum size of a list in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        usize::try_from(MAX_BYTES).unwrap_or(usize::MAX)
    }

    /// True if the file is missing or older than five minutes. Blocks on disk access.
    #[must_use]
    pub fn is_due(&self, now: Millis) -> bool {
        let modified = fs::metadata(&self.path).and_then(|it| it.modified());
        let Some(modified) = modified
            .ok()
            .and_then(|it| it.duration_since(UNIX_EPOCH).ok())
        else {
            return true;
        };
        let now = Duration::from_millis(u64::try_from(now).unwrap_or(0));
        now.saturating_sub(modified) > FRESH
    }

    /// Replaces the file. Returns false if another host is about to do that. Blocks on disk access.
    ///
    /// # Errors
    ///
    /// A text about a list that is not usable, or a file that cannot be written. The former file stays.
    pub fn replace(&self, content: &[u8]) -> Result<bool, String> {
        check(content)?;
        let failed = |error: io::Error| format!("the list of models cannot be stored: {error}");
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let name = self.path.file_name().unwrap_or_default();
        let folder = Directory::prepare(folder).map_err(failed)?;
        let Some(_held) = self.lock().map_err(failed)? else {
            return Ok(false);
        };
        folder.put_file(name, content, false).map_err(failed)?;
        Ok(true)
    }

    /// Returns the lock of the file until the caller drops it. `None` if another host has it.
    fn lock(&self) -> io::Result<Option<File>> {
        let mut name = self.path.clone().into_os_string();
        name.push(".lock");
        let mut options = OpenOptions::new();
        let file = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The path of the list.
pub(super) fn path(environment: &Environment) -> Option<PathBuf> {
    if let Some(named) = environment.variable(PATH_VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let cache = &environment.cache;
    // Lists of different servers do not replace each other.
    let name = environment.variable(URL_VARIABLE).map_or_else(
        || "models.json".to_owned(),
        |url| format!("models-{}.json", short_hash(url.as_bytes())),
    );
    (!cache.as_os_str().is_empty()).then(|| cache.join(name))
}

/// Refuses a list without a usable model.
fn check(content: &[u8]) -> Result<(), String> {
    let wrong = |problem: &str| format!("the answer is no list of models: {problem}");
    let value: Value = serde_json::from_slice(content).map_err(|_| wrong("it is not JSON"))?;
    let providers = object(&value).map_err(|invalid| wrong(&invalid.to_string()))?;
    let list = ingest("", providers);
    let has_models = |id: &str| list.provider(id).is_some_and(|it| !it.models.is_empty());
    let mut ids = list.heads().map(|(id, _)| id);
    ids.any(has_models)
        .then_some(())
        .ok_or_else(|| wrong("it has no usable model"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn environment(cache: &Path, variables: &[(&str, &str)]) -> Environment {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment {
            cache: cache.to_path_buf(),
            variables: variables.iter().map(own).collect(),
            ..Environment::default()
        }
    }

    fn list() -> Vec<u8> {
        let model = json!({"name": "M", "limit": {"context": 1, "output": 1}});
        let provider = json!({"id": "p", "name": "P", "env": ["P_KEY"], "npm": "@ai-sdk/openai", "models": {"m": model}});
        json!({ "p": provider }).to_string().into_bytes()
    }

    #[test]
    fn variables_name_the_address_and_turn_downloads_off() {
        let cache = Path::new("/cache");
        let of = |variables: &[(&str, &str)]| ListFile::of(&environment(cache, variables));
        let usual = of(&[]).unwrap().unwrap();
        assert_eq!(
            usual.address.as_str(),
            "https://models.opencode.ai/api.json"
        );
        assert_eq!(usual.path, cache.join("models.json"));
        let own = of(&[(URL_VARIABLE, "http://localhost:1/x/")])
            .unwrap()
            .unwrap();
        assert_eq!(own.address.as_str(), "http://localhost:1/x/api.json");
        assert_ne!(own.path, usual.path);
        assert!(of(&[(DISABLE_VARIABLE, "1")]).unwrap().is_none());
        assert!(of(&[(PATH_VARIABLE, "/list.json")]).unwrap().is_none());
        assert!(
            of(&[(URL_VARIABLE, "file:///etc")])
                .unwrap_err()
                .contains(URL_VARIABLE)
        );
        assert!(
            ListFile::of(&environment(Path::new(""), &[]))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_file_is_replaced_by_a_usable_list_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = ListFile::of(&environment(&folder.path().join("cache"), &[]));
        let file = file.unwrap().unwrap();
        let now = |seconds: u64| {
            let now = UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(seconds);
            now.as_millis() as Millis
        };
        assert!(file.is_due(now(0)));
        assert_eq!(file.replace(&list()), Ok(true));
        assert_eq!(fs::read(&file.path).unwrap(), list());
        assert!(!file.is_due(now(0)) && !file.is_due(now(200)) && file.is_due(now(400)));
        for wrong in [
            "",
            "[]",
            "{}",
            r#"{"p": 1}"#,
            r#"{"p": {"models": {"m": 1}}}"#,
        ] {
            assert!(file.replace(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert_eq!(fs::read(&file.path).unwrap(), list());
        let held = file.lock().unwrap();
        assert_eq!(file.replace(&list()), Ok(false));
        drop(held);
        assert_eq!(file.replace(&list()), Ok(true));
    }
}
