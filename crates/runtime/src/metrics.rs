//! Metrics of the System Context of each Location, for inspection and as log fields.

use std::collections::HashMap;
use std::time::Duration;

use opencode_schema::inspection::{ContextMetrics, TextMetrics, UnavailableSource};
use parking_lot::Mutex;

/// Maximum number of Locations with metrics. Beyond it, the Location that was counted least recently is removed.
const MAX_LOCATIONS: usize = 1000;

/// Maximum number of Context Sources of a Location whose failures are counted; the first ones to fail are counted.
const MAX_SOURCES: usize = 100;

/// The text that a boundary sends to the model, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    Nothing,
    /// An epoch begins with a baseline of this size in bytes.
    Begun { bytes: u64 },
    /// A message of this size reports the change.
    Updated { bytes: u64 },
}

/// The metrics of one host.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Locked for one count; never across an await.
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    /// By directory, with the number of the last use.
    locations: HashMap<String, (u64, ContextMetrics)>,
    uses: u64,
}

impl Metrics {
    /// Counts an observation of the Context Sources at a boundary. The sources with the `unavailable` keys failed.
    pub(crate) fn observed<'a>(
        &self,
        directory: &str,
        took: Duration,
        unavailable: impl Iterator<Item = &'a str>,
    ) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let missed: Vec<_> = unavailable.collect();
        tracing::debug!(
            location = directory,
            micros,
            ?missed,
            "the System Context was observed"
        );
        self.count(directory, |metrics| {
            let observations = &mut metrics.observations;
            observations.count += 1;
            observations.last_micros = micros;
            observations.max_micros = observations.max_micros.max(micros);
            observations.total_micros = observations.total_micros.saturating_add(micros);
            for key in missed {
                count_unavailable(&mut metrics.unavailable, key);
            }
        });
    }

    /// Counts a boundary that must observe the sources again.
    pub(crate) fn contended(&self, directory: &str) {
        tracing::debug!(
            location = directory,
            "the System Context is looked at again"
        );
        self.count(directory, |metrics| metrics.contention += 1);
    }

    /// Counts a change of the System Context at a boundary, if there was one.
    pub(crate) fn changed(&self, directory: &str, change: Change) {
        if change == Change::Nothing {
            return;
        }
        tracing::debug!(
            location = directory,
            ?change,
            "the model is told of its surroundings"
        );
        self.count(directory, |metrics| match change {
            Change::Nothing => {}
            Change::Begun { bytes } => add(&mut metrics.baselines, bytes),
            Change::Updated { bytes } => add(&mut metrics.updates, bytes),
        });
    }

    /// Returns the metrics of a Location.
    pub(crate) fn of(&self, directory: &str) -> ContextMetrics {
        let counted = self.counted.lock();
        let found = counted.locations.get(directory);
        found
            .map(|(_, metrics)| metrics.clone())
            .unwrap_or_default()
    }

    fn count(&self, directory: &str, count: impl FnOnce(&mut ContextMetrics)) {
        let mut counted = self.counted.lock();
        counted.uses += 1;
        let now = counted.uses;
        if !counted.locations.contains_key(directory) {
            counted.make_room();
        }
        let entry = counted.locations.entry(directory.to_owned());
        let (used, metrics) = entry.or_default();
        *used = now;
        count(metrics);
    }
}

impl Counted {
    fn make_room(&mut self) {
        if self.locations.len() < MAX_LOCATIONS {
            return;
        }
        let oldest = self.locations.iter().min_by_key(|(_, (used, _))| *used);
        if let Some(oldest) = oldest.map(|(directory, _)| directory.clone()) {
            self.locations.remove(&oldest);
        }
    }
}

fn count_unavailable(sources: &mut Vec<UnavailableSource>, key: &str) {
    if let Some(source) = sources.iter_mut().find(|source| source.key == key) {
        source.count += 1;
    } else if sources.len() < MAX_SOURCES {
        let (key, count) = (key.to_owned(), 1);
        sources.push(UnavailableSource { key, count });
    }
}

fn add(texts: &mut TextMetrics, bytes: u64) {
    texts.count += 1;
    texts.last_bytes = bytes;
    texts.total_bytes = texts.total_bytes.saturating_add(bytes);
}

#[cfg(test)]
mod tests {
    use opencode_schema::inspection::ObservationMetrics;

    use super::*;

    #[test]
    fn every_location_has_its_own_metrics() {
        let metrics = Metrics::default();
        metrics.observed("/a", Duration::from_micros(7), std::iter::empty());
        metrics.observed("/a", Duration::from_micros(5), ["x/y", "x/z"].into_iter());
        metrics.observed("/a", Duration::from_micros(6), ["x/z"].into_iter());
        for (change, bytes) in [(Change::Nothing, 0), (Change::Begun { bytes: 9 }, 9)] {
            metrics.changed("/a", change);
            assert_eq!(metrics.of("/a").baselines.total_bytes, bytes);
        }
        metrics.changed("/a", Change::Updated { bytes: 2 });
        metrics.changed("/a", Change::Updated { bytes: 3 });
        metrics.contended("/b");
        let text = |count, last_bytes, total_bytes| TextMetrics {
            count,
            last_bytes,
            total_bytes,
        };
        let source = |key: &str, count| UnavailableSource {
            key: key.to_owned(),
            count,
        };
        let expected = ContextMetrics {
            observations: ObservationMetrics {
                count: 3,
                last_micros: 6,
                max_micros: 7,
                total_micros: 18,
            },
            unavailable: vec![source("x/y", 1), source("x/z", 2)],
            contention: 0,
            baselines: text(1, 9, 9),
            updates: text(2, 3, 5),
        };
        assert_eq!(metrics.of("/a"), expected);
        assert_eq!(metrics.of("/b").contention, 1);
        assert_eq!(metrics.of("/c"), ContextMetrics::default());
    }

    #[test]
    fn the_metrics_are_bounded() {
        let metrics = Metrics::default();
        metrics.contended("/kept");
        for at in 0..MAX_LOCATIONS {
            metrics.contended(&format!("/{at}"));
            metrics.contended("/kept");
        }
        assert_eq!(metrics.counted.lock().locations.len(), MAX_LOCATIONS);
        assert_eq!(metrics.of("/0").contention, 0);
        assert_eq!(metrics.of("/kept").contention, 1 + MAX_LOCATIONS as u64);
        let keys: Vec<_> = (0..=MAX_SOURCES).map(|at| format!("x/{at}")).collect();
        let keys = keys.iter().map(String::as_str);
        metrics.observed("/kept", Duration::ZERO, keys);
        assert_eq!(metrics.of("/kept").unavailable.len(), MAX_SOURCES);
    }
}
