//! The tools of a Provider Turn in the form of the canonical request.

use std::sync::Arc;

use opencode_llm::{ToolDefinition, short_hash};
use opencode_tools::{Materialized, ToolDefinition as Registered};
use parking_lot::Mutex;

use crate::json::json_size;

/// Maximum number of cached offers. The agents of one host are offered few different sets of tools.
const MAX_KEPT: usize = 8;

/// Caches the latest converted tool definitions. The tools seldom change from one turn to the next,
/// and their schemas are large.
#[derive(Default)]
pub(crate) struct OfferedTools {
    /// The most recently used first. Locked to compare and to add an offer, never across an await.
    kept: Mutex<Vec<Offered>>,
}

struct Offered {
    registered: Vec<Arc<Registered>>,
    /// The list of agents that accept tasks, as it appears in a description.
    subagents: Arc<str>,
    definitions: Arc<[ToolDefinition]>,
    /// Size of the definitions in UTF-16 units.
    units: u64,
    hash: Arc<str>,
}

impl Offered {
    fn new(registered: Vec<Arc<Registered>>, subagents: &Arc<str>) -> Self {
        let definitions = registered.iter().map(|tool| definition(tool, subagents));
        let definitions: Arc<[_]> = definitions.collect();
        Self {
            registered,
            subagents: Arc::clone(subagents),
            units: units(&definitions),
            hash: hash(&definitions),
            definitions,
        }
    }

    fn is_of(&self, registered: &[Arc<Registered>], subagents: &str) -> bool {
        let both = self.registered.iter().zip(registered);
        *self.subagents == *subagents
            && self.registered.len() == registered.len()
            && both.into_iter().all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl OfferedTools {
    /// Returns the offered tools in the order of the registry. The same tools give the same allocation.
    pub(crate) fn definitions(&self, materialized: &Materialized) -> Arc<[ToolDefinition]> {
        let registered: Vec<_> = materialized.definitions().map(Arc::clone).collect();
        let subagents = materialized.subagents();
        let mut kept = self.kept.lock();
        let known = kept
            .iter()
            .position(|offered| offered.is_of(&registered, subagents));
        let offered = match known {
            Some(at) => kept.remove(at),
            None => Offered::new(registered, subagents),
        };
        let definitions = Arc::clone(&offered.definitions);
        kept.insert(0, offered);
        kept.truncate(MAX_KEPT);
        definitions
    }

    /// Returns the size of the definitions: the JSON text of each one in UTF-16 units, including the
    /// comma after it.
    pub(crate) fn units(&self, definitions: &Arc<[ToolDefinition]>) -> u64 {
        let kept = self.kept.lock();
        let known = kept
            .iter()
            .find(|offered| Arc::ptr_eq(&offered.definitions, definitions));
        known.map_or_else(|| units(definitions), |offered| offered.units)
    }

    /// Returns a short hash of the definitions.
    pub(crate) fn hash(&self, definitions: &Arc<[ToolDefinition]>) -> Arc<str> {
        let kept = self.kept.lock();
        let known = kept
            .iter()
            .find(|offered| Arc::ptr_eq(&offered.definitions, definitions));
        known.map_or_else(|| hash(definitions), |offered| Arc::clone(&offered.hash))
    }
}

fn units(definitions: &[ToolDefinition]) -> u64 {
    let sizes = definitions.iter().map(|tool| json_size(tool).units + 1);
    sizes.sum()
}

pub(super) fn hash(definitions: &[ToolDefinition]) -> Arc<str> {
    let text = serde_json::to_vec(definitions).unwrap_or_default();
    short_hash(&text).into()
}

fn definition(tool: &Registered, subagents: &str) -> ToolDefinition {
    let mut description = tool.description.clone();
    if tool.lists_subagents {
        description += subagents;
    }
    ToolDefinition {
        name: tool.name.clone(),
        description,
        input_schema: tool.input_schema.clone(),
    }
}
