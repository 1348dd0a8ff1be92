//! Operations on the providers and models of a Location.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_schema::catalogue::{ModelInfo, ProviderInfo};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn models(call: Call<op::ModelList>) -> Answered<Located<Vec<ModelInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let models = opened.location.catalogue.models();
    Ok(opened.with(models))
}

pub(crate) async fn providers(
    call: Call<op::ProviderList>,
) -> Answered<Located<Vec<ProviderInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let providers = opened.location.catalogue.providers();
    Ok(opened.with(providers))
}

pub(crate) async fn provider(call: Call<op::ProviderGet>) -> Answered<Located<ProviderInfo>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let id = call.params.provider_id;
    match opened.location.catalogue.provider(&id) {
        Some(provider) => Ok(opened.with(provider)),
        None => Err(Failure::provider_not_found(id).into()),
    }
}
