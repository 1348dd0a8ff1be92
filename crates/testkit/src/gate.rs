//! A point that a scripted stream or tool does not pass before the test says so.

use tokio::sync::watch;

/// What happened at a gate so far.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    reached: bool,
    released: bool,
    dropped: bool,
}

/// Holds whoever comes to it. A clone is the same gate.
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

    /// Lets everybody pass, now and later.
    pub fn release(&self) {
        self.seen.send_modify(|seen| seen.released = true);
    }

    /// Comes to the gate and waits until it is open. Giving up on the way is noticed.
    pub async fn pass(&self) {
        self.come();
        let gives_up = GivesUp(self);
        self.wait(|seen| seen.released).await;
        std::mem::forget(gives_up);
    }

    /// Comes to the gate without waiting at it.
    pub fn come(&self) {
        self.seen.send_modify(|seen| seen.reached = true);
    }

    /// Whoever was to come here went away.
    pub(crate) fn abandon(&self) {
        self.seen.send_modify(|seen| seen.dropped = true);
    }

    /// Waits until somebody has come.
    pub async fn reached(&self) {
        self.wait(|seen| seen.reached).await;
    }

    /// Waits until somebody has given up on the way.
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

/// Tells the gate when the wait at it is dropped.
struct GivesUp<'a>(&'a Gate);

impl Drop for GivesUp<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
