//! Several places of a credential, in the order in which they are asked.

use std::fmt;

use reqsign_core::{Context, Error, ProvideCredential, ProvideCredentialDyn, Result};

/// Asks each place until one has a credential. If none has one, fails with the first failure: the places after it are
/// less specific.
pub(crate) struct Chain<C> {
    places: Vec<Box<dyn ProvideCredentialDyn<Credential = C>>>,
}

impl<C> Chain<C> {
    pub(crate) fn new() -> Self {
        Self { places: Vec::new() }
    }

    pub(crate) fn then(mut self, place: impl ProvideCredential<Credential = C>) -> Self {
        self.places.push(Box::new(place));
        self
    }
}

impl<C> fmt::Debug for Chain<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

impl<C: Send + Sync + Unpin + 'static> ProvideCredential for Chain<C> {
    type Credential = C;

    async fn provide_credential(&self, context: &Context) -> Result<Option<C>> {
        let mut first: Option<Error> = None;
        for place in &self.places {
            match place.provide_credential_dyn(context).await {
                Ok(Some(found)) => return Ok(Some(found)),
                Ok(None) => {}
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        first.map_or(Ok(None), Err)
    }
}
