//! The context that tools receive.

use std::path::Path;
use std::sync::Arc;

use opencode_schema::id::MessageID;
use opencode_schema::model::ModelRef;
use opencode_store::SessionRow;
use opencode_tools::{Commitment, Shell, ToolContext};

use super::progress::TurnProgress;
use super::sample::Sampled;
use super::services::Services;
use super::skills::TurnSkills;
use crate::asks::permissions::TurnPermissions;
use crate::asks::questions::TurnQuestions;
use crate::coordinator::Stopper;
use crate::sessions::todos::TurnTodos;
use crate::tasks::TurnTasks;

/// Returns the context that all calls of a turn share.
pub(super) fn shared_context(
    services: &Arc<Services>,
    session: &SessionRow,
    sampled: &Sampled,
    model: &ModelRef,
    message_id: &MessageID,
    stopper: &Stopper,
) -> ToolContext {
    let place = &session.info.location;
    let rule_scope = sampled.rule_scope();
    let settings = &sampled.location.configuration.settings;
    let permissions = TurnPermissions::new(
        Arc::clone(&services.permissions),
        place.clone(),
        rule_scope.clone(),
    );
    ToolContext {
        session_id: session.info.id.clone(),
        agent: sampled.id.clone(),
        assistant_message_id: message_id.clone(),
        call_id: String::new(),
        directory: Arc::from(Path::new(&place.directory)),
        home: Arc::clone(&sampled.location.home),
        cancel: stopper.stopped().child_token(),
        folders: sampled.folders(services),
        guarded: Arc::clone(&sampled.location.guarded),
        output_limits: settings.tool_output.into(),
        image_limits: settings.image,
        skills: Arc::new(TurnSkills {
            rule_scope: rule_scope.clone(),
        }),
        shell: Arc::new(Shell::new(
            settings.shell.as_deref(),
            Arc::clone(&sampled.location.command_variables),
        )),
        secrets: sampled.location.secrets.clone(),
        tasks: Arc::new(TurnTasks {
            tasks: Arc::clone(&services.tasks),
            coordinator: stopper.coordinator().clone(),
            parent: session.clone(),
            rule_scope,
            model: model.clone(),
            settings: sampled.settings.as_ref().map(|it| Arc::clone(&it.values)),
        }),
        permissions: Arc::new(
            permissions.with_tool_names(services.names_of_now(&sampled.location)),
        ),
        progress: Arc::new(TurnProgress {
            announcer: Arc::clone(&services.journal.announcer),
            session: session.info.id.clone(),
            location: place.clone(),
            message_id: message_id.clone(),
        }),
        questions: Arc::new(TurnQuestions {
            questions: Arc::clone(&services.questions),
            place: place.clone(),
        }),
        todos: Arc::new(TurnTodos {
            lists: Arc::clone(&services.todos),
            place: place.clone(),
        }),
        web: Arc::clone(&services.web),
        search: Arc::clone(&services.search),
        commitment: Commitment::default(),
    }
}
