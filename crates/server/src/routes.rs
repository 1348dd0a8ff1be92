//! The table: which handler serves which operation.

use axum::Router;
use opencode_protocol::operations as op;
use opencode_runtime::Runtime;

use crate::handlers::{
    catalogue, definitions, files, host, inbox, inspection, integrations, location, messages,
    permissions, ptys, questions, recovery, revert, sessions, transfer,
};
use crate::router::operation::route;

/// Every operation of the contract, each of them once.
pub(crate) fn all() -> Router<Runtime> {
    Router::new()
        .merge(of_the_host())
        .merge(of_locations())
        .merge(of_sessions())
        .merge(of_requests())
        .merge(of_files())
        .merge(of_integrations())
}

fn of_the_host() -> Router<Runtime> {
    Router::new()
        .merge(route::<op::HealthGet, _, _>(host::health))
        .merge(route::<op::EventSubscribe, _, _>(host::subscribe))
}

fn of_locations() -> Router<Runtime> {
    Router::new()
        .merge(route::<op::LocationGet, _, _>(location::get))
        .merge(route::<op::LocationDiagnostics, _, _>(
            location::diagnostics,
        ))
        .merge(route::<op::LocationReload, _, _>(location::reload))
        .merge(route::<op::DebugContext, _, _>(inspection::context))
        .merge(route::<op::AgentList, _, _>(definitions::agents))
        .merge(route::<op::CommandList, _, _>(definitions::commands))
        .merge(route::<op::SkillList, _, _>(definitions::skills))
        .merge(route::<op::ReferenceList, _, _>(definitions::references))
        .merge(route::<op::ModelList, _, _>(catalogue::models))
        .merge(route::<op::ProviderList, _, _>(catalogue::providers))
        .merge(route::<op::ProviderGet, _, _>(catalogue::provider))
}

fn of_sessions() -> Router<Runtime> {
    Router::new()
        .merge(route::<op::SessionCreate, _, _>(sessions::create))
        .merge(route::<op::SessionList, _, _>(sessions::list))
        .merge(route::<op::SessionGet, _, _>(sessions::get))
        .merge(route::<op::SessionChildren, _, _>(sessions::children))
        .merge(route::<op::SessionActive, _, _>(sessions::active))
        .merge(route::<op::SessionPrompt, _, _>(sessions::prompt))
        .merge(route::<op::SessionInterrupt, _, _>(sessions::interrupt))
        .merge(route::<op::SessionWait, _, _>(sessions::wait))
        .merge(route::<op::SessionCompact, _, _>(sessions::compact))
        .merge(route::<op::SessionTodo, _, _>(sessions::todo))
        .merge(route::<op::SessionSwitchAgent, _, _>(
            sessions::switch_agent,
        ))
        .merge(route::<op::SessionSwitchModel, _, _>(
            sessions::switch_model,
        ))
        .merge(route::<op::SessionMove, _, _>(sessions::relocate))
        .merge(route::<op::SessionMessages, _, _>(messages::list))
        .merge(route::<op::SessionMessageGet, _, _>(messages::get))
        .merge(route::<op::SessionContext, _, _>(messages::context))
        .merge(route::<op::SessionHistoryGet, _, _>(messages::history))
        .merge(route::<op::SessionEvents, _, _>(messages::events))
        .merge(route::<op::SessionInboxList, _, _>(inbox::list))
        .merge(route::<op::SessionInboxWithdraw, _, _>(inbox::withdraw))
        .merge(route::<op::SessionInboxSetDelivery, _, _>(
            inbox::set_delivery,
        ))
        .merge(route::<op::SessionResume, _, _>(recovery::resume))
        .merge(route::<op::SessionInterrupted, _, _>(recovery::interrupted))
        .merge(route::<op::SessionRequest, _, _>(inspection::request))
        .merge(route::<op::SessionExport, _, _>(transfer::export))
        .merge(route::<op::SessionImport, _, _>(transfer::import))
        .merge(route::<op::SessionRevertStage, _, _>(revert::stage))
        .merge(route::<op::SessionRevertClear, _, _>(revert::clear))
        .merge(route::<op::SessionRevertCommit, _, _>(revert::commit))
}

/// Requests to users.
fn of_requests() -> Router<Runtime> {
    Router::new()
        .merge(route::<op::SessionPermissionList, _, _>(permissions::list))
        .merge(route::<op::SessionPermissionGet, _, _>(permissions::get))
        .merge(route::<op::SessionPermissionCreate, _, _>(
            permissions::create,
        ))
        .merge(route::<op::SessionPermissionReply, _, _>(
            permissions::reply,
        ))
        .merge(route::<op::PermissionRequestList, _, _>(
            permissions::requests,
        ))
        .merge(route::<op::PermissionSavedList, _, _>(permissions::saved))
        .merge(route::<op::PermissionSavedRemove, _, _>(
            permissions::remove_saved,
        ))
        .merge(route::<op::SessionQuestionList, _, _>(questions::list))
        .merge(route::<op::SessionQuestionReply, _, _>(questions::reply))
        .merge(route::<op::SessionQuestionReject, _, _>(questions::reject))
        .merge(route::<op::QuestionRequestList, _, _>(questions::requests))
}

/// Files and terminals.
fn of_files() -> Router<Runtime> {
    Router::new()
        .merge(route::<op::FsRead, _, _>(files::read))
        .merge(route::<op::FsList, _, _>(files::list))
        .merge(route::<op::FsFind, _, _>(files::find))
        .merge(route::<op::PtyList, _, _>(ptys::list))
        .merge(route::<op::PtyCreate, _, _>(ptys::create))
        .merge(route::<op::PtyGet, _, _>(ptys::get))
        .merge(route::<op::PtyUpdate, _, _>(ptys::update))
        .merge(route::<op::PtyRemove, _, _>(ptys::remove))
        .merge(route::<op::PtyConnectTokenCreate, _, _>(
            ptys::connect_token,
        ))
        .merge(ptys::route())
}

fn of_integrations() -> Router<Runtime> {
    Router::new()
        .merge(route::<op::IntegrationList, _, _>(integrations::list))
        .merge(route::<op::IntegrationGet, _, _>(integrations::get))
        .merge(route::<op::IntegrationConnectKey, _, _>(
            integrations::connect_key,
        ))
        .merge(route::<op::IntegrationConnectOauth, _, _>(
            integrations::connect_oauth,
        ))
        .merge(route::<op::IntegrationAttemptStatusGet, _, _>(
            integrations::attempt_status,
        ))
        .merge(route::<op::IntegrationAttemptComplete, _, _>(
            integrations::complete_attempt,
        ))
        .merge(route::<op::IntegrationAttemptCancel, _, _>(
            integrations::done,
        ))
        .merge(route::<op::CredentialUpdate, _, _>(integrations::done))
        .merge(route::<op::CredentialRemove, _, _>(integrations::done))
}
