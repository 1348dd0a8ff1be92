//! An active history that somebody follows: what is read of it beyond what was known always adds up
//! to the whole.

use std::collections::BTreeMap;

use opencode_schema::message::SessionMessage;
use opencode_store::{Epoch, HistoryPoint, SessionRow};
use proptest::prelude::*;
use serde_json::json;

use crate::harness::{Bench, event, prompted, step_started};

/// Something that changes the history of a session, or a look at it.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Prompted,
    /// Ends the answer before it, too.
    Answered,
    Updated,
    Compacted,
    /// To the message at this place of all that there are.
    Reverted(usize),
    Baseline,
    Looked,
}

/// A copy of the history that is brought up to date by what changed.
#[derive(Default)]
struct Copy {
    messages: BTreeMap<u64, SessionMessage>,
    known: Option<HistoryPoint>,
}

impl Copy {
    /// Reads on, checks the copy against the whole, and says whether everything was read anew.
    async fn follow(&mut self, bench: &Bench, session: &SessionRow) -> bool {
        let (key, known) = (session.key, self.known.clone());
        let read = bench
            .store
            .read(move |db| Ok((db.history_since(key, known.as_ref())?, db.history(key)?)));
        let (read, whole) = read.await.unwrap();
        if read.is_whole {
            self.messages.clear();
        }
        self.messages.extend(read.messages);
        self.known = Some(read.point);
        assert_eq!(self.messages.clone().into_iter().collect::<Vec<_>>(), whole);
        read.is_whole
    }
}

async fn happen(bench: &Bench, session: &SessionRow, at: usize, what: Happens) {
    let (key, time, id) = (session.key, 11 + at as i64, format!("msg_{at}"));
    let said = match what {
        Happens::Prompted => prompted(&id, "x", "steer"),
        Happens::Answered => step_started(&id),
        Happens::Updated => event("context.updated", json!({"messageID": id, "text": "news"})),
        Happens::Compacted => event(
            "compaction.ended",
            json!({"messageID": id, "reason": "auto", "text": "t", "recent": "r"}),
        ),
        Happens::Reverted(place) => {
            let messages = bench.messages(session).await;
            if messages.is_empty() {
                return;
            }
            let boundary = &messages[place % messages.len()]["id"];
            event("revert.committed", json!({ "messageID": boundary }))
        }
        Happens::Baseline => {
            let write = bench.store.write(move |transaction| {
                let epoch = Epoch {
                    baseline: "b".into(),
                    snapshot: "{}".into(),
                    baseline_seq: transaction.reader().latest_seq(key)?,
                };
                transaction.set_epoch(key, &epoch)?;
                Ok(Ok::<_, ()>(()))
            });
            return write.await.unwrap().unwrap();
        }
        Happens::Looked => return,
    };
    bench.append(session, time, said).await;
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => Just(Happens::Prompted),
        3 => Just(Happens::Answered),
        2 => Just(Happens::Updated),
        1 => Just(Happens::Compacted),
        1 => any::<usize>().prop_map(Happens::Reverted),
        1 => Just(Happens::Baseline),
        3 => Just(Happens::Looked),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn what_is_read_adds_up_to_the_whole(story in prop::collection::vec(happens(), 0..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (bench, session) = Bench::with_session("ses_a").await;
            let mut copy = Copy::default();
            for (at, what) in story.into_iter().enumerate() {
                happen(&bench, &session, at, what).await;
                if matches!(what, Happens::Looked) {
                    copy.follow(&bench, &session).await;
                }
            }
            copy.follow(&bench, &session).await;
        });
    }
}

#[tokio::test]
async fn a_history_is_read_anew_only_where_it_did_not_just_grow() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let mut copy = Copy::default();
    let story = [
        (Happens::Looked, true),
        (Happens::Looked, false),
        (Happens::Prompted, false),
        (Happens::Answered, false),
        (Happens::Baseline, true),
        (Happens::Updated, false),
        (Happens::Compacted, true),
        (Happens::Answered, false),
        (Happens::Prompted, false),
        (Happens::Reverted(1), true),
        (Happens::Looked, false),
    ];
    for (at, (what, anew)) in story.into_iter().enumerate() {
        happen(&bench, &session, at, what).await;
        assert_eq!(copy.follow(&bench, &session).await, anew, "{at}: {what:?}");
    }
    // What is known of one session says nothing of another.
    let other = bench.session("ses_b").await;
    assert!(copy.follow(&bench, &other).await);
}
