//! The context and the ports of the tool calls of a turn.

use std::path::Path;
use std::sync::Arc;

use opencode_schema::id::MessageID;
use opencode_schema::model::ModelRef;
use opencode_store::SessionRow;
use opencode_tools::{FileScope, Shell, TurnContext, TurnPorts};

use super::progress::TurnProgress;
use super::sample::Sampled;
use super::services::Services;
use super::skills::TurnSkills;
use crate::asks::permissions::TurnPermissions;
use crate::asks::questions::TurnQuestions;
use crate::coordinator::Stopper;
use crate::sessions::todos::TurnTodos;
use crate::tasks::TurnTasks;

/// Returns what all calls of a turn share.
pub(super) fn turn_context(
    services: &Arc<Services>,
    session: &SessionRow,
    sampled: &Sampled,
    model: &ModelRef,
    message_id: &MessageID,
    stopper: &Stopper,
) -> Arc<TurnContext> {
    let place = &session.info.location;
    let rule_scope = sampled.rule_scope();
    let settings = &sampled.location.configuration.settings;
    let permissions = TurnPermissions::new(
        Arc::clone(&services.permissions),
        place.clone(),
        rule_scope.clone(),
    );
    Arc::new(TurnContext {
        session_id: session.info.id.clone(),
        agent: sampled.id.clone(),
        message_id: message_id.clone(),
        files: Arc::new(FileScope {
            directory: Arc::from(Path::new(&place.directory)),
            home: Arc::clone(&sampled.location.home),
            folders: sampled.folders(services),
            guarded: Arc::clone(&sampled.location.guarded),
        }),
        cancel: stopper.stopped().child_token(),
        permissions: Arc::new(
            permissions.with_tool_names(services.names_of_now(&sampled.location)),
        ),
        progress: Arc::new(TurnProgress {
            announcer: Arc::clone(&services.journal.announcer),
            session: session.info.id.clone(),
            location: place.clone(),
            message_id: message_id.clone(),
        }),
        ports: TurnPorts {
            image_limits: settings.image,
            questions: Arc::new(TurnQuestions {
                questions: Arc::clone(&services.questions),
                place: place.clone(),
            }),
            shell: Arc::new(Shell::new(
                settings.shell.as_deref(),
                Arc::clone(&sampled.location.command_variables),
            )),
            skills: Arc::new(TurnSkills {
                rule_scope: rule_scope.clone(),
            }),
            tasks: Arc::new(TurnTasks {
                tasks: Arc::clone(&services.tasks),
                coordinator: stopper.coordinator().clone(),
                parent: session.clone(),
                rule_scope,
                model: model.clone(),
                settings: sampled.settings.as_ref().map(|it| Arc::clone(&it.values)),
            }),
            todos: Arc::new(TurnTodos {
                lists: Arc::clone(&services.todos),
                place: place.clone(),
            }),
        },
        output_limits: settings.tool_output.into(),
        secrets: sampled.location.secrets.clone(),
    })
}
