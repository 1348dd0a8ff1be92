//! One observation, and what follows from it. Nothing here looks at the world.

use std::sync::Arc;

use crate::snapshot::{Admitted, Baseline, Snapshot};
use crate::source::{Source, Told, is_blank};

/// Between the texts of two sources.
const SEPARATOR: &str = "\n\n";

/// All sources of a context as they were at one moment, in their order.
pub struct Observed {
    seen: Vec<Seen>,
}

/// One source as it was.
pub(crate) struct Seen {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) state: State,
}

pub(crate) enum State {
    Present(Told),
    Absent,
    Unavailable(String),
}

/// A source that could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct Unavailable {
    /// Its key.
    pub key: String,
    /// Why, for the user.
    pub reason: String,
}

/// No Context Epoch can begin: some required sources could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the System Context is not available yet: {}", listed(unavailable))]
pub struct InitializationBlocked {
    /// Those sources, in order.
    pub unavailable: Vec<Unavailable>,
}

/// How an observation compares with a Context Snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconciled {
    /// The model knows everything already.
    Unchanged,
    /// The model has to be told something.
    Updated {
        /// The text of one Mid-Conversation System Message.
        text: String,
        /// What the model knows once it was told.
        snapshot: Snapshot,
    },
    /// What the model was told cannot be brought up to date by a message: a new baseline takes its
    /// place.
    ReplacementReady(Baseline),
    /// The same, but the new baseline would lack something the model was told. The epoch stays as it
    /// is.
    ReplacementBlocked {
        /// The sources that the model was told of and that could not be observed, in order.
        unavailable: Vec<Unavailable>,
    },
}

/// How a source compares with what the model was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The model knows what holds.
    Current,
    /// The model does not know it yet.
    Changed,
    /// Nobody knows what holds.
    Unavailable,
    /// There is nothing to know.
    Absent,
}

/// Whether a baseline can take the place of another one.
#[derive(Debug, Clone, PartialEq)]
pub enum Replaced {
    /// It can.
    Ready(Baseline),
    /// It would lack something the model was told. The epoch stays as it is.
    Blocked {
        /// The sources that the model was told of and that could not be observed, in order.
        unavailable: Vec<Unavailable>,
    },
}

impl Observed {
    pub(crate) fn new(seen: Vec<Seen>) -> Self {
        Self { seen }
    }

    /// The first baseline of a session.
    ///
    /// # Errors
    ///
    /// Names every required source that could not be observed.
    pub fn initialize(&self) -> Result<Baseline, InitializationBlocked> {
        let required = |source: &dyn Source| source.is_required();
        let unavailable = self.unavailable(required);
        if unavailable.is_empty() {
            Ok(self.baseline())
        } else {
            Err(InitializationBlocked { unavailable })
        }
    }

    /// What the model has to be told, given what it knows.
    pub fn reconcile(&self, known: &Snapshot) -> Reconciled {
        if self.beyond_updating(known) {
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

    /// The baseline that takes the place of the one that told the model what it knows. A source that
    /// it was never told of and that cannot be observed is left out.
    pub fn replace(&self, known: &Snapshot) -> Replaced {
        let unavailable = self.unavailable(|source| known.contains_key(source.key()));
        if unavailable.is_empty() {
            Replaced::Ready(self.baseline())
        } else {
            Replaced::Blocked { unavailable }
        }
    }

    /// Every source in its order, with how it compares with what the model was told and the bytes
    /// that it adds to a baseline. Sources that have gone since come last.
    pub fn compare<'a>(
        &'a self,
        known: &'a Snapshot,
    ) -> impl Iterator<Item = (&'a str, Standing, usize)> {
        let seen = self.seen.iter().map(|seen| {
            let key = seen.source.key();
            match &seen.state {
                State::Absent => (key, Standing::Absent, 0),
                State::Unavailable(_) => (key, Standing::Unavailable, 0),
                State::Present(told) => {
                    let admitted = known.get(key);
                    let is_known = admitted.is_some_and(|admitted| admitted.value == told.value);
                    let standing = match is_known {
                        true => Standing::Current,
                        false => Standing::Changed,
                    };
                    (key, standing, told.baseline.len())
                }
            }
        });
        let takes_part = |key: &str| self.seen.iter().any(|seen| seen.source.key() == key);
        let gone = known.keys().filter(move |key| !takes_part(key));
        seen.chain(gone.map(|key| (key.as_str(), Standing::Absent, 0)))
    }

    /// The keys of the sources that could not be observed, in their order.
    pub fn unavailable_keys(&self) -> impl Iterator<Item = &str> {
        let seen = self.seen.iter();
        let unavailable = seen.filter(|seen| matches!(seen.state, State::Unavailable(_)));
        unavailable.map(|seen| seen.source.key())
    }

    /// Everything that is present.
    fn baseline(&self) -> Baseline {
        let texts: Vec<_> = self
            .present()
            .map(|(_, told)| told.baseline.as_str())
            .collect();
        let snapshot = self
            .present()
            .map(|(source, told)| (source.key().to_owned(), Admitted::from(told)));
        Baseline {
            text: texts.join(SEPARATOR),
            snapshot: snapshot.collect(),
        }
    }

    /// Whether no message can lead from what the model knows to what holds: it was told a value that
    /// its source does not understand any more, or something has gone that cannot be revoked.
    fn beyond_updating(&self, known: &Snapshot) -> bool {
        let foreign = self.present().any(|(source, _)| {
            let admitted = known.get(source.key());
            admitted.is_some_and(|admitted| !source.is_valid(&admitted.value))
        });
        let irrevocable = || {
            let mut gone = known.iter().filter(|(key, _)| self.has_gone(key));
            gone.any(|(_, admitted)| admitted.removal().is_none())
        };
        foreign || irrevocable()
    }

    /// Texts for what is new or different, in order, noted in the snapshot.
    fn changes(&self, snapshot: &mut Snapshot) -> Vec<String> {
        let mut texts = Vec::new();
        for (source, told) in self.present() {
            match snapshot.get_mut(source.key()) {
                Some(admitted) if admitted.value == told.value => {}
                Some(admitted) => {
                    texts.push(update(source, admitted, told));
                    *admitted = told.into();
                }
                None => {
                    texts.push(told.baseline.clone());
                    snapshot.insert(source.key().to_owned(), told.into());
                }
            }
        }
        texts
    }

    /// Texts for what has gone, in ascending order of the keys, struck from the snapshot.
    fn removals(&self, snapshot: &mut Snapshot) -> Vec<String> {
        let gone = snapshot.extract_if(.., |key, _| self.has_gone(key));
        gone.filter_map(|(_, admitted)| admitted.removed).collect()
    }

    /// Whether a source has nothing to tell now: it is absent, or takes no part.
    fn has_gone(&self, key: &str) -> bool {
        let seen = self.seen.iter().find(|seen| seen.source.key() == key);
        seen.is_none_or(|seen| matches!(seen.state, State::Absent))
    }

    fn present(&self) -> impl Iterator<Item = (&dyn Source, &Told)> {
        self.seen.iter().filter_map(|seen| match &seen.state {
            State::Present(told) => Some((&*seen.source, told)),
            State::Absent | State::Unavailable(_) => None,
        })
    }

    /// Those of the sources that are missed while they are unavailable.
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

fn update(source: &dyn Source, admitted: &Admitted, told: &Told) -> String {
    let text = source.update(&admitted.value, &told.value);
    // The complete text says what holds as well.
    if is_blank(&text) {
        told.baseline.clone()
    } else {
        text
    }
}

fn listed(unavailable: &[Unavailable]) -> String {
    let each: Vec<_> = unavailable.iter().map(ToString::to_string).collect();
    each.join("; ")
}
