//! Processes that die while they write a Safe Provider-Turn Boundary: the next process finds all of
//! it or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_runtime::Moment;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Blockade, Fixture, Reply, ScriptedSource, compact, test_hook};

use crate::holds;

const KEY: &str = "acme/rules";

/// The point at which the process dies.
#[derive(Clone, Copy)]
enum Point {
    /// An event with this name is written and not committed.
    Written(&'static str),
    /// The event is about to be committed.
    Commits(&'static str),
    /// The event is committed.
    Committed(&'static str),
}

impl Point {
    fn is(self, moment: &Moment<'_>) -> bool {
        match (self, moment) {
            (Self::Written(name), Moment::Appended(event)) => event.payload.name() == name,
            (Self::Commits(name), Moment::Commit(entries))
            | (Self::Committed(name), Moment::Committed(entries)) => holds(entries, name),
            _ => false,
        }
    }
}

const PROMPTED: &str = "session.next.prompted";
const UPDATED: &str = "session.next.context.updated";

/// A host that dies at a point when it is armed, and its session.
struct ArmedHost {
    f: Fixture,
    session: SessionID,
    source: ScriptedSource,
    blockade: Blockade,
    armed: Arc<AtomicBool>,
}

impl ArmedHost {
    async fn at(point: Point) -> Self {
        let (blockade, armed) = (Blockade::new(), Arc::default());
        let (held, is_armed): (_, Arc<AtomicBool>) = (blockade.clone(), Arc::clone(&armed));
        let test_hook = test_hook(move |moment| {
            let is_armed = is_armed.load(Ordering::SeqCst);
            if is_armed && point.is(&moment) {
                held.pass();
            }
            Ok(())
        });
        let f =
            Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
        let session = f.session().await;
        let source = ScriptedSource::telling(KEY, "one");
        std::mem::forget(f.contribute(&f.project.directory(), &source));
        Self {
            f,
            session,
            source,
            blockade,
            armed,
        }
    }

    /// Admits a prompt, dies at the point, and opens the file in another process.
    async fn die(&mut self, text: &str) {
        self.armed.store(true, Ordering::SeqCst);
        let (runtime, id) = (self.f.runtime().clone(), self.session.clone());
        self.f.leave(&id, text, Delivery::Steer).await;
        tokio::spawn(async move { runtime.run(&id).await });
        self.f.blocked(&self.blockade).await;
        self.f.change(|_| {});
        self.f.kill().await;
        std::mem::forget(self.f.contribute(&self.f.project.directory(), &self.source));
    }

    fn baseline_part(&self) -> String {
        let request = self.f.model.last_request();
        let baseline = &request.system.last().unwrap().text;
        let mut pieces = baseline.split("\n\n").filter(|it| it.starts_with(KEY));
        pieces.next().unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn a_first_epoch_is_stored_with_its_promotion_or_not_at_all() {
    for (point, is_there) in [
        // The baseline is written before the promotion, in the same transaction.
        (Point::Written(PROMPTED), false),
        (Point::Commits(PROMPTED), false),
        (Point::Committed(PROMPTED), true),
    ] {
        let mut it = ArmedHost::at(point).await;
        it.die("1").await;
        let mut expected = vec!["prompt.admitted 1"];
        expected.extend(is_there.then_some("prompted 1"));
        assert_eq!(it.f.events(&it.session).await, expected);
        // The value in the next request shows which epoch the other process continues.
        it.source.set("two");
        it.f.model.reply(Reply::says("Yes."));
        it.f.run(&it.session).await;
        let updates = it.f.payloads(&it.session, "context.updated").await.len();
        let told = if is_there { "one" } else { "two" };
        assert_eq!(it.baseline_part(), format!("acme/rules is {told}"));
        assert_eq!(updates, usize::from(is_there));
        it.blockade.release();
    }
}

#[tokio::test]
async fn an_update_is_stored_with_its_snapshot_or_not_at_all() {
    const PROMOTED: &str = "prompted 2";
    const UPDATE: &str = "context.updated acme/rules is now two";
    for (point, recorded) in [
        (Point::Written(PROMPTED), &[][..]),
        (Point::Committed(PROMPTED), &[PROMOTED]),
        (Point::Written(UPDATED), &[PROMOTED]),
        (Point::Commits(UPDATED), &[PROMOTED]),
        (Point::Committed(UPDATED), &[PROMOTED, UPDATE]),
    ] {
        let mut it = ArmedHost::at(point).await;
        it.f.model.reply(Reply::says("Yes."));
        it.f.ask(&it.session, "1").await;
        it.source.set("two");
        it.die("2").await;
        let expected = [&["prompt.admitted 2"], recorded].concat();
        assert_eq!(it.f.events_after(&it.session, 6).await, expected);
        // The update is sent once, by either process.
        it.f.model.reply(Reply::says("Yes."));
        it.f.run(&it.session).await;
        assert_eq!(it.baseline_part(), "acme/rules is one");
        assert_eq!(
            compact::messages(&it.f.model.last_request()),
            [
                "user: 1",
                "assistant: Yes.",
                "user: 2",
                "system: acme/rules is now two"
            ]
        );
        it.blockade.release();
    }
}
