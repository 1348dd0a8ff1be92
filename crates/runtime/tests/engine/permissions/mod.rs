//! Permissions: the rules that decide, the requests to the user, and the effect of each reply.

mod asked;
mod attended;
mod now;
mod replies;
mod rules;
mod saved;
mod storage;
mod withdrawn;

use opencode_schema::id::SessionID;
use opencode_schema::permission::{PermissionReply, PermissionRequest};
use opencode_testkit::{Fixture, LiveLog, Reply, output};
use serde_json::{Value, json};

/// A runtime with a tool `use`, which asks for the permissions in its input: `on` names the
/// resources, `save` the patterns that `always` saves. Resources with `ok*` are allowed, those with
/// `no*` are denied, and all others ask the user.
pub(crate) async fn open() -> Fixture {
    let f = Fixture::open().await;
    equip(&f);
    f
}

/// Adds the tool `use` and its rules.
pub(crate) fn equip(f: &Fixture) {
    let rules = json!({"*": "ask", "ok*": "allow", "no*": "deny"});
    let config = json!({"permission": {"use": rules}, "agent": {
        "strict": {"permission": {"use": "deny"}},
        "free": {"permission": {"use": "allow"}},
    }});
    f.project.write("opencode.json", &config.to_string());
    f.tool("use", |input, context| async move {
        let texts = |name: &str| -> Vec<String> {
            let texts = input[name].as_array().cloned().unwrap_or_default();
            let texts = texts.iter().filter_map(Value::as_str).map(str::to_owned);
            texts.collect()
        };
        let mut request = context.permission_request("use", texts("on"));
        request.save = texts("save");
        context.assert(request, "Unable to use it").await?;
        output(json!({}))
    });
}

/// An answer that calls `use` once for each of these resources, with the ids c0, c1, ...
pub(crate) fn uses(resources: &[&str]) -> Reply {
    let calls = resources.iter().enumerate();
    let reply = calls.fold(Reply::new(), |reply, (place, on)| {
        reply.call(&format!("c{place}"), "use", json!({"on": [on]}))
    });
    reply.tool_calls()
}

/// The same for one resource, with the patterns to save.
pub(crate) fn saves(on: &str, save: &[&str]) -> Reply {
    Reply::calls("c0", "use", json!({"on": [on], "save": save}))
}

/// Prompts a session whose model calls `use`, and waits until all these resources are requested.
pub(crate) async fn ask(
    f: &Fixture,
    live: &mut LiveLog,
    session: &SessionID,
    resources: &[&str],
) -> Vec<PermissionRequest> {
    f.model.reply(uses(resources));
    f.prompt(session, "Go").await;
    heard_asked(f, live, resources).await;
    waiting(f, session).await
}

/// Reads the live stream until all these resources are requested, in any order.
pub(crate) async fn heard_asked(f: &Fixture, live: &mut LiveLog, resources: &[&str]) {
    for on in resources {
        let wanted = asked(on);
        if !live.events().contains(&wanted) {
            f.read_until(live, &wanted).await;
        }
    }
}

pub(crate) fn asked(on: &str) -> String {
    format!("permission.v2.asked use [\"{on}\"]")
}

/// The pending requests of a session, ordered by their resources.
pub(crate) async fn waiting(f: &Fixture, session: &SessionID) -> Vec<PermissionRequest> {
    let listed = f.within("permissions", f.runtime().permissions(session));
    let mut listed = listed.await.unwrap();
    listed.sort_by(|one, other| one.resources.cmp(&other.resources));
    listed
}

pub(crate) async fn reply(f: &Fixture, request: &PermissionRequest, reply: PermissionReply) {
    answer(f, request, reply, None).await;
}

pub(crate) async fn answer(
    f: &Fixture,
    request: &PermissionRequest,
    reply: PermissionReply,
    message: Option<&str>,
) {
    let message = message.map(str::to_owned);
    let (session, id) = (&request.session_id, &request.id);
    let replied = f.runtime().reply_permission(session, id, reply, message);
    f.within("reply", replied).await.unwrap();
}

/// The received events about permissions.
pub(crate) fn of_permissions(live: &LiveLog) -> Vec<String> {
    let events = live.events().into_iter();
    events
        .filter(|event| event.starts_with("permission."))
        .collect()
}

/// The results of the calls of a session, sorted.
pub(crate) async fn settled(f: &Fixture, session: &SessionID) -> Vec<String> {
    let events = f.events(session).await.into_iter();
    let mut settled: Vec<_> = events
        .filter(|event| event.starts_with("tool.success") || event.starts_with("tool.failed"))
        .collect();
    settled.sort();
    settled
}
