//! Operations on the terminals of a Location.

mod connect;
mod socket;

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_runtime::TerminalRequest;
use opencode_runtime::pty::{TICKET_SECONDS, UpdateTerminal};
use opencode_schema::pty::{Pty, PtyConnectToken};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) use connect::route;

pub(crate) async fn list(call: Call<op::PtyList>) -> Answered<Located<Vec<Pty>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let terminals = call.runtime.terminals().list(&opened.place());
    Ok(opened.with(terminals))
}

/// Creates a terminal. An empty text counts as a missing one.
pub(crate) async fn create(call: Call<op::PtyCreate>) -> Answered<Located<Pty>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let payload = call.payload;
    let request = TerminalRequest {
        command: payload.command.filter(|it| !it.is_empty()),
        args: payload.args.unwrap_or_default(),
        directory: payload.cwd,
        title: payload.title.filter(|it| !it.is_empty()),
        environment: payload.env.unwrap_or_default(),
    };
    let workspace = opened.place().workspace_id;
    let created = call
        .runtime
        .create_terminal(&opened.location, workspace, request);
    let created = created.await?;
    Ok(opened.with(created))
}

pub(crate) async fn get(call: Call<op::PtyGet>) -> Answered<Located<Pty>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let terminals = call.runtime.terminals();
    let found = terminals.get(&opened.place(), &call.params.pty_id);
    Ok(opened.with(found?))
}

pub(crate) async fn update(call: Call<op::PtyUpdate>) -> Answered<Located<Pty>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let change = UpdateTerminal {
        title: call.payload.title.filter(|it| !it.is_empty()),
        size: call.payload.size.map(|size| (size.rows, size.cols)),
    };
    let runtime = &call.runtime;
    let updated = runtime.update_terminal(&opened.place(), &call.params.pty_id, change);
    Ok(opened.with(updated?))
}

pub(crate) async fn remove(call: Call<op::PtyRemove>) -> Answered<()> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let terminals = call.runtime.terminals();
    let removed = terminals.remove(&opened.place(), &call.params.pty_id).await;
    removed?;
    Ok(())
}

pub(crate) async fn connect_token(
    call: Call<op::PtyConnectTokenCreate>,
) -> Answered<Located<PtyConnectToken>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    if !call.vouched {
        return Err(Failure::Forbidden {
            message: "Invalid PTY connect token request".into(),
        }
        .into());
    }
    let terminals = call.runtime.terminals();
    let ticket = terminals.issue_ticket(&opened.place(), &call.params.pty_id);
    let ticket = ticket?;
    let token = PtyConnectToken {
        ticket,
        expires_in: TICKET_SECONDS,
    };
    Ok(opened.with(token))
}
