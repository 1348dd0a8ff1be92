//! Decides if the content of a file may be shown to the model.
//!
//! Every tool that shows content asks here, for each file once, by all names of the file.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use opencode_location::directory::{HardLinks, Target, hard_link_names};
use opencode_schema::permission::PermissionEffect;
use parking_lot::Mutex;

use super::blocking::blocking;
use super::paths::request_for_files;
use crate::contract::folders::SessionOutputs;
use crate::contract::tool::ToolContext;
use crate::failure::ToolFailure;
use crate::ports::permission::{ActionRules, PermissionRequest};

/// The action of reading a file.
const READ: &str = "read";

/// The reason of a question about a file with hard links in a large project.
const UNKNOWN_NAMES: &str =
    "The file has other names (hard links), and the project has too many files to find them.";

/// Returns the request to show the content of a file to the model.
pub(crate) async fn request_to_show(
    context: &ToolContext,
    target: &Target,
) -> Result<PermissionRequest, ToolFailure> {
    let (location, file) = (
        Arc::clone(&context.files.directory),
        target.canonical.clone(),
    );
    let names = blocking(move || hard_link_names(&location, &file)).await?;
    Ok(request_to_show_by(context, target, names))
}

/// Returns the same request, with what `hard_link_names` found.
pub(crate) fn request_to_show_by(
    context: &ToolContext,
    target: &Target,
    hard_links: Option<Vec<String>>,
) -> PermissionRequest {
    let mut request = request_for_files(context, READ, [target]);
    match hard_links {
        Some(names) => {
            let others = request.other_names.entry(target.resource.clone());
            others.or_default().extend(names);
        }
        None => {
            request.given_only.insert(target.resource.clone());
            request
                .metadata
                .insert("reason".to_owned(), UNKNOWN_NAMES.into());
        }
    }
    request
}

/// True if the content of a file may be shown without a question.
pub(crate) async fn may_be_shown(
    context: &ToolContext,
    target: &Target,
) -> Result<bool, ToolFailure> {
    let request = request_to_show(context, target).await?;
    if !request.given_only.is_empty() {
        return Ok(false);
    }
    let others = request.other_names.get(&target.resource);
    let others = others.map_or(&[][..], Vec::as_slice).to_vec();
    let rules = context.permissions.rules(request).await;
    Ok(rules.effect(&target.resource, &others) == PermissionEffect::Allow)
}

/// Decides about the files that one search finds below a directory. Files that the rules do not let the model read
/// without a question are left out and counted. A file is judged before it is opened: the number must not tell what it
/// contains.
pub(crate) struct ShownFiles {
    rules: Arc<dyn ActionRules>,
    location: Arc<Path>,
    /// The resource of the directory.
    root: String,
    /// Its other names.
    other_roots: Vec<String>,
    /// The directory of the search, without links.
    directory: PathBuf,
    outputs: SessionOutputs,
    /// The directory of these files, without links.
    real_outputs: OnceLock<PathBuf>,
    /// The rules for Managed Tool Output Files of other session trees.
    of_others: Arc<dyn ActionRules>,
    /// The other names of files with several ones, once such a file is found.
    hard_links: OnceLock<HardLinks>,
    /// The effect on each file with several names.
    by_identity: Mutex<HashMap<(u64, u64), PermissionEffect>>,
    denied: AtomicUsize,
    asking: AtomicUsize,
}

impl ShownFiles {
    pub(crate) async fn below(context: &ToolContext, directory: &Target) -> Self {
        let request = request_for_files(context, READ, [directory]);
        let mut outside = context.permission_request("external_directory", Vec::new());
        outside.given_only.insert(directory.resource.clone());
        Self {
            rules: context.permissions.rules(request).await,
            location: Arc::clone(&context.files.directory),
            root: directory.resource.clone(),
            other_roots: directory.other_names.clone(),
            directory: directory.canonical.clone(),
            outputs: context.files.folders.outputs.clone(),
            real_outputs: OnceLock::new(),
            of_others: context.permissions.rules(outside).await,
            hard_links: OnceLock::new(),
            by_identity: Mutex::default(),
            denied: AtomicUsize::new(0),
            asking: AtomicUsize::new(0),
        }
    }

    /// True if the file at a path relative to the directory may be shown by its names. Counts it if not.
    pub(crate) fn allows(&self, path: &Path) -> bool {
        let (name, others) = self.names(path);
        let effect = self.rules.effect(&name, &others);
        self.count(effect.stricter(self.of_output(path)))
    }

    /// Returns the effect of the rules about Managed Tool Output Files of others.
    fn of_output(&self, path: &Path) -> PermissionEffect {
        let file = self.directory.join(path);
        let directory = self.real_outputs.get_or_init(|| {
            let directory = &self.outputs.directory;
            fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf())
        });
        if !file.starts_with(directory) || self.outputs.wrote(&file) {
            return PermissionEffect::Allow;
        }
        self.of_others.effect(&file.to_string_lossy(), &[])
    }

    /// True if the open file may be shown by its other names, too. Counts it if not.
    pub(crate) fn allows_open(&self, file: &File) -> bool {
        let found = file.metadata();
        let effect = found.map_or(PermissionEffect::Ask, |found| self.by_links(&found));
        self.count(effect)
    }

    fn by_links(&self, found: &Metadata) -> PermissionEffect {
        let Some(identity) = HardLinks::identity(found) else {
            return PermissionEffect::Allow;
        };
        let known = self.by_identity.lock().get(&identity).copied();
        known.unwrap_or_else(|| {
            let effect = self.of_links(found);
            self.by_identity.lock().insert(identity, effect);
            effect
        })
    }

    /// Returns the strictest effect on any name of a file with several ones.
    fn of_links(&self, found: &Metadata) -> PermissionEffect {
        let links = self
            .hard_links
            .get_or_init(|| HardLinks::below(&self.location));
        let Some(names) = links.names_of(&self.location, found) else {
            return PermissionEffect::Ask;
        };
        let effects = names.iter().map(|names| {
            let [name, absolute] = names;
            self.rules.effect(name, std::slice::from_ref(absolute))
        });
        effects.fold(PermissionEffect::Allow, PermissionEffect::stricter)
    }

    /// Returns the resource of a file and its other names by links on the path of the search.
    fn names(&self, path: &Path) -> (String, Vec<String>) {
        let path = path.to_string_lossy();
        let path = if cfg!(windows) {
            path.replace('\\', "/").into()
        } else {
            path
        };
        let below = |root: &String| match root.as_str() {
            "." => path.clone().into_owned(),
            root => format!("{}/{path}", root.trim_end_matches('/')),
        };
        let others = self.other_roots.iter().map(below);
        (below(&self.root), others.collect())
    }

    fn count(&self, effect: PermissionEffect) -> bool {
        let counter = match effect {
            PermissionEffect::Allow => return true,
            PermissionEffect::Ask => &self.asking,
            PermissionEffect::Deny => &self.denied,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Returns the sentences about the files that were left out, for the end of a result.
    pub(crate) fn left_out(&self) -> String {
        let mut text = String::new();
        let files = |count: usize| match count {
            1 => "1 file was".to_owned(),
            count => format!("{count} files were"),
        };
        let denied = self.denied.load(Ordering::Relaxed);
        if denied > 0 {
            let files = files(denied);
            text.push_str(&format!(
                "\n\n({files} left out of the search, because a permission rule denies reading.)"
            ));
        }
        let asking = self.asking.load(Ordering::Relaxed);
        if asking > 0 {
            let files = files(asking);
            text.push_str(&format!(
                "\n\n({files} left out of the search, because the user has to be asked before reading. \
                 To ask about one, give its path as `path`.)"
            ));
        }
        text
    }
}
