//! The table of operations and their handlers.

use opencode_protocol::operations as op;

use crate::handlers::{
    catalogue, copies, definitions, files, host, inbox, inspection, integrations, location, mcp,
    messages, permissions, ptys, questions, recovery, revert, sessions, storage, transfer,
};
use crate::router::operation::{Route, route};

/// Returns the routes of all operations of the contract.
pub(crate) fn all() -> Vec<Route> {
    let groups = [
        host_routes(),
        of_locations(),
        of_sessions(),
        of_requests(),
        of_files(),
        of_integrations(),
    ];
    groups.into_iter().flatten().collect()
}

fn host_routes() -> Vec<Route> {
    vec![
        route::<op::HealthGet>(host::health),
        route::<op::EventSubscribe>(host::subscribe),
        route::<op::StorageStatsGet>(storage::stats),
        route::<op::StorageCompact>(storage::compact),
    ]
}

fn of_locations() -> Vec<Route> {
    vec![
        route::<op::LocationGet>(location::get),
        route::<op::LocationDiagnostics>(location::diagnostics),
        route::<op::LocationReload>(location::reload),
        route::<op::DebugContext>(inspection::context),
        route::<op::AgentList>(definitions::agents),
        route::<op::CommandList>(definitions::commands),
        route::<op::SkillList>(definitions::skills),
        route::<op::ReferenceList>(definitions::references),
        route::<op::ModelList>(catalogue::models),
        route::<op::ProviderList>(catalogue::providers),
        route::<op::ProviderGet>(catalogue::provider),
        route::<op::McpList>(mcp::list),
        route::<op::McpResources>(mcp::resources),
        route::<op::McpAdd>(mcp::add),
        route::<op::McpRemove>(mcp::remove),
        route::<op::McpReconnect>(mcp::reconnect),
    ]
}

fn of_sessions() -> Vec<Route> {
    vec![
        route::<op::SessionCreate>(sessions::create),
        route::<op::SessionList>(sessions::list),
        route::<op::SessionGet>(sessions::get),
        route::<op::SessionUpdate>(sessions::update),
        route::<op::SessionRemove>(sessions::remove),
        route::<op::SessionFork>(sessions::fork),
        route::<op::SessionChildren>(sessions::children),
        route::<op::SessionActive>(sessions::active),
        route::<op::SessionPrompt>(sessions::prompt),
        route::<op::CommandRun>(sessions::command),
        route::<op::SessionInterrupt>(sessions::interrupt),
        route::<op::SessionWait>(sessions::wait),
        route::<op::SessionCompact>(sessions::compact),
        route::<op::SessionTodo>(sessions::todo),
        route::<op::SessionSwitchAgent>(sessions::switch_agent),
        route::<op::SessionSwitchModel>(sessions::switch_model),
        route::<op::SessionMove>(sessions::relocate),
        route::<op::SessionPrune>(storage::prune),
        route::<op::SessionDiff>(copies::diff),
        route::<op::SessionShare>(copies::share),
        route::<op::SessionUnshare>(copies::unshare),
        route::<op::SessionMessages>(messages::list),
        route::<op::SessionMessageGet>(messages::get),
        route::<op::SessionContext>(messages::context),
        route::<op::SessionHistoryGet>(messages::history),
        route::<op::SessionEvents>(messages::events),
        route::<op::SessionInboxList>(inbox::list),
        route::<op::SessionInboxWithdraw>(inbox::withdraw),
        route::<op::SessionInboxSetDelivery>(inbox::set_delivery),
        route::<op::SessionResume>(recovery::resume),
        route::<op::SessionInterrupted>(recovery::interrupted),
        route::<op::SessionRequest>(inspection::request),
        route::<op::SessionExport>(transfer::export),
        route::<op::SessionImport>(transfer::import),
        route::<op::SessionImportDocument>(transfer::import_document),
        route::<op::SessionRevertStage>(revert::stage),
        route::<op::SessionRevertClear>(revert::clear),
        route::<op::SessionRevertCommit>(revert::commit),
    ]
}

/// Requests to users.
fn of_requests() -> Vec<Route> {
    vec![
        route::<op::SessionPermissionList>(permissions::list),
        route::<op::SessionPermissionGet>(permissions::get),
        route::<op::SessionPermissionCreate>(permissions::create),
        route::<op::SessionPermissionReply>(permissions::reply),
        route::<op::PermissionRequestList>(permissions::requests),
        route::<op::PermissionSavedList>(permissions::saved),
        route::<op::PermissionSavedRemove>(permissions::remove_saved),
        route::<op::SessionQuestionList>(questions::list),
        route::<op::SessionQuestionReply>(questions::reply),
        route::<op::SessionQuestionReject>(questions::reject),
        route::<op::QuestionRequestList>(questions::requests),
    ]
}

/// Files and terminals.
fn of_files() -> Vec<Route> {
    vec![
        route::<op::FsRead>(files::read),
        route::<op::FsList>(files::list),
        route::<op::FsFind>(files::find),
        route::<op::PtyList>(ptys::list),
        route::<op::PtyCreate>(ptys::create),
        route::<op::PtyGet>(ptys::get),
        route::<op::PtyUpdate>(ptys::update),
        route::<op::PtyRemove>(ptys::remove),
        route::<op::PtyConnectTokenCreate>(ptys::connect_token),
        ptys::route(),
    ]
}

fn of_integrations() -> Vec<Route> {
    vec![
        route::<op::IntegrationList>(integrations::list),
        route::<op::IntegrationGet>(integrations::get),
        route::<op::IntegrationConnectKey>(integrations::connect_key),
        route::<op::IntegrationConnectOauth>(integrations::connect_oauth),
        route::<op::IntegrationAttemptStatusGet>(integrations::attempt_status),
        route::<op::IntegrationAttemptComplete>(integrations::complete_attempt),
        route::<op::IntegrationAttemptCancel>(integrations::cancel_attempt),
        route::<op::CredentialUpdate>(integrations::update_credential),
        route::<op::CredentialRemove>(integrations::remove_credential),
    ]
}

#[cfg(test)]
mod tests {
    use opencode_protocol::operations::OPERATIONS;

    #[test]
    fn every_operation_is_routed_once() {
        let mut routed: Vec<_> = super::all().iter().map(|route| route.id).collect();
        let mut declared: Vec<_> = OPERATIONS.iter().map(|spec| spec.id).collect();
        routed.sort_unstable();
        declared.sort_unstable();
        assert_eq!(routed, declared);
    }
}
