//! The tool calls of one step.

use std::collections::HashMap;
use std::sync::Arc;

use super::{merge_metadata, shown};
use crate::canonical::event::{BlockId, ProviderMetadata};

/// Maximum number of tool calls per step. No model makes more; a stream with more is broken or hostile.
pub const MAX_TOOL_CALLS: usize = 4096;

/// All calls of the step. Completed calls stay, because their identifiers must not be reused.
#[derive(Debug, Default)]
pub(super) struct Tools(HashMap<BlockId, Tool>);

#[derive(Debug)]
struct Tool {
    name: BlockId,
    phase: Phase,
    metadata: Option<ProviderMetadata>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Input,
    InputEnded,
    Called,
    Settled,
}

impl Tools {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn start_input(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        metadata: Option<&ProviderMetadata>,
    ) -> Result<(), String> {
        self.open(id, name, Phase::Input, metadata.cloned())
    }

    pub(super) fn input(&mut self, id: &BlockId, name: &BlockId) -> Result<(), String> {
        self.find(id, name, Phase::Input).map(|_| ())
    }

    /// Ends the input and adds the metadata of the whole call.
    pub(super) fn end_input(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        metadata: &mut Option<ProviderMetadata>,
    ) -> Result<(), String> {
        let tool = self.find(id, name, Phase::Input)?;
        tool.phase = Phase::InputEnded;
        tool.gather(metadata);
        Ok(())
    }

    /// Records a call. A call with streamed input continues that input and receives its metadata; a
    /// call in a single piece starts here.
    pub(super) fn call(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        metadata: &mut Option<ProviderMetadata>,
    ) -> Result<(), String> {
        if !self.0.contains_key(id) {
            return self.open(id, name, Phase::Called, None);
        }
        let tool = self.find(id, name, Phase::InputEnded)?;
        tool.phase = Phase::Called;
        tool.gather(metadata);
        Ok(())
    }

    pub(super) fn settle(&mut self, id: &BlockId, name: &BlockId) -> Result<(), String> {
        self.find(id, name, Phase::Called)?.phase = Phase::Settled;
        Ok(())
    }

    fn open(
        &mut self,
        id: &BlockId,
        name: &BlockId,
        phase: Phase,
        metadata: Option<ProviderMetadata>,
    ) -> Result<(), String> {
        if self.0.len() >= MAX_TOOL_CALLS {
            return Err(format!("more than {MAX_TOOL_CALLS} tool calls"));
        }
        let tool = Tool {
            name: Arc::clone(name),
            phase,
            metadata,
        };
        match self.0.insert(Arc::clone(id), tool) {
            None => Ok(()),
            Some(_) => Err(format!("tool call {} started twice", shown(id))),
        }
    }

    fn find(&mut self, id: &BlockId, name: &BlockId, phase: Phase) -> Result<&mut Tool, String> {
        let Some(tool) = self.0.get_mut(id) else {
            return Err(format!("tool call {} was never started", shown(id)));
        };
        if tool.name != *name {
            return Err(format!(
                "tool call {} changed its name from {} to {}",
                shown(id),
                shown(&tool.name),
                shown(name)
            ));
        }
        if tool.phase != phase {
            return Err(format!("tool call {} is out of order", shown(id)));
        }
        Ok(tool)
    }
}

impl Tool {
    fn gather(&mut self, metadata: &mut Option<ProviderMetadata>) {
        if let Some(more) = metadata.take() {
            merge_metadata(&mut self.metadata, more);
        }
        metadata.clone_from(&self.metadata);
    }
}
