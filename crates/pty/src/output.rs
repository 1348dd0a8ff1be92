//! The output of one terminal and the clients that follow it.
//!
//! For each client, the host stores only its position in the buffer and the replay that it began
//! with. If a client falls too far behind, the host pauses the program. If the client then takes
//! nothing at all, the host cuts it off.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use crate::buffer::{Buffer, Replay};

/// Maximum number of UTF-16 units in one piece of output.
pub const FRAME: usize = 65_536;

/// The limits of an output.
#[derive(Debug, Clone, Copy)]
pub struct OutputBounds {
    /// Number of UTF-16 units that are kept.
    pub kept: usize,
    /// Number of units that a client may be behind before the host pauses the program.
    pub behind: u64,
    /// Maximum pause while no client takes output.
    pub max_wait: Duration,
}

impl Default for OutputBounds {
    fn default() -> Self {
        Self {
            kept: 2 * 1024 * 1024,
            behind: 1024 * 1024,
            max_wait: Duration::from_secs(5),
        }
    }
}

/// The position at which a client begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor {
    /// This unit, or the oldest unit that is kept.
    At(u64),
    /// The current end of the output.
    End,
}

/// The next item for a client.
#[derive(Debug, PartialEq, Eq)]
pub enum OutputItem {
    /// Output, in order and without gaps.
    Text(String),
    /// The client has received all output from before its connection. New output follows and begins
    /// at this unit.
    CaughtUp(u64),
    /// The program has ended, or the terminal was removed. The client has received all output.
    Ended,
    /// The client took nothing for too long and would miss output.
    Cut,
}

/// The output of one terminal.
pub(crate) struct Output {
    bounds: OutputBounds,
    inner: Mutex<Inner>,
    /// Notified at every change.
    news: watch::Sender<()>,
    /// Notified when a client takes output or leaves.
    taken: Notify,
}

struct Inner {
    buffer: Buffer,
    /// True if no more output follows.
    ended: bool,
    clients: Vec<Client>,
    last_client: u64,
}

struct Client {
    key: u64,
    /// Next unit for the client.
    cursor: u64,
    cut: bool,
}

impl Inner {
    fn client(&mut self, key: u64) -> Option<&mut Client> {
        self.clients.iter_mut().find(|it| it.key == key)
    }

    /// Returns the clients for which the program is paused.
    fn behind(&mut self, most: u64) -> impl Iterator<Item = &mut Client> {
        let end = self.buffer.end();
        let late = move |it: &&mut Client| !it.cut && end - it.cursor > most;
        self.clients.iter_mut().filter(late)
    }
}

impl Output {
    pub(crate) fn new(bounds: OutputBounds) -> Self {
        Self {
            bounds,
            inner: Mutex::new(Inner {
                buffer: Buffer::new(bounds.kept),
                ended: false,
                clients: Vec::new(),
                last_client: 0,
            }),
            news: watch::Sender::new(()),
            taken: Notify::new(),
        }
    }

    pub(crate) fn push(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.inner.lock().buffer.push(text);
        self.news.send_replace(());
    }

    /// Marks the end of the output. Clients still receive the remaining output.
    pub(crate) fn end(&self) {
        self.inner.lock().ended = true;
        self.news.send_replace(());
    }

    /// Waits until no client is too far behind. Cuts off clients if none takes output in the
    /// meantime.
    pub(crate) async fn room(&self) {
        loop {
            let taken = self.taken.notified();
            if self
                .inner
                .lock()
                .behind(self.bounds.behind)
                .next()
                .is_none()
            {
                return;
            }
            if tokio::time::timeout(self.bounds.max_wait, taken)
                .await
                .is_err()
            {
                for client in self.inner.lock().behind(self.bounds.behind) {
                    client.cut = true;
                }
                self.news.send_replace(());
            }
        }
    }

    /// Follows the output from a position on.
    pub(crate) fn follow(self: &Arc<Self>, from: Cursor) -> Following {
        let mut inner = self.inner.lock();
        let end = inner.buffer.end();
        let from = match from {
            Cursor::At(place) => place,
            Cursor::End => end,
        };
        inner.last_client += 1;
        let key = inner.last_client;
        inner.clients.push(Client {
            key,
            cursor: end,
            cut: false,
        });
        Following {
            replay: Some(inner.buffer.snapshot(from)),
            end,
            key,
            news: self.news.subscribe(),
            output: Arc::clone(self),
        }
    }
}

/// The position of one client in the output. Dropping it removes the client.
pub(crate) struct Following {
    /// Output from before the connection, until the client has received it.
    replay: Option<Replay>,
    /// End of that output.
    end: u64,
    key: u64,
    news: watch::Receiver<()>,
    output: Arc<Output>,
}

impl Following {
    /// Waits for output and takes at most [`FRAME`] units. Dropping the future loses no output.
    pub(crate) async fn next(&mut self) -> OutputItem {
        loop {
            if let Some(next) = self.take() {
                self.output.taken.notify_waiters();
                return next;
            }
            // The sender lives as long as the output.
            let _ = self.news.changed().await;
        }
    }

    /// Returns when the client was cut off because it took nothing for too long.
    pub(crate) async fn cut(&self) {
        let mut news = self.output.news.subscribe();
        while !self.is_cut() {
            let _ = news.changed().await;
        }
    }

    fn is_cut(&self) -> bool {
        let mut inner = self.output.inner.lock();
        inner.client(self.key).is_none_or(|it| it.cut)
    }

    fn take(&mut self) -> Option<OutputItem> {
        let mut inner = self.output.inner.lock();
        let client = inner.client(self.key)?;
        let (cut, cursor) = (client.cut, client.cursor);
        if cut {
            return Some(OutputItem::Cut);
        }
        if let Some(replay) = &mut self.replay {
            if let Some(text) = replay.next(FRAME) {
                return Some(OutputItem::Text(text));
            }
            self.replay = None;
            return Some(OutputItem::CaughtUp(self.end));
        }
        let Some((text, place)) = inner.buffer.read(cursor, FRAME) else {
            return Some(OutputItem::Cut);
        };
        if text.is_empty() {
            return inner.ended.then_some(OutputItem::Ended);
        }
        if let Some(client) = inner.client(self.key) {
            client.cursor = place;
        }
        Some(OutputItem::Text(text))
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let key = self.key;
        self.output.inner.lock().clients.retain(|it| it.key != key);
        self.output.taken.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(kept: usize, behind: u64) -> Arc<Output> {
        Arc::new(Output::new(OutputBounds {
            kept,
            behind,
            max_wait: Duration::from_secs(5),
        }))
    }

    fn text(text: &str) -> OutputItem {
        OutputItem::Text(text.to_owned())
    }

    #[tokio::test]
    async fn a_replay_is_followed_by_its_cursor_and_new_output() {
        let output = output(100, 100);
        output.push("ab😀");
        for (from, replayed) in [
            (Cursor::At(0), Some("ab😀")),
            (Cursor::At(2), Some("😀")),
            (Cursor::At(4), None),
            (Cursor::At(99), None),
            (Cursor::End, None),
        ] {
            let mut following = output.follow(from);
            if let Some(replayed) = replayed {
                assert_eq!(following.next().await, text(replayed), "{from:?}");
            }
            assert_eq!(following.next().await, OutputItem::CaughtUp(4), "{from:?}");
        }
        let mut following = output.follow(Cursor::End);
        output.push("new");
        assert_eq!(following.next().await, OutputItem::CaughtUp(4));
        assert_eq!(following.next().await, text("new"));
        output.push("est");
        output.end();
        assert_eq!(following.next().await, text("est"));
        assert_eq!(following.next().await, OutputItem::Ended);
    }

    #[tokio::test]
    async fn pieces_of_output_are_bounded() {
        let output = output(1_000_000, 1_000_000);
        let mut long = "x".repeat(FRAME - 1);
        long.push('😀');
        output.push(&long);
        let mut following = output.follow(Cursor::At(0));
        output.push(&long);
        for _ in 0..2 {
            assert_eq!(following.next().await, text(&"x".repeat(FRAME - 1)));
            assert_eq!(following.next().await, text("😀"));
            if following.replay.is_some() {
                assert_eq!(
                    following.next().await,
                    OutputItem::CaughtUp(FRAME as u64 + 1)
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_client_that_does_not_read_is_disconnected() {
        let output = output(100, 10);
        let (mut stuck, mut attentive) = (output.follow(Cursor::End), output.follow(Cursor::End));
        assert_eq!(attentive.next().await, OutputItem::CaughtUp(0));
        output.push("0123456789");
        output.room().await;
        output.push("!");
        assert_eq!(attentive.next().await, text("0123456789!"));
        // The program pauses for the client that is behind, but only until that client is cut off.
        let before = tokio::time::Instant::now();
        output.room().await;
        assert_eq!(before.elapsed(), Duration::from_secs(5));
        output.room().await;
        assert_eq!(before.elapsed(), Duration::from_secs(5));
        output.push("more");
        assert_eq!(attentive.next().await, text("more"));
        assert_eq!(stuck.next().await, OutputItem::Cut);
    }

    #[tokio::test(start_paused = true)]
    async fn the_program_continues_when_a_client_has_caught_up_or_left() {
        let output = output(100, 10);
        let mut slow = output.follow(Cursor::End);
        assert_eq!(slow.next().await, OutputItem::CaughtUp(0));
        for leave in [false, true] {
            output.push("0123456789!");
            let waiting = Arc::clone(&output);
            let waiting = tokio::spawn(async move { waiting.room().await });
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            if leave {
                drop(output.follow(Cursor::End));
                tokio::task::yield_now().await;
                assert!(!waiting.is_finished(), "another one left");
            }
            assert_eq!(slow.next().await, text("0123456789!"));
            waiting.await.unwrap();
        }
        output.push("0123456789!");
        drop(slow);
        output.room().await;
    }

    #[tokio::test]
    async fn a_client_behind_the_stored_output_is_disconnected() {
        let output = output(4, 100);
        let mut late = output.follow(Cursor::End);
        assert_eq!(late.next().await, OutputItem::CaughtUp(0));
        output.push("12345");
        assert_eq!(late.next().await, OutputItem::Cut);
    }
}
