//! One observation and the results that derive from it. This module performs no I/O.

use std::sync::Arc;

use crate::snapshot::{Admitted, Baseline, Snapshot};
use crate::source::{RenderedSource, Source, is_blank};

/// Separator between the texts of two sources.
const SEPARATOR: &str = "\n\n";

/// The observed state of all sources of a context, in their order.
pub struct Observed {
    seen: Vec<ObservedSource>,
}

/// The observed state of one source.
pub(crate) struct ObservedSource {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) state: State,
}

pub(crate) enum State {
    Present(RenderedSource),
    Absent,
    Unavailable(String),
}

/// A source that could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct Unavailable {
    /// The key of the source.
    pub key: String,
    /// The reason, for the user.
    pub reason: String,
}

/// No Context Epoch can begin, because some required sources could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the System Context is not available yet: {}", listed(unavailable))]
pub struct InitializationBlocked {
    /// The unavailable required sources, in order.
    pub unavailable: Vec<Unavailable>,
}

/// Result of comparing an observation with a Context Snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconciled {
    /// The information that the model has is current.
    Unchanged,
    /// The model needs an update.
    Updated {
        /// The text of one Mid-Conversation System Message.
        text: String,
        /// The information that the model has after the message.
        snapshot: Snapshot,
    },
    /// No message can update the information that the model has: a new baseline replaces the former one.
    ReplacementReady(Baseline),
    /// A new baseline is needed, but it would lack information that the model has. The epoch stays as it is.
    ReplacementBlocked {
        /// The sources that the model knows and that could not be observed, in order.
        unavailable: Vec<Unavailable>,
    },
}

/// State of a source compared with the information that the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceStatus {
    /// The model has the current value.
    Current,
    /// The model does not have the current value yet.
    Changed,
    /// The current value is unknown.
    Unavailable,
    /// The source has no value.
    Absent,
}

/// Result of replacing a baseline.
#[derive(Debug, Clone, PartialEq)]
pub enum Replaced {
    /// The new baseline.
    Ready(Baseline),
    /// The new baseline would lack information that the model has. The epoch stays as it is.
    Blocked {
        /// The sources that the model knows and that could not be observed, in order.
        unavailable: Vec<Unavailable>,
    },
}

impl Observed {
    pub(crate) fn new(seen: Vec<ObservedSource>) -> Self {
        Self { seen }
    }

    /// Returns the first baseline of a session.
    ///
    /// # Errors
    ///
    /// Fails with every required source that could not be observed.
    pub fn initialize(&self) -> Result<Baseline, InitializationBlocked> {
        let required = |source: &dyn Source| source.is_required();
        let unavailable = self.unavailable(required);
        if unavailable.is_empty() {
            Ok(self.baseline())
        } else {
            Err(InitializationBlocked { unavailable })
        }
    }

    /// Compares the observation with the information that the model has.
    pub fn reconcile(&self, known: &Snapshot) -> Reconciled {
        if self.needs_replacement(known) {
            return match self.replace(known) {
                Replaced::Ready(baseline) => Reconciled::ReplacementReady(baseline),
                Replaced::Blocked { unavailable } => Reconciled::ReplacementBlocked { unavailable },
            };
        }
        let mut snapshot = known.clone();
        let mut texts = self.changes(&mut snapshot);
        texts.extend(self.removals(&mut snapshot));
        if texts.is_empty() {
            Reconciled::Unchanged
        } else {
            Reconciled::Updated {
                text: texts.join(SEPARATOR),
                snapshot,
            }
        }
    }

    /// Returns the baseline that replaces the former one. An unavailable source is left out if the
    /// model does not know it.
    pub fn replace(&self, known: &Snapshot) -> Replaced {
        let unavailable = self.unavailable(|source| known.contains_key(source.key()));
        if unavailable.is_empty() {
            Replaced::Ready(self.baseline())
        } else {
            Replaced::Blocked { unavailable }
        }
    }

    /// Returns each source in order: its key, its standing and the bytes that it adds to a
    /// baseline. Sources that are no longer part of the context come last.
    pub fn compare<'a>(
        &'a self,
        known: &'a Snapshot,
    ) -> impl Iterator<Item = (&'a str, SourceStatus, usize)> {
        let seen = self.seen.iter().map(|seen| {
            let key = seen.source.key();
            match &seen.state {
                State::Absent => (key, SourceStatus::Absent, 0),
                State::Unavailable(_) => (key, SourceStatus::Unavailable, 0),
                State::Present(rendered) => {
                    let admitted = known.get(key);
                    let is_known =
                        admitted.is_some_and(|admitted| admitted.value == rendered.value);
                    let standing = match is_known {
                        true => SourceStatus::Current,
                        false => SourceStatus::Changed,
                    };
                    (key, standing, rendered.baseline.len())
                }
            }
        });
        let takes_part = |key: &str| self.seen.iter().any(|seen| seen.source.key() == key);
        let gone = known.keys().filter(move |key| !takes_part(key));
        seen.chain(gone.map(|key| (key.as_str(), SourceStatus::Absent, 0)))
    }

    /// Returns the keys of the sources that could not be observed, in order.
    pub fn unavailable_keys(&self) -> impl Iterator<Item = &str> {
        let seen = self.seen.iter();
        let unavailable = seen.filter(|seen| matches!(seen.state, State::Unavailable(_)));
        unavailable.map(|seen| seen.source.key())
    }

    /// Returns the baseline of all present sources.
    fn baseline(&self) -> Baseline {
        let texts: Vec<_> = self
            .present()
            .map(|(_, rendered)| rendered.baseline.as_str())
            .collect();
        let snapshot = self
            .present()
            .map(|(source, rendered)| (source.key().to_owned(), Admitted::from(rendered)));
        Baseline {
            text: texts.join(SEPARATOR),
            snapshot: snapshot.collect(),
        }
    }

    /// True if no message can update the information that the model has: a source does not accept a
    /// value that the model received any more, or a source is gone that has no removal text.
    fn needs_replacement(&self, known: &Snapshot) -> bool {
        let foreign = self.present().any(|(source, _)| {
            let admitted = known.get(source.key());
            admitted.is_some_and(|admitted| !source.is_valid(&admitted.value))
        });
        let irrevocable = || {
            let mut gone = known.iter().filter(|(key, _)| self.is_absent(key));
            gone.any(|(_, admitted)| admitted.removal().is_none())
        };
        foreign || irrevocable()
    }

    /// Returns the texts for new and changed values, in order, and records these values in the snapshot.
    fn changes(&self, snapshot: &mut Snapshot) -> Vec<String> {
        let mut texts = Vec::new();
        for (source, rendered) in self.present() {
            match snapshot.get_mut(source.key()) {
                Some(admitted) if admitted.value == rendered.value => {}
                Some(admitted) => {
                    texts.push(update(source, admitted, rendered));
                    *admitted = rendered.into();
                }
                None => {
                    texts.push(rendered.baseline.clone());
                    snapshot.insert(source.key().to_owned(), rendered.into());
                }
            }
        }
        texts
    }

    /// Returns the removal texts of the sources that are gone, in ascending order of their keys,
    /// and removes these sources from the snapshot.
    fn removals(&self, snapshot: &mut Snapshot) -> Vec<String> {
        let gone = snapshot.extract_if(.., |key, _| self.is_absent(key));
        gone.filter_map(|(_, admitted)| admitted.removed).collect()
    }

    /// True if a source has no information now: it is absent or not part of the context.
    fn is_absent(&self, key: &str) -> bool {
        let seen = self.seen.iter().find(|seen| seen.source.key() == key);
        seen.is_none_or(|seen| matches!(seen.state, State::Absent))
    }

    fn present(&self) -> impl Iterator<Item = (&dyn Source, &RenderedSource)> {
        self.seen.iter().filter_map(|seen| match &seen.state {
            State::Present(rendered) => Some((&*seen.source, rendered)),
            State::Absent | State::Unavailable(_) => None,
        })
    }

    /// Returns the unavailable sources that match the predicate.
    fn unavailable(&self, is_missed: impl Fn(&dyn Source) -> bool) -> Vec<Unavailable> {
        let missed = self.seen.iter().filter_map(|seen| match &seen.state {
            State::Unavailable(reason) if is_missed(&*seen.source) => Some(Unavailable {
                key: seen.source.key().to_owned(),
                reason: reason.clone(),
            }),
            _ => None,
        });
        missed.collect()
    }
}

fn update(source: &dyn Source, admitted: &Admitted, rendered: &RenderedSource) -> String {
    let text = source.update(&admitted.value, &rendered.value);
    // The complete text states the current value too.
    if is_blank(&text) {
        rendered.baseline.clone()
    } else {
        text
    }
}

fn listed(unavailable: &[Unavailable]) -> String {
    let each: Vec<_> = unavailable.iter().map(ToString::to_string).collect();
    each.join("; ")
}
