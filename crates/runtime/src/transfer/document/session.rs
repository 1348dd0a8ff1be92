//! The record of a session.

use opencode_location::directory::normalise;
use opencode_location::project::Project;
use opencode_schema::Record;
use opencode_schema::event::{RecordedRule, SessionCreated, SessionRecord};
use opencode_schema::id::{SessionID, WorkspaceID};
use opencode_schema::model::ModelRef;
use opencode_schema::session::{SessionTime, default_title};

use super::log::Log;
use super::values::{model, name, object, text, time};
use super::{SessionDocument, unreadable};
use crate::error::{ImportError, RuntimeError, check_new_id};

/// Members of a record that no session of this host has, with the reason.
const WITHOUT_PLACE: &[(&str, &str)] = &[
    (
        "revert",
        "A staged revert refers to snapshots of files that another store holds.",
    ),
    ("share", "The link belongs to another service."),
    (
        "summary",
        "The host computes the changes of files from its own snapshots.",
    ),
    ("metadata", "A session of this host has no metadata."),
];

/// Returns the id of the session.
pub(super) fn id(info: &Record) -> Result<SessionID, RuntimeError> {
    let id = text(info, "id").ok_or_else(|| unreadable("info.id is missing"))?;
    let id = SessionID::parse(id).map_err(|error| unreadable(format!("info.id: {error}")))?;
    check_new_id(id.as_str())?;
    Ok(id)
}

/// Returns the directory of the session in normal form.
pub(super) fn directory(info: &Record) -> Result<String, ImportError> {
    let directory =
        text(info, "directory").ok_or_else(|| unreadable("info.directory is missing"))?;
    normalise(directory).map_err(|error| unreadable(format!("info.directory: {error}")))
}

/// Adds the event of the creation.
pub(super) fn created(
    log: &mut Log,
    document: &SessionDocument,
    directory: String,
    project: Project,
) -> Result<(), RuntimeError> {
    let info = &document.info;
    let created =
        time(info, "created").ok_or_else(|| unreadable("info.time.created is missing"))?;
    let parent = text(info, "parentID").map(SessionID::parse).transpose();
    let parent = parent.map_err(|error| unreadable(format!("info.parentID: {error}")))?;
    let chosen = Chosen::of(document);
    let record = SessionRecord {
        id: id(info)?,
        slug: name(info, "slug").unwrap_or_else(|| "imported-session".to_owned()),
        path: Some(project.subpath(&directory)).filter(|path| !path.is_empty()),
        project_id: project.id,
        workspace_id: text(info, "workspaceID").and_then(|id| WorkspaceID::parse(id).ok()),
        directory,
        parent_id: parent,
        title: name(info, "title").unwrap_or_else(|| default_title(created)),
        agent: chosen.agent,
        model: chosen.model,
        version: name(info, "version").unwrap_or_else(|| "unknown".to_owned()),
        time: SessionTime {
            created,
            updated: time(info, "updated").unwrap_or(created),
            archived: time(info, "archived"),
        },
        permission: rules(info)?,
        budget: None,
        cost: None,
        tokens: None,
        revert: None,
        share: None,
        summary: None,
    };
    let updated = record.time.updated;
    log.push(updated, SessionCreated { info: record });
    for (member, reason) in WITHOUT_PLACE {
        if info.contains_key(*member) {
            log.omit(None, None, member, reason);
        }
    }
    Ok(())
}

/// The agent and the model of the session: those of the record, else those of the newest prompt.
struct Chosen {
    agent: Option<String>,
    model: Option<ModelRef>,
}

impl Chosen {
    fn of(document: &SessionDocument) -> Self {
        let is_prompt = |info: &&Record| text(info, "role") == Some("user");
        let messages = document.messages.iter().rev().map(|it| &it.info);
        let newest = messages
            .filter(is_prompt)
            .find(|info| info.contains_key("agent"));
        let info = &document.info;
        let agent = name(info, "agent").or_else(|| name(newest?, "agent"));
        let recorded = object(info, "model").and_then(|it| model(it, "id"));
        Self {
            agent,
            model: recorded.or_else(|| model(object(newest?, "model")?, "modelID")),
        }
    }
}

/// Returns the permission rules of the session. A rule that cannot be read could be one that restricts, so it stops the
/// import.
fn rules(info: &Record) -> Result<Option<Vec<RecordedRule>>, ImportError> {
    let Some(rules) = info.get("permission").filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    let rules: Vec<RecordedRule> = serde_json::from_value(rules.clone())
        .map_err(|error| unreadable(format!("info.permission: {error}")))?;
    Ok(Some(rules).filter(|rules| !rules.is_empty()))
}
