//! A followed active history: incremental reads always add up to the whole history.

use std::collections::BTreeMap;

use opencode_schema::message::SessionMessage;
use opencode_store::{Abort, Epoch, HistoryPoint, Sequence, SessionRow};
use proptest::prelude::*;
use serde_json::json;

use crate::harness::{Bench, event, prompted, step_started};

/// A change of a session's history, or a read of it.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Prompted,
    /// Also ends the previous answer.
    Answered,
    Updated,
    Compacted,
    /// The boundary is the message at this index among all messages.
    Reverted(usize),
    Baseline,
    Looked,
}

/// A copy of the history that is updated with incremental reads.
#[derive(Default)]
struct Copy {
    messages: BTreeMap<Sequence, SessionMessage>,
    known: Option<HistoryPoint>,
}

impl Copy {
    /// Reads incrementally and compares the copy with the whole history. Returns true if everything
    /// was read again.
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
                Ok::<_, Abort<&'static str>>(())
            });
            return write.await.unwrap();
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
    fn incremental_reads_add_up_to_the_complete_history(story in prop::collection::vec(happens(), 0..30)) {
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
async fn a_history_is_read_again_only_if_it_did_not_just_grow() {
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
    // A history point of one session is not valid for another.
    let other = bench.session("ses_b").await;
    assert!(copy.follow(&bench, &other).await);
}
