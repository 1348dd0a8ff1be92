//! The tools of a Provider Turn in the form of the canonical request.

use std::sync::{Arc, Mutex, PoisonError};

use opencode_llm::ToolDefinition;
use opencode_tools::{Materialized, ToolDefinition as Registered};

/// Keeps the last form that was offered: the tools seldom change from one turn to the next, and
/// their schemas are large.
#[derive(Default)]
pub(crate) struct ToolOffer {
    /// Locked to compare and to replace; never across an await.
    last: Mutex<Offered>,
}

#[derive(Default)]
struct Offered {
    registered: Vec<Arc<Registered>>,
    definitions: Arc<[ToolDefinition]>,
}

impl ToolOffer {
    pub(crate) fn definitions(&self, materialized: &Materialized) -> Arc<[ToolDefinition]> {
        let registered: Vec<_> = materialized.definitions().map(Arc::clone).collect();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.registered.len() == registered.len()
            && last
                .registered
                .iter()
                .zip(&registered)
                .all(|(one, other)| Arc::ptr_eq(one, other));
        if !same {
            last.definitions = registered.iter().map(|tool| definition(tool)).collect();
            last.registered = registered;
        }
        Arc::clone(&last.definitions)
    }
}

fn definition(tool: &Registered) -> ToolDefinition {
    ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
    }
}
