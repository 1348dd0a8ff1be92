//! The list of models that the addon contains: that of models.dev at the time of a release.
//!
//! `scripts/catalogue.mjs` writes the file and describes its format. The index is read once. The models of a provider
//! are unpacked when a Location uses the provider.

use std::io::Read;

use flate2::read::DeflateDecoder;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::models_dev::{Packed, listed_models};
use super::platform::listed_kind;
use crate::config::{ApiPatch, ModelPatch, ProviderPatch};
use crate::secret::BaseUrl;

static FILE: &[u8] = include_bytes!("../../data/models.bin");

/// Size in bytes of the length at the beginning of the file.
const LENGTH: usize = 4;

#[derive(Deserialize)]
struct Index {
    providers: Map<String, Value>,
}

#[derive(Deserialize)]
struct Entry {
    name: Option<String>,
    env: Option<Vec<String>>,
    npm: Option<String>,
    api: Option<String>,
    at: usize,
    bytes: usize,
    size: u64,
}

/// Returns the providers without their models, and the places of these.
pub(super) fn providers() -> Vec<(String, ProviderPatch, Packed)> {
    read().expect("the file of the addon is complete")
}

fn read() -> Option<Vec<(String, ProviderPatch, Packed)>> {
    let (length, rest) = FILE.split_first_chunk::<LENGTH>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let index: Index = serde_json::from_slice(rest.get(..length)?).ok()?;
    let entries = index.providers.into_iter().map(|(id, entry)| {
        let entry: Entry = serde_json::from_value(entry).ok()?;
        let at = length.checked_add(entry.at)?;
        let blob = rest.get(at..at.checked_add(entry.bytes)?)?;
        let patch = ProviderPatch {
            name: entry.name,
            api: ApiPatch {
                kind: listed_kind(entry.npm, entry.api.as_deref()),
                url: entry.api.map(BaseUrl),
                ..ApiPatch::default()
            },
            env: Some(entry.env.unwrap_or_default()),
            ..ProviderPatch::default()
        };
        let size = entry.size;
        Some((id, patch, Packed { blob, size }))
    });
    entries.collect()
}

impl Packed {
    /// Unpacks the models of the provider.
    pub(super) fn models(self) -> Vec<(String, ModelPatch)> {
        let mut rejected = Vec::new();
        let models = listed_models(&self.unpacked(), "", &mut rejected);
        debug_assert!(rejected.is_empty(), "{rejected:?}");
        models
    }

    fn unpacked(self) -> Map<String, Value> {
        let reader = DeflateDecoder::new(self.blob).take(self.size);
        serde_json::from_reader(reader).expect("the file of the addon is complete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_of_the_file_has_readable_models() {
        let providers = providers();
        assert!(providers.len() > 100, "{}", providers.len());
        let mut count = 0;
        for (id, patch, packed) in providers {
            let models = packed.models();
            assert!(models.len() >= packed.unpacked().len(), "{id}");
            assert!(patch.name.is_some() && patch.api.kind.is_some(), "{id}");
            count += models.len();
        }
        assert!(count > 5_000, "{count}");
    }

    #[test]
    fn well_known_providers_have_their_variables_and_models() {
        let providers = providers();
        let find = |wanted: &str| providers.iter().find(|(id, ..)| id == wanted).unwrap();
        for (id, variable, model) in [
            ("openai", "OPENAI_API_KEY", "gpt-4.1-mini"),
            ("anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-5"),
            ("google", "GEMINI_API_KEY", "gemini-2.5-pro"),
        ] {
            let (_, patch, packed) = find(id);
            assert!(
                patch.env.iter().flatten().any(|name| name == variable),
                "{id}"
            );
            let models = packed.models();
            let (_, found) = models.iter().find(|(known, _)| known == model).unwrap();
            assert!(found.cost.is_some() && found.context.is_some(), "{model}");
        }
    }
}
