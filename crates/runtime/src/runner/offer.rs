//! The tools of a Provider Turn in the form of the canonical request.

use std::sync::{Arc, Mutex, PoisonError};

use opencode_llm::ToolDefinition;
use opencode_tools::{Materialized, ToolDefinition as Registered};

/// Offers that are kept. Agents of one host differ in few ways in what they are shown.
const MAX_KEPT: usize = 8;

/// Keeps the forms that were offered last: the tools seldom change from one turn to the next, and
/// their schemas are large.
#[derive(Default)]
pub(crate) struct ToolOffer {
    /// The last used first. Locked to compare and to add one; never across an await.
    kept: Mutex<Vec<Offered>>,
}

struct Offered {
    registered: Vec<Arc<Registered>>,
    definitions: Arc<[ToolDefinition]>,
}

impl Offered {
    fn is_of(&self, registered: &[Arc<Registered>]) -> bool {
        let both = self.registered.iter().zip(registered);
        self.registered.len() == registered.len()
            && both.into_iter().all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl ToolOffer {
    /// What is offered, in the order of the registry. The same tools are the same definitions.
    pub(crate) fn definitions(&self, materialized: &Materialized) -> Arc<[ToolDefinition]> {
        let registered: Vec<_> = materialized.definitions().map(Arc::clone).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|offered| offered.is_of(&registered));
        let offered = match known {
            Some(at) => kept.remove(at),
            None => Offered {
                definitions: registered.iter().map(|tool| definition(tool)).collect(),
                registered,
            },
        };
        let definitions = Arc::clone(&offered.definitions);
        kept.insert(0, offered);
        kept.truncate(MAX_KEPT);
        definitions
    }
}

fn definition(tool: &Registered) -> ToolDefinition {
    ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
    }
}
