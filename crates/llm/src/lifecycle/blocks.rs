//! The open blocks of one kind.

use std::sync::Arc;

use super::{merge_metadata, shown};
use crate::canonical::event::{BlockId, ProviderMetadata};

/// Maximum number of open blocks. A linear search is fast for the few blocks that a provider interleaves.
const MAX_OPEN_BLOCKS: usize = 256;

/// Open blocks of one kind, in order of their starts.
#[derive(Debug)]
pub(super) struct OpenBlocks {
    kind: &'static str,
    open: Vec<(BlockId, Option<ProviderMetadata>)>,
}

impl OpenBlocks {
    pub(super) const fn new(kind: &'static str) -> Self {
        Self {
            kind,
            open: Vec::new(),
        }
    }

    pub(super) fn start(
        &mut self,
        id: &BlockId,
        metadata: Option<&ProviderMetadata>,
    ) -> Result<(), String> {
        if self.open.iter().any(|(known, _)| known == id) {
            return Err(format!("{} block {} started twice", self.kind, shown(id)));
        }
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(format!(
                "more than {MAX_OPEN_BLOCKS} open {} blocks",
                self.kind
            ));
        }
        self.open.push((Arc::clone(id), metadata.cloned()));
        Ok(())
    }

    pub(super) fn delta(
        &mut self,
        id: &BlockId,
        metadata: Option<&ProviderMetadata>,
    ) -> Result<(), String> {
        let at = self.position(id)?;
        if let Some(more) = metadata {
            merge_metadata(&mut self.open[at].1, more.clone());
        }
        Ok(())
    }

    /// Closes a block and adds the metadata of the whole block to its end.
    pub(super) fn end(
        &mut self,
        id: &BlockId,
        metadata: &mut Option<ProviderMetadata>,
    ) -> Result<(), String> {
        let at = self.position(id)?;
        let (_, mut gathered) = self.open.remove(at);
        if let Some(more) = metadata.take() {
            merge_metadata(&mut gathered, more);
        }
        *metadata = gathered;
        Ok(())
    }

    pub(super) fn close_all(
        &mut self,
    ) -> impl Iterator<Item = (BlockId, Option<ProviderMetadata>)> {
        self.open.drain(..)
    }

    fn position(&self, id: &BlockId) -> Result<usize, String> {
        self.open
            .iter()
            .position(|(known, _)| known == id)
            .ok_or_else(|| format!("{} block {} is not open", self.kind, shown(id)))
    }
}
