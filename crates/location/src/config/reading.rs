//! Reads the keys of a document and handles values that cannot be read.

use std::path::Path;

use opencode_declaration::configuration;
use opencode_declaration::vocabulary::{Kind, Restricts};
use serde_json::Value;

use super::agent::AgentPatch;
use super::decode::{self, Decoded, Invalid};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::discovery::Layer;
use super::document::{Document, Draft, EarlierRules, Outcome, Problem, Read, untrusted};
use super::jsonc::Position;
use super::keys;
use super::policy::Policy;
use super::pruned::{Pruned, texts_with};
use super::repeated::{self, Repeats};
use super::settings::Share;
use super::step::Step;
use super::substitution::Refused;
use super::unreadable_permissions::{UnreadablePermissions, declared, misspelt_keys, restricts};

/// A document during reading.
pub(super) struct Reading<'r> {
    pub layer: &'r Layer<'r>,
    pub origin: &'r str,
    /// Returns the position of the value at the end of a path.
    pub locate: &'r dyn Fn(&[Step]) -> Option<Position>,
    /// Returns the reason why the tokens in a text were refused.
    pub refusal: &'r dyn Fn(&str) -> Option<Refused>,
}

/// The keys of a text that stand twice.
pub(super) struct Repeated<'r> {
    pub repeats: Repeats<usize>,
    /// Returns the document of a text, which may be the value of one key.
    pub under_key: &'r dyn Fn(Value) -> Value,
    /// The key whose value the text is.
    pub key: Option<&'static str>,
    /// Returns the position of a byte of the text.
    pub position: &'r dyn Fn(usize) -> Position,
}

impl Reading<'_> {
    /// Reads all keys. If a value cannot be read, removes it and reads the remaining document again. Of a key that stands
    /// twice, the last value holds, and the earlier ones restrict.
    pub(super) fn decode(&self, value: Value, repeated: Option<&Repeated<'_>>) -> Outcome {
        let mut outcome = self.decode_once(value);
        if let Outcome::Usable(read) = &mut outcome {
            if let Some(repeated) = repeated {
                self.take_repeated(repeated, read);
            }
            read.diagnostics.iter().for_each(Diagnostic::log);
        }
        outcome
    }

    fn take_repeated(&self, repeated: &Repeated<'_>, read: &mut Read) {
        let Repeated { repeats, .. } = repeated;
        for repeat in &repeats.found {
            let key = repeated.key.map(|key| Step::Key(key.to_owned()));
            let path: Vec<_> = key.into_iter().chain(repeat.path.iter().cloned()).collect();
            let root = path.first().and_then(Step::key).unwrap_or_default();
            let restricts = restricts(root) != Restricts::Nothing;
            let position = (repeated.position)(repeat.last);
            let lines = ((repeated.position)(repeat.first).line, position.line);
            let message = repeated::message(&path, lines, restricts);
            let kind = DiagnosticKind::Ignored;
            let diagnostic = Diagnostic::new(self.origin, kind, message, Some(position));
            // The members of one rule do not tell which of them belong together.
            let is_within_rule = path.iter().any(|step| step.key().is_none());
            let lost = is_within_rule.then(|| UnreadablePermissions::at(&path, String::new()));
            self.report_lost(lost.flatten(), diagnostic, read);
            if restricts {
                self.restrict(read, (repeated.under_key)(repeat.document.clone()));
            }
        }
        if repeats.is_cut {
            let message = "More keys of the document stand twice; the last ones hold".to_owned();
            let diagnostic = self.diagnostic(&[], DiagnosticKind::Ignored, message);
            let lost = UnreadablePermissions::everything(String::new());
            self.report_lost(Some(lost), diagnostic, read);
        }
    }

    /// Adds the restrictions of a document in which a key has one of its earlier values.
    fn restrict(&self, read: &mut Read, value: Value) {
        let earlier = match self.decode_once(value) {
            Outcome::Usable(earlier) => earlier,
            Outcome::Absent => return,
            Outcome::Broken(problem) => {
                let (kind, position) = (problem.kind, problem.position);
                let diagnostic = Diagnostic::new(self.origin, kind, problem.message, position);
                let lost = UnreadablePermissions::everything(String::new());
                return self.report_lost(Some(lost), diagnostic, read);
            }
        };
        for diagnostic in earlier.diagnostics {
            if !read.diagnostics.contains(&diagnostic) {
                read.diagnostics.push(diagnostic);
            }
        }
        for lost in earlier.lost {
            if !read.lost.contains(&lost) {
                read.lost.push(lost);
            }
        }
        let (document, earlier) = (&mut *read.document, *earlier.document);
        let denied = earlier.policies.into_iter().filter(|policy| !policy.allow);
        document.policies.extend(denied);
        if earlier.settings.share == Some(Share::Disabled) {
            document.settings.share = Some(Share::Disabled);
        }
        let rules = EarlierRules::of_document(&earlier.permissions, &earlier.agents);
        let last = EarlierRules::of_document(&document.permissions, &document.agents);
        for (id, patch) in &earlier.agents {
            match document.agents.iter_mut().find(|(known, _)| known == id) {
                Some((_, known)) => known.restrict(patch),
                None => {
                    let mut restricted = AgentPatch::default();
                    restricted.restrict(patch);
                    document.agents.push((id.clone(), restricted));
                }
            }
        }
        if rules != last {
            document.earlier.push(rules);
        }
    }

    fn decode_once(&self, value: Value) -> Outcome {
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

/// True if the value at the end of a path could restrict the use of providers.
fn is_about_providers(path: &[Step]) -> bool {
    let mut keys = path.iter().map_while(Step::key);
    let key = keys.next().and_then(declared);
    let Some(key) = key.filter(|key| key.restricts == Restricts::Providers) else {
        return false;
    };
    let object = key.kind.as_ref().and_then(Kind::object);
    match (object, keys.next()) {
        (Some(object), Some(name)) => {
            let member = object.member(name);
            member.is_some_and(|member| member.restricts == Restricts::Providers)
        }
        _ => true,
    }
}

fn read_keys(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
    let root = decode::object(value)?;
    for key in configuration::keys() {
        if let Some(value) = root.get(key.name) {
            keys::read(key, draft, root, value).map_err(|invalid| invalid.at(key.name))?;
        }
    }
    keys::report_unknown(draft, root);
    Ok(())
}
