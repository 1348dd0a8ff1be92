//! Reads the keys of a document and handles values that cannot be read.

use std::path::Path;

use serde_json::Value;

use super::decode::{self, Decoded, Invalid};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::discovery::Layer;
use super::document::{Document, Draft, Outcome, Problem, Read, untrusted};
use super::jsonc::Position;
use super::keys;
use super::policy::Policy;
use super::pruned::{Pruned, texts_with};
use super::step::Step;
use super::substitution::Refused;
use super::unreadable_permissions::{UnreadablePermissions, misspelt_keys};

/// A document during reading.
pub(super) struct Reading<'r> {
    pub layer: &'r Layer<'r>,
    pub origin: &'r str,
    /// Returns the position of the value at the end of a path.
    pub locate: &'r dyn Fn(&[Step]) -> Option<Position>,
    /// Returns the reason why the tokens in a text were refused.
    pub refusal: &'r dyn Fn(&str) -> Option<Refused>,
}

impl Reading<'_> {
    /// Reads all keys. If a value cannot be read, removes it and reads the remaining document again.
    pub(super) fn decode(&self, value: Value) -> Outcome {
        let mut read = Read::default();
        let mut pruned = Pruned::new(value);
        self.take_refused(&mut pruned, &mut read);
        self.take_misspelt(&mut pruned, &mut read);
        let mut denies_providers = false;
        loop {
            let locate = |path: &[Step]| (self.locate)(&pruned.original(path));
            let mut draft = Draft {
                document: Document {
                    origin: self.origin.to_owned(),
                    base: self.layer.base.clone(),
                    source: self.layer.source,
                    ..Document::default()
                },
                locate: &locate,
                notes: Vec::new(),
            };
            let invalid = match read_keys(&mut draft, pruned.value()) {
                Ok(()) => {
                    let policies = &mut draft.document.policies;
                    policies.extend(denies_providers.then(Policy::none));
                    *read.document = draft.document;
                    read.diagnostics.extend(draft.notes);
                    read.diagnostics.iter().for_each(Diagnostic::log);
                    return Outcome::Usable(read);
                }
                Err(invalid) => invalid,
            };
            let path = invalid.path();
            let invalid = invalid.about(&pruned.original(&path));
            let removed = pruned.remove(&path);
            if removed.is_empty() {
                return Outcome::Broken(self.broken(&invalid));
            }
            let message = invalid.to_string();
            self.report_removed(&removed, DiagnosticKind::Invalid, message, &mut read);
            // Permission rules cannot ask before the use of a provider, so all providers are denied instead.
            denies_providers |= is_about_providers(&removed);
        }
    }

    fn broken(&self, invalid: &Invalid) -> Problem {
        Problem {
            origin: self.origin.to_owned(),
            kind: DiagnosticKind::Invalid,
            position: (self.locate)(&[]),
            message: invalid.to_string(),
            keeps_previous: true,
        }
    }

    /// Removes the values that contain a refused token.
    fn take_refused(&self, pruned: &mut Pruned, read: &mut Read) {
        for (path, refused) in texts_with(pruned.value(), &self.refusal) {
            let removed = pruned.remove(&path);
            if removed.is_empty() {
                continue;
            }
            let place = Invalid::new(String::new()).about(&removed).place();
            let message = format!("{place}: {}", refused.message);
            let (kind, message) = match refused.is_withheld {
                true => (DiagnosticKind::Ignored, untrusted(&message)),
                false => (DiagnosticKind::Substitution, message),
            };
            self.report_removed(&removed, kind, message, read);
        }
    }

    /// Removes the keys that are probably misspelt keys for permissions or agents.
    fn take_misspelt(&self, pruned: &mut Pruned, read: &mut Read) {
        let Some(root) = pruned.value().as_object() else {
            return;
        };
        for (path, meant) in misspelt_keys(root) {
            let name = path.iter().filter_map(Step::key).collect::<Vec<_>>();
            let message = format!(
                "There is no key {}; {meant} is probably meant",
                name.join(".")
            );
            let removed = pruned.remove(&path);
            if removed.is_empty() {
                continue;
            }
            let diagnostic = self.diagnostic(&removed, DiagnosticKind::Ignored, message);
            let agent = removed.get(1).and_then(Step::key).map(str::to_owned);
            let lost = UnreadablePermissions {
                agent,
                ..UnreadablePermissions::everything(String::new())
            };
            self.report_lost(Some(lost), diagnostic, read);
        }
    }

    /// Reports a removed value and the permissions that it could contain.
    fn report_removed(
        &self,
        path: &[Step],
        kind: DiagnosticKind,
        message: String,
        read: &mut Read,
    ) {
        let message = message + "; this value is left out";
        let diagnostic = self.diagnostic(path, kind, message);
        self.report_lost(
            UnreadablePermissions::at(path, String::new()),
            diagnostic,
            read,
        );
    }

    fn report_lost(
        &self,
        lost: Option<UnreadablePermissions>,
        mut diagnostic: Diagnostic,
        read: &mut Read,
    ) {
        if let Some(mut lost) = lost {
            diagnostic.message += &lost.consequence();
            lost.reason = diagnostic.to_string();
            lost.file = self.layer.place.file().map(Path::to_owned);
            read.lost.push(lost);
        }
        read.diagnostics.push(diagnostic);
    }

    fn diagnostic(&self, path: &[Step], kind: DiagnosticKind, message: String) -> Diagnostic {
        Diagnostic::new(self.origin, kind, message, (self.locate)(path))
    }
}

fn is_about_providers(path: &[Step]) -> bool {
    let keys: Vec<_> = path.iter().take(2).map(Step::key).collect();
    matches!(
        keys.as_slice(),
        [Some("enabled_providers" | "disabled_providers"), ..]
            | [Some("experimental")]
            | [Some("experimental"), Some("policies")]
    )
}

fn read_keys(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
    let root = decode::object(value)?;
    for key in keys::KEYS {
        if let Some(value) = root.get(key.name) {
            key.read(draft, root, value)
                .map_err(|invalid| invalid.at(key.name))?;
        }
    }
    keys::report_unknown(draft, root);
    Ok(())
}
