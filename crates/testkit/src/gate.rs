//! A point that a scripted stream or tool passes only when the test allows it.

use tokio::sync::watch;

/// The state of a gate.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    reached: bool,
    released: bool,
    dropped: bool,
}

/// Holds every task that reaches it until the test opens it. Clones share one gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    seen: watch::Sender<Seen>,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate for all tasks, now and later.
    pub fn release(&self) {
        self.seen.send_modify(|seen| seen.released = true);
    }

    /// Waits until the gate is open. If the wait is dropped, the gate records that.
    pub async fn pass(&self) {
        self.come();
        let abandon = AbandonOnDrop(self);
        self.wait(|seen| seen.released).await;
        std::mem::forget(abandon);
    }

    /// Records that a task has reached the gate, without waiting.
    pub fn come(&self) {
        self.seen.send_modify(|seen| seen.reached = true);
    }

    /// Records that a task with this gate ahead was dropped.
    pub(crate) fn abandon(&self) {
        self.seen.send_modify(|seen| seen.dropped = true);
    }

    /// Waits until a task has reached the gate.
    pub async fn reached(&self) {
        self.wait(|seen| seen.reached).await;
    }

    /// Waits until a task at the gate, or with the gate ahead, is dropped.
    pub async fn dropped(&self) {
        self.wait(|seen| seen.dropped).await;
    }

    async fn wait(&self, holds: impl Fn(&Seen) -> bool) {
        let mut seen = self.seen.subscribe();
        seen.wait_for(|seen| holds(seen))
            .await
            .expect("the gate itself keeps the sender");
    }
}

/// Records a dropped wait at the gate.
struct AbandonOnDrop<'a>(&'a Gate);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
