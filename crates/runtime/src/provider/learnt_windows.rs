//! The windows of models that providers named when they refused a request because of its size.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use opencode_llm::ResolvedModel;
use parking_lot::Mutex;

/// Maximum number of models whose window is kept.
const MAX_MODELS: usize = 1_024;

/// A smaller number is no window.
const MIN_WINDOW: u64 = 256;

/// The server of a local model may start again with a larger window.
const KEPT_FOR: Duration = Duration::from_secs(60 * 60);

/// The named windows, by provider and model. They are kept in memory: a host that opens the database later learns them
/// again.
#[derive(Default)]
pub(crate) struct LearntWindows {
    /// Locked to read or to change; never across an await.
    windows: Mutex<HashMap<(String, String), (u64, Instant)>>,
}

impl LearntWindows {
    /// Keeps the window that the provider of a model named, unless it is absurd or not smaller than the configured one.
    pub(super) fn learn(&self, model: &ResolvedModel, window: u64) {
        self.learn_at(model, window, Instant::now());
    }

    fn learn_at(&self, model: &ResolvedModel, window: u64, now: Instant) {
        let configured = model.limits.context;
        let is_larger = configured > 0 && window >= configured;
        if window < MIN_WINDOW || is_larger {
            return;
        }
        let mut windows = self.windows.lock();
        let key = key_of(model);
        if windows.len() >= MAX_MODELS {
            windows.retain(|_, (_, at)| now - *at < KEPT_FOR);
        }
        if windows.len() < MAX_MODELS || windows.contains_key(&key) {
            windows.insert(key, (window, now));
        }
    }

    /// Returns the window of a model in tokens, if its provider named one.
    pub(crate) fn of(&self, model: &ResolvedModel) -> Option<u64> {
        self.of_at(model, Instant::now())
    }

    fn of_at(&self, model: &ResolvedModel, now: Instant) -> Option<u64> {
        let windows = self.windows.lock();
        let (window, at) = windows.get(&key_of(model))?;
        (now - *at < KEPT_FOR).then_some(*window)
    }
}

fn key_of(model: &ResolvedModel) -> (String, String) {
    (model.provider_id.clone(), model.model_id.clone())
}

#[cfg(test)]
mod tests {
    use opencode_llm::ProtocolId;

    use super::*;

    fn model(id: &str, context: u64) -> ResolvedModel {
        let mut model = ResolvedModel::new("p", id, ProtocolId::OpenAiChat, "http://x");
        model.limits.context = context;
        model
    }

    #[test]
    fn absurd_and_larger_windows_are_not_kept() {
        for (configured, named, kept) in [
            (0, 8_192, Some(8_192)),
            (0, 255, None),
            (0, 256, Some(256)),
            (100_000, 8_192, Some(8_192)),
            (100_000, 100_000, None),
            (100_000, 200_000, None),
        ] {
            let (windows, model) = (LearntWindows::default(), model("m", configured));
            windows.learn(&model, named);
            assert_eq!(windows.of(&model), kept, "{configured} {named}");
        }
    }

    #[test]
    fn a_window_is_kept_for_an_hour() {
        let (windows, model, now) = (LearntWindows::default(), model("m", 0), Instant::now());
        windows.learn_at(&model, 4_096, now);
        let second = Duration::from_secs(1);
        assert_eq!(windows.of_at(&model, now + KEPT_FOR - second), Some(4_096));
        assert_eq!(windows.of_at(&model, now + KEPT_FOR), None);
        windows.learn_at(&model, 8_192, now + KEPT_FOR);
        assert_eq!(windows.of_at(&model, now + KEPT_FOR), Some(8_192));
    }

    #[test]
    fn the_number_of_models_is_bounded_and_the_newest_window_counts() {
        let windows = LearntWindows::default();
        for at in 0..=MAX_MODELS {
            windows.learn(&model(&at.to_string(), 0), 4_096);
        }
        assert_eq!(windows.windows.lock().len(), MAX_MODELS);
        windows.learn(&model("0", 0), 8_192);
        assert_eq!(windows.of(&model("0", 0)), Some(8_192));
        assert_eq!(windows.of(&model("1024", 0)), None);
    }
}
