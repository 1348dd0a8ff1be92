//! Operations on sessions.

use std::collections::BTreeMap;

use opencode_protocol::input::Order;
use opencode_protocol::operations as op;
use opencode_protocol::output::{ActiveSessions, SessionsResponse};
use opencode_protocol::page::{Direction, SessionAnchor, SessionFilters};
use opencode_runtime::{
    Anchored, CommandRequest, CreateSession, ForkSession, PromptRequest, SessionFilter,
    UpdateSession,
};
use opencode_schema::prompt::{PromptSettings, SessionInputAdmitted};
use opencode_schema::session::{SessionActive, SessionInfo};
use opencode_schema::todo::Todo;

use crate::router::answer::{Answered, Whole};
use crate::router::operation::Call;

pub(crate) async fn create(call: Call<op::SessionCreate>) -> Answered<SessionInfo> {
    let payload = call.payload;
    let location = match payload.location {
        Some(location) => location,
        None => call.selector?.or_default(call.runtime.default_directory()),
    };
    let request = CreateSession {
        id: payload.id,
        agent: payload.agent,
        model: payload.model,
        location,
        title: payload.title,
        parent_id: payload.parent_id,
        permission: payload.permission.unwrap_or_default(),
        budget: payload.budget,
    };
    let data = call.runtime.create_session(request).await?;
    Ok(data)
}

pub(crate) async fn list(call: Call<op::SessionList>) -> Answered<Whole<SessionsResponse>> {
    let page = call.query.page()?;
    let anchor = page.from.as_ref().map(|from| Anchored {
        at: (from.anchor.time, from.anchor.id.to_string()),
        before: from.direction == Direction::Previous,
    });
    let (filter, limit) = (filter(page.scope.clone()), page.limit as usize);
    let listed = call
        .runtime
        .sessions(filter, order(page.order), anchor, limit);
    let data = listed.await?;
    let place = |it: &SessionInfo| SessionAnchor {
        time: it.time.created,
        id: it.id.clone(),
    };
    let ends = data
        .first()
        .zip(data.last())
        .map(|(one, other)| (place(one), place(other)));
    let cursor = page.cursors(ends);
    Ok(Whole(SessionsResponse { data, cursor }))
}

pub(crate) fn order(order: Order) -> opencode_runtime::Order {
    match order {
        Order::Asc => opencode_runtime::Order::Ascending,
        Order::Desc => opencode_runtime::Order::Descending,
    }
}

/// Returns the filter of the store. A directory is narrower than its project, so it replaces project and subpath.
fn filter(filters: SessionFilters) -> SessionFilter {
    let SessionFilters {
        workspace,
        search,
        directory,
        project,
        subpath,
        archived,
        roots,
        parent,
    } = filters;
    let by_project = directory.is_none();
    SessionFilter {
        project: project.filter(|_| by_project),
        subpath: subpath.filter(|_| by_project),
        directory,
        workspace: workspace.map(|id| id.to_string()),
        search,
        archived,
        roots,
        parent: parent.map(|id| id.to_string()),
    }
}

pub(crate) async fn get(call: Call<op::SessionGet>) -> Answered<SessionInfo> {
    let data = call.runtime.session(&call.params.session_id).await?;
    Ok(data)
}

pub(crate) async fn update(call: Call<op::SessionUpdate>) -> Answered<SessionInfo> {
    let payload = call.payload;
    let request = UpdateSession {
        title: payload.title,
        archived: payload.archived,
        permission: payload.permission,
        budget: payload.budget,
    };
    let updated = call
        .runtime
        .update_session(&call.params.session_id, request);
    Ok(updated.await?)
}

pub(crate) async fn remove(call: Call<op::SessionRemove>) -> Answered<()> {
    let interrupt = call.query.interrupt.unwrap_or_default();
    let removed = call
        .runtime
        .remove_session(&call.params.session_id, interrupt);
    removed.await?;
    Ok(())
}

pub(crate) async fn fork(call: Call<op::SessionFork>) -> Answered<SessionInfo> {
    let request = ForkSession {
        session_id: call.params.session_id,
        message_id: call.payload.message_id,
        part_id: call.payload.part_id,
    };
    Ok(call.runtime.fork_session(request).await?)
}

pub(crate) async fn children(call: Call<op::SessionChildren>) -> Answered<Vec<SessionInfo>> {
    let children = call.runtime.children(&call.params.session_id);
    Ok(children.await?)
}

pub(crate) async fn active(call: Call<op::SessionActive>) -> Answered<ActiveSessions> {
    let running = call.runtime.active().into_iter();
    let data: BTreeMap<_, _> = running.map(|id| (id, SessionActive::Running {})).collect();
    Ok(data)
}

pub(crate) async fn prompt(call: Call<op::SessionPrompt>) -> Answered<SessionInputAdmitted> {
    let payload = call.payload;
    let request = PromptRequest {
        session_id: call.params.session_id,
        id: payload.id,
        prompt: payload.prompt,
        delivery: payload.delivery.unwrap_or_default(),
        resume: payload.resume.unwrap_or(true),
        settings: PromptSettings {
            system: payload.system,
            tools: payload.tools,
            agent: payload.agent,
            model: payload.model,
            variant: payload.variant,
            output: payload.output,
        },
        mentions: payload.mentions.unwrap_or(true),
        command: None,
    };
    let is_tolerated = !call.is_embedded;
    call.runtime
        .tolerate_unknown_agent(&request.session_id, is_tolerated);
    Ok(call.runtime.prompt(request).await?)
}

pub(crate) async fn command(call: Call<op::CommandRun>) -> Answered<SessionInputAdmitted> {
    let payload = call.payload;
    let request = CommandRequest {
        session_id: call.params.session_id,
        id: payload.id,
        command: payload.command,
        arguments: payload.arguments.unwrap_or_default(),
        agent: payload.agent,
        model: payload.model,
        files: payload.files,
        delivery: payload.delivery.unwrap_or_default(),
        resume: payload.resume.unwrap_or(true),
    };
    let is_tolerated = !call.is_embedded;
    call.runtime
        .tolerate_unknown_agent(&request.session_id, is_tolerated);
    Ok(call.runtime.run_command(request).await?)
}

pub(crate) async fn interrupt(call: Call<op::SessionInterrupt>) -> Answered<()> {
    call.runtime.interrupt(&call.params.session_id).await?;
    Ok(())
}

pub(crate) async fn wait(call: Call<op::SessionWait>) -> Answered<()> {
    call.runtime.wait(&call.params.session_id).await?;
    Ok(())
}

pub(crate) async fn compact(call: Call<op::SessionCompact>) -> Answered<()> {
    call.runtime.compact(&call.params.session_id).await?;
    Ok(())
}

pub(crate) async fn relocate(call: Call<op::SessionMove>) -> Answered<SessionInfo> {
    let moved = call
        .runtime
        .move_session(&call.params.session_id, call.payload.location);
    Ok(moved.await?)
}

pub(crate) async fn todo(call: Call<op::SessionTodo>) -> Answered<Vec<Todo>> {
    let todos = call.runtime.todos(&call.params.session_id);
    Ok(todos.await?)
}

pub(crate) async fn switch_agent(call: Call<op::SessionSwitchAgent>) -> Answered<()> {
    let switched = call
        .runtime
        .switch_agent(&call.params.session_id, call.payload.agent);
    switched.await?;
    Ok(())
}

pub(crate) async fn switch_model(call: Call<op::SessionSwitchModel>) -> Answered<()> {
    let switched = call
        .runtime
        .switch_model(&call.params.session_id, call.payload.model);
    switched.await?;
    Ok(())
}
