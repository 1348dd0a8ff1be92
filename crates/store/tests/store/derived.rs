//! Announcements of messages and parts that the store derives from entries.

use opencode_schema::event::{Notice, SessionEvent};
use opencode_store::{ReplayOptions, SessionRow, Store};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::harness::{Bench, admitted, append, event, model, of_a, prompted, step_started};
use crate::replay::{export, replay_as};

/// A client that follows a session by its announcements alone.
#[derive(Default)]
struct Client {
    /// Messages in order, each with its parts.
    messages: Vec<(Value, Vec<Value>)>,
}

impl Client {
    fn hear(&mut self, notice: &Notice) {
        let position = |messages: &[(Value, Vec<Value>)], id: &str| {
            messages.iter().position(|(info, _)| info["id"] == id)
        };
        match notice {
            Notice::MessageUpdated(it) => {
                let info = json!(it.info);
                let id = info["id"].as_str().unwrap().to_owned();
                match position(&self.messages, &id) {
                    Some(at) => self.messages[at].0 = info,
                    None => self.messages.push((info, Vec::new())),
                }
            }
            Notice::MessageRemoved(it) => {
                let at = position(&self.messages, it.message_id.as_str());
                self.messages.remove(at.expect("the message is known"));
            }
            Notice::MessagePartUpdated(it) => {
                let at = position(&self.messages, it.message_id.as_str());
                let parts = &mut self.messages[at.expect("the message is known")].1;
                let index = it.index as usize;
                match parts.get_mut(index) {
                    Some(part) => *part = json!(it.part),
                    None => {
                        assert_eq!(parts.len(), index, "no part is left out");
                        parts.push(json!(it.part));
                    }
                }
            }
            Notice::MessagePartRemoved(it) => {
                let at = position(&self.messages, it.message_id.as_str());
                let parts = &mut self.messages[at.expect("the message is known")].1;
                assert_eq!(
                    parts.len(),
                    it.index as usize + 1,
                    "the last part goes first"
                );
                assert_eq!(parts.pop().unwrap()["id"], *it.part_id);
            }
            Notice::SessionCompacted(_) => {}
            other => panic!("{} is not derived", other.name()),
        }
    }

    /// The messages in the form of `sessions.messages`.
    fn messages(&self) -> Vec<Value> {
        let whole = |(info, parts): &(Value, Vec<Value>)| {
            let mut info = info.clone();
            if info["type"] == "assistant" {
                assert_eq!(info["content"], json!([]));
                info["content"] = parts.clone().into();
            }
            info
        };
        self.messages.iter().map(whole).collect()
    }
}

fn derived(bench: &Bench) -> Vec<Notice> {
    let heard = bench.heard.lock().unwrap();
    heard
        .iter()
        .flat_map(|entry| entry.derived.clone())
        .collect()
}

fn names(notices: &[Notice]) -> Vec<&str> {
    notices.iter().map(Notice::name).collect()
}

/// Appends what can be appended. Conflicts are part of a random history.
async fn try_all(store: &Store, session: &SessionRow, events: &[SessionEvent]) {
    for (time, event) in (2000..).zip(events) {
        let _ = append(store, &session.info.id, time, event.clone()).await;
    }
}

#[tokio::test]
async fn nothing_is_derived_without_a_demand() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.append(&session, 1, step_started("msg_a")).await;
    assert_eq!(names(&derived(&bench)), [""; 0]);
    let demand = bench.store.derive().await.unwrap();
    bench
        .append(&session, 2, of_a("text.started", json!({"textID": "t"})))
        .await;
    assert_eq!(names(&derived(&bench)), ["message.part.updated"]);
    drop(demand);
    bench
        .append(
            &session,
            3,
            of_a("text.ended", json!({"textID": "t", "text": "x"})),
        )
        .await;
    assert_eq!(names(&derived(&bench)), ["message.part.updated"]);
}

#[tokio::test]
async fn each_entry_announces_the_message_or_the_part_that_it_changed() {
    let provider = json!({"executed": false});
    let error = json!({"type": "unknown", "message": "no"});
    let (bench, session) = Bench::with_session("ses_a").await;
    let _demand = bench.store.derive().await.unwrap();
    for (event, expected) in [
        (admitted("msg_u", "hi", "steer"), &[][..]),
        (prompted("msg_u", "hi", "steer"), &["message.updated"]),
        (step_started("msg_a"), &["message.updated"]),
        (
            of_a("text.started", json!({"textID": "t"})),
            &["message.part.updated"],
        ),
        (
            of_a("text.ended", json!({"textID": "t", "text": "x"})),
            &["message.part.updated"],
        ),
        (
            of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
            &["message.part.updated"],
        ),
        // A call that has not run cannot succeed.
        (
            of_a(
                "tool.success",
                json!({"callID": "c", "structured": {}, "content": [], "provider": provider}),
            ),
            &[],
        ),
        (
            of_a(
                "tool.failed",
                json!({"callID": "c", "error": error, "provider": provider}),
            ),
            &["message.part.updated"],
        ),
        (
            of_a(
                "tool.failed",
                json!({"callID": "none", "error": error, "provider": provider}),
            ),
            &[],
        ),
        (
            event(
                "pruned",
                json!({"calls": [{"assistantMessageID": "msg_a", "callID": "c"}, {"assistantMessageID": "msg_z", "callID": "c"}]}),
            ),
            &["message.part.updated"],
        ),
        (
            event(
                "text.ended",
                json!({"assistantMessageID": "msg_z", "textID": "t", "text": "x"}),
            ),
            &[],
        ),
        (
            of_a(
                "output.produced",
                json!({"name": "answer", "output": {"a": 1}}),
            ),
            &["message.updated"],
        ),
        // The next turn closes the one before.
        (
            step_started("msg_b"),
            &["message.updated", "message.updated"],
        ),
        (
            event(
                "step.failed",
                json!({"assistantMessageID": "msg_b", "error": error}),
            ),
            &["message.updated"],
        ),
        (
            event(
                "compaction.started",
                json!({"messageID": "msg_k", "reason": "auto"}),
            ),
            &[],
        ),
        (
            event(
                "compaction.ended",
                json!({"messageID": "msg_k", "reason": "auto", "text": "t", "recent": "r"}),
            ),
            &["message.updated", "session.compacted"],
        ),
        (
            event(
                "revert.staged",
                json!({"revert": {"messageID": "msg_a", "partID": "t"}}),
            ),
            &[],
        ),
        (
            event("revert.committed", json!({"messageID": "msg_a"})),
            &[
                "message.part.removed",
                "message.part.removed",
                "message.removed",
                "message.removed",
            ],
        ),
    ] {
        bench.heard.lock().unwrap().clear();
        let name = event.name();
        bench.append(&session, 1000, event).await;
        assert_eq!(names(&derived(&bench)), expected, "{name}");
    }
}

/// The announcements say in their own members what the V1 form of messages and parts has and ours has not.
#[tokio::test]
async fn announcements_have_the_facts_of_v1() {
    let provider = json!({"executed": false});
    let called =
        |input| json!({"callID": "c", "tool": "read", "input": input, "provider": provider});
    let (bench, session) = Bench::with_session("ses_a").await;
    let _demand = bench.store.derive().await.unwrap();
    let directory = &session.info.location.directory;
    let answer = json!({"mode": "build", "path": {"cwd": directory, "root": directory}});
    let open = json!({"partTime": {"created": 3}});
    for (time, event, expected) in [
        (1, prompted("msg_u", "hi", "steer"), json!({})),
        (2, step_started("msg_a"), answer),
        (3, of_a("text.started", json!({"textID": "t"})), open),
        (
            4,
            of_a("text.ended", json!({"textID": "t", "text": "x"})),
            json!({"partTime": {"created": 3, "completed": 4}}),
        ),
        (
            5,
            of_a("text.started", json!({"textID": "blank"})),
            json!({"partTime": {"created": 5}}),
        ),
        (
            6,
            of_a("text.ended", json!({"textID": "blank", "text": " \n"})),
            json!({"partTime": {"created": 5, "completed": 6}, "ignored": true}),
        ),
        (
            7,
            of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
            json!({}),
        ),
        (
            8,
            of_a(
                "tool.called",
                called(json!({"offset": 1, "path": "\n a.txt\u{202e}\nb"})),
            ),
            json!({"title": "a.txt\\u202e"}),
        ),
        (
            9,
            event(
                "compaction.ended",
                json!({"messageID": "msg_k", "reason": "auto", "text": "t", "recent": "r"}),
            ),
            json!({"mode": "compaction", "summary": true}),
        ),
    ] {
        bench.heard.lock().unwrap().clear();
        bench.append(&session, time, event).await;
        let notices = derived(&bench);
        let mut data = json!(notices[0])["data"].clone();
        let members = data.as_object_mut().unwrap();
        for known in ["sessionID", "messageID", "info", "index", "part", "time"] {
            members.remove(known);
        }
        assert_eq!(data, expected, "at {time}");
    }
}

#[tokio::test]
async fn an_entry_is_stored_even_if_nothing_can_be_derived() {
    let (bench, session) = Bench::with_session("ses_a").await;
    bench.append(&session, 1, step_started("msg_a")).await;
    let damage = "UPDATE event SET data = 'no JSON' WHERE seq = 1";
    bench.raw().execute(damage, []).unwrap();
    let _demand = bench.store.derive().await.unwrap();
    let ended = json!({"finish": "stop", "cost": 0.0, "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    assert_eq!(
        bench.append(&session, 2, of_a("step.ended", ended)).await,
        2
    );
    assert_eq!(names(&derived(&bench)), [""; 0]);
}

/// An event of a random history: some are contradictory or too late.
fn any_event() -> impl Strategy<Value = SessionEvent> {
    let message = prop::sample::select(vec!["msg_a", "msg_b", "msg_c", "msg_d"]);
    let part = prop::sample::select(vec!["p", "q"]);
    (message, part, 0..22).prop_map(|(message, part, kind)| {
        let provider = json!({"executed": false});
        let error = json!({"type": "unknown", "message": "no"});
        let tokens =
            json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
        let own = json!({"messageID": message});
        let of = json!({"assistantMessageID": message});
        let (name, more) = match kind {
            0 => (
                "prompt.admitted",
                json!({"prompt": {"text": part}, "delivery": "steer"}),
            ),
            1 => (
                "prompted",
                json!({"prompt": {"text": part}, "delivery": "steer"}),
            ),
            2 => ("context.updated", json!({"text": part})),
            3 => ("shell.started", json!({"callID": part, "command": "ls"})),
            4 => ("shell.ended", json!({"callID": part, "output": "o"})),
            5 => ("agent.switched", json!({"agent": part})),
            6 | 7 => ("step.started", json!({"agent": "build", "model": model()})),
            8 => (
                "step.ended",
                json!({"finish": "stop", "cost": 0.5, "tokens": tokens, "snapshot": part}),
            ),
            9 => ("step.failed", json!({"error": error})),
            10 => ("text.started", json!({"textID": part})),
            11 => ("text.ended", json!({"textID": part, "text": "x"})),
            12 => ("reasoning.started", json!({"reasoningID": part})),
            13 => ("reasoning.ended", json!({"reasoningID": part, "text": "x"})),
            14 => (
                "tool.input.started",
                json!({"callID": part, "name": "read"}),
            ),
            15 => ("tool.input.ended", json!({"callID": part, "text": "{}"})),
            16 => (
                "tool.called",
                json!({"callID": part, "tool": "read", "input": {}, "provider": provider}),
            ),
            17 => (
                "tool.progress",
                json!({"callID": part, "structured": {}, "content": []}),
            ),
            18 => (
                "tool.success",
                json!({"callID": part, "structured": {}, "content": [], "provider": provider}),
            ),
            19 => (
                "tool.failed",
                json!({"callID": part, "error": error, "provider": provider}),
            ),
            20 => (
                "revert.staged",
                json!({"revert": {"messageID": message, "partID": part}}),
            ),
            _ => ("revert.committed", json!({})),
        };
        let mut payload = Map::new();
        for value in [own, of, more] {
            payload.extend(value.as_object().unwrap().clone());
        }
        event(name, payload.into())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A client that hears everything knows the messages, and the log alone gives the same announcements again.
    #[test]
    fn announcements_are_derivable_from_the_log(events in prop::collection::vec(any_event(), 0..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (bench, session) = Bench::with_session("ses_a").await;
            let _demand = bench.store.derive().await.unwrap();
            try_all(&bench.store, &session, &events).await;
            let announced = derived(&bench);
            let mut client = Client::default();
            announced.iter().for_each(|notice| client.hear(notice));
            assert_eq!(client.messages(), bench.messages(&session).await);

            let again = Bench::new().await;
            let _demand = again.store.derive().await.unwrap();
            let options = ReplayOptions { publish: true, ..ReplayOptions::default() };
            for entry in export(&bench.store, "ses_a").await {
                replay_as(&again.store, &entry, &options).await.unwrap();
            }
            assert_eq!(derived(&again), announced);
        });
    }
}
