//! The terminals of one host.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use opencode_schema::clock::Clock;
use opencode_schema::event::Notice;
use opencode_schema::id::{IdSource, PtyID};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::{Pty, PtyChanged, PtyDeleted, PtyExited, PtyStatus};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::error::TerminalError;
use crate::output::{Cursor, Following, Next, Output, OutputBounds};
use crate::request::{CreateTerminal, UpdateTerminal};
use crate::terminal::{Controls, Running};
use crate::tickets::{self, Tickets};

/// How long one waits for programs that were told to end. All but those in the middle of some I/O
/// have been killed long before.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// Who is told what happens to terminals. It must only note it down.
type Tell = Box<dyn Fn(&LocationRef, &Notice) + Send + Sync>;

/// How many terminals there may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Programs that run at once in the whole host.
    pub running: usize,
    /// Terminals of one Location that are kept after their programs have ended.
    pub exited: usize,
    /// How much output is kept.
    pub output: OutputBounds,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            running: 64,
            exited: 25,
            output: OutputBounds::default(),
        }
    }
}

/// What terminals are made with.
pub struct TerminalsOptions {
    /// Identifiers.
    pub ids: Arc<IdSource>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// How many there may be.
    pub bounds: Bounds,
    /// Is told what happens, in order.
    pub tell: Tell,
}

/// The terminals of one host, in memory. All clones are the same ones.
#[derive(Clone)]
pub struct Terminals(Arc<Inner>);

struct Inner {
    ids: Arc<IdSource>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    tell: Tell,
    /// Locked to look and to change, and while that is told, so that it is told in order.
    list: Mutex<List>,
    tickets: Mutex<Tickets>,
    /// Terminals at work.
    tasks: TaskTracker,
}

#[derive(Default)]
struct List {
    closed: bool,
    /// Programs that are about to run.
    starting: usize,
    /// In the order of their creation.
    rows: Vec<Row>,
}

struct Row {
    place: LocationRef,
    info: Pty,
    /// Nothing once the program has ended.
    live: Option<Live>,
}

#[derive(Clone)]
struct Live {
    controls: Controls,
    output: Arc<Output>,
}

impl List {
    fn row(&mut self, place: &LocationRef, id: &PtyID) -> Result<&mut Row, TerminalError> {
        let mut rows = self.rows.iter_mut();
        rows.find(|row| row.info.id == *id && row.place == *place)
            .ok_or_else(|| TerminalError::NotFound(id.clone()))
    }

    fn take(&mut self, id: &PtyID) -> Option<Row> {
        let at = self.rows.iter().position(|row| row.info.id == *id)?;
        Some(self.rows.remove(at))
    }

    fn running(&self) -> usize {
        self.rows.iter().filter(|row| row.live.is_some()).count() + self.starting
    }

    /// The oldest of a Location's ended terminals, if there are more than may be kept.
    fn surplus(&self, place: &LocationRef, most: usize) -> Option<PtyID> {
        let exited = |row: &&Row| row.live.is_none() && row.place == *place;
        let mut exited = self.rows.iter().filter(exited);
        let oldest = exited.next()?;
        (exited.count() >= most).then(|| oldest.info.id.clone())
    }
}

/// The place of a program that is about to run. It is free again when this is dropped.
pub struct Reservation(Terminals);

impl Reservation {
    /// Begins a program in a terminal of its own.
    ///
    /// # Errors
    ///
    /// `Command`, `Directory` and `Variable` say what cannot be begun with, `Unavailable` that nothing
    /// can begin now.
    pub async fn create(self, request: CreateTerminal) -> Result<Pty, TerminalError> {
        let Inner { ids, bounds, .. } = &*self.0.0;
        let id = PtyID::generate(ids);
        let place = request.place.clone();
        let begun = opencode_log::spawn_blocking(move || request.begin(id));
        let (info, started) = begun.await.map_err(|_| TerminalError::Closed)??;
        let output = Arc::new(Output::new(bounds.output));
        let (controls, running) = started.connect(Arc::clone(&output));
        // Until this returns and drops the place, it is counted as one that runs.
        self.0.add(place, info, Live { controls, output }, running)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.0.list.lock().starting -= 1;
    }
}

impl Terminals {
    /// No terminal yet.
    pub fn new(options: TerminalsOptions) -> Self {
        let tasks = TaskTracker::new();
        tasks.close();
        Self(Arc::new(Inner {
            ids: options.ids,
            clock: options.clock,
            bounds: options.bounds,
            tell: options.tell,
            list: Mutex::default(),
            tickets: Mutex::default(),
            tasks,
        }))
    }

    /// A place for one program more.
    ///
    /// # Errors
    ///
    /// `TooMany` when as many run as may, `Closed` when none may any more.
    pub fn reserve(&self) -> Result<Reservation, TerminalError> {
        let mut list = self.0.list.lock();
        if list.closed {
            return Err(TerminalError::Closed);
        }
        let limit = self.0.bounds.running;
        if list.running() >= limit {
            return Err(TerminalError::TooMany { limit });
        }
        list.starting += 1;
        Ok(Reservation(self.clone()))
    }

    /// Begins a program in a terminal of its own.
    ///
    /// # Errors
    ///
    /// Those of [`reserve`](Self::reserve) and of [`Reservation::create`].
    pub async fn create(&self, request: CreateTerminal) -> Result<Pty, TerminalError> {
        self.reserve()?.create(request).await
    }

    fn add(
        &self,
        place: LocationRef,
        info: Pty,
        live: Live,
        running: Running,
    ) -> Result<Pty, TerminalError> {
        let mut list = self.0.list.lock();
        if list.closed {
            return Err(TerminalError::Closed);
        }
        let output = Arc::clone(&live.output);
        let created = PtyChanged { info: info.clone() };
        self.0.tell(&place, &Notice::PtyCreated(created));
        list.rows.push(Row {
            place,
            info: info.clone(),
            live: Some(live),
        });
        drop(list);
        let (terminals, id) = (self.clone(), info.id.clone());
        opencode_log::spawn_tracked(&self.0.tasks, async move {
            let code = running.run().await;
            terminals.exited(&id, code);
            // Who is connected finds it ended.
            output.end();
        });
        Ok(info)
    }

    /// Notes that a program has ended. Of a terminal that was removed there is nothing to note.
    fn exited(&self, id: &PtyID, code: u32) {
        let mut list = self.0.list.lock();
        let Some(row) = list.rows.iter_mut().find(|row| row.info.id == *id) else {
            return;
        };
        row.live = None;
        row.info.status = PtyStatus::Exited;
        row.info.exit_code = Some(code);
        let place = row.place.clone();
        let exited = PtyExited {
            id: id.clone(),
            exit_code: code,
        };
        self.0.tell(&place, &Notice::PtyExited(exited));
        if let Some(oldest) = list.surplus(&place, self.0.bounds.exited) {
            list.take(&oldest);
            self.0.tell_deleted(&place, oldest);
        }
    }

    /// The terminals of a Location in the order of their creation, those whose program has ended
    /// included.
    pub fn list(&self, place: &LocationRef) -> Vec<Pty> {
        let list = self.0.list.lock();
        let of_place = list.rows.iter().filter(|row| row.place == *place);
        of_place.map(|row| row.info.clone()).collect()
    }

    /// One terminal of a Location.
    ///
    /// # Errors
    ///
    /// `NotFound`.
    pub fn get(&self, place: &LocationRef, id: &PtyID) -> Result<Pty, TerminalError> {
        Ok(self.0.list.lock().row(place, id)?.info.clone())
    }

    /// Changes a terminal. One whose program has ended has no size.
    ///
    /// # Errors
    ///
    /// `NotFound`.
    pub fn update(
        &self,
        place: &LocationRef,
        id: &PtyID,
        change: UpdateTerminal,
    ) -> Result<Pty, TerminalError> {
        let mut list = self.0.list.lock();
        let row = list.row(place, id)?;
        if let Some(title) = change.title {
            row.info.title = title;
        }
        if let (Some((rows, cols)), Some(live)) = (change.size, &row.live) {
            live.controls.resize(rows, cols);
        }
        let info = row.info.clone();
        let updated = PtyChanged { info: info.clone() };
        self.0.tell(place, &Notice::PtyUpdated(updated));
        Ok(info)
    }

    /// Removes a terminal and ends its program with all that belongs to it. Returns when they have
    /// ended, which takes a second or two where they resist.
    ///
    /// # Errors
    ///
    /// `NotFound`.
    pub async fn remove(&self, place: &LocationRef, id: &PtyID) -> Result<(), TerminalError> {
        let removed = {
            let mut list = self.0.list.lock();
            list.row(place, id)?;
            self.0.tell_deleted(place, id.clone());
            list.take(id)
        };
        if let Some(live) = removed.and_then(|row| row.live) {
            live.output.end();
            live.controls.end();
            let ended = live.controls.ended();
            // What cannot be killed keeps nobody waiting.
            let _ = tokio::time::timeout(END_PATIENCE, ended).await;
        }
        Ok(())
    }

    /// A ticket for one connection to a terminal.
    ///
    /// # Errors
    ///
    /// `NotFound`, and `Unavailable` when the machine has no randomness.
    pub fn issue_ticket(&self, place: &LocationRef, id: &PtyID) -> Result<String, TerminalError> {
        self.get(place, id)?;
        let ticket =
            tickets::random().map_err(|error| TerminalError::Unavailable(error.to_string()))?;
        let now = self.0.clock.now();
        let mut tickets = self.0.tickets.lock();
        tickets.issue(ticket.clone(), id.clone(), place.clone(), now);
        Ok(ticket)
    }

    /// Whether a ticket opens a terminal. It is used up, whatever it opens.
    pub fn redeem_ticket(&self, ticket: &str, place: &LocationRef, id: &PtyID) -> bool {
        let now = self.0.clock.now();
        self.0.tickets.lock().redeem(ticket, id, place, now)
    }

    /// Connects to a terminal.
    ///
    /// # Errors
    ///
    /// `NotFound`, and `Exited` when its program has ended.
    pub fn attach(
        &self,
        place: &LocationRef,
        id: &PtyID,
        from: Cursor,
    ) -> Result<Attached, TerminalError> {
        let mut list = self.0.list.lock();
        let Some(live) = &list.row(place, id)?.live else {
            return Err(TerminalError::Exited(id.clone()));
        };
        Ok(Attached {
            following: live.output.follow(from),
            input: live.controls.input(),
        })
    }

    /// Removes all terminals, for ever, and ends their programs.
    pub async fn close(&self) {
        let rows = {
            let mut list = self.0.list.lock();
            list.closed = true;
            let rows = std::mem::take(&mut list.rows);
            for row in &rows {
                self.0.tell_deleted(&row.place, row.info.id.clone());
            }
            rows
        };
        for live in rows.into_iter().filter_map(|row| row.live) {
            live.output.end();
            live.controls.end();
        }
        if tokio::time::timeout(END_PATIENCE, self.0.tasks.wait())
            .await
            .is_err()
        {
            tracing::error!("some programs in terminals cannot be ended");
        }
    }

    /// Kills all programs without waiting, for an owner that goes away without closing.
    pub fn abandon(&self) {
        let rows = {
            let mut list = self.0.list.lock();
            list.closed = true;
            std::mem::take(&mut list.rows)
        };
        for live in rows.into_iter().filter_map(|row| row.live) {
            live.controls.kill();
            live.output.end();
        }
    }
}

impl Inner {
    fn tell(&self, place: &LocationRef, notice: &Notice) {
        (self.tell)(place, notice);
    }

    fn tell_deleted(&self, place: &LocationRef, id: PtyID) {
        self.tell(place, &Notice::PtyDeleted(PtyDeleted { id }));
    }
}

/// A connection to a terminal. Dropping it ends it.
pub struct Attached {
    following: Following,
    input: mpsc::Sender<Bytes>,
}

impl Attached {
    /// Waits for output and takes it. Giving up the wait loses nothing.
    pub async fn next(&mut self) -> Next {
        self.following.next().await
    }

    /// Done when this connection took nothing for too long, and would miss output.
    pub async fn cut(&self) {
        self.following.cut().await;
    }

    /// Where this connection's input goes: the program gets it as if it were typed. Whoever sends
    /// waits while the program does not read; it takes nothing any more once the program has ended.
    pub fn input(&self) -> mpsc::Sender<Bytes> {
        self.input.clone()
    }
}
