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
use crate::output::{Cursor, Following, Output, OutputBounds, OutputItem};
use crate::request::{CreateTerminal, UpdateTerminal};
use crate::terminal::{Controls, Running};
use crate::tickets::{self, Tickets};

/// Maximum wait for programs that were told to end. They have been killed long before, except for
/// processes in the middle of some I/O.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// Receives the notices about terminals. It must return quickly.
type Notify = Box<dyn Fn(&LocationRef, &Notice) + Send + Sync>;

/// The limits of a host's terminals.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Maximum number of running programs in the whole host.
    pub running: usize,
    /// Maximum number of terminals per Location that are kept after their programs have ended.
    pub exited: usize,
    /// Limits of each output.
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

/// The options of [`Terminals`].
pub struct TerminalsOptions {
    /// Source of ids.
    pub ids: Arc<IdSource>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Limits of terminals and their output.
    pub bounds: Bounds,
    /// Receives all notices, in order.
    pub notify: Notify,
}

/// The terminals of one host, in memory. Clones share all state.
#[derive(Clone)]
pub struct Terminals(Arc<Inner>);

struct Inner {
    ids: Arc<IdSource>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    notify: Notify,
    /// Locked during reads and changes, and until the notice of a change was sent, so that notices
    /// are in order.
    list: Mutex<List>,
    tickets: Mutex<Tickets>,
    /// Tasks of running terminals.
    tasks: TaskTracker,
}

#[derive(Default)]
struct List {
    closed: bool,
    /// Number of reserved programs that have not started yet.
    starting: usize,
    /// Terminals in the order of their creation.
    rows: Vec<Row>,
}

struct Row {
    place: LocationRef,
    info: Pty,
    /// `None` once the program has ended.
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

    /// Returns the oldest ended terminal of a Location, if the limit is reached.
    fn oldest_excess(&self, place: &LocationRef, most: usize) -> Option<PtyID> {
        let exited = |row: &&Row| row.live.is_none() && row.place == *place;
        let mut exited = self.rows.iter().filter(exited);
        let oldest = exited.next()?;
        (exited.count() >= most).then(|| oldest.info.id.clone())
    }
}

/// A reserved slot for one program. Dropping it frees the slot.
pub struct Reservation(Terminals);

impl Reservation {
    /// Starts a program in a new terminal.
    ///
    /// # Errors
    ///
    /// Fails with `Command`, `Directory` or `Variable` if the request is invalid, with
    /// `Unavailable` if the system cannot start a program now, and with `Closed` if the host is
    /// closing.
    pub async fn create(self, request: CreateTerminal) -> Result<Pty, TerminalError> {
        let Inner { ids, bounds, .. } = &*self.0.0;
        let id = PtyID::generate(ids);
        let place = request.place.clone();
        let begun = opencode_log::spawn_blocking(move || request.begin(id));
        let (info, started) = begun.await.map_err(|_| TerminalError::Closed)??;
        let output = Arc::new(Output::new(bounds.output));
        let (controls, running) = started.connect(Arc::clone(&output));
        // The reservation counts as a running program until this function returns.
        self.0.add(place, info, Live { controls, output }, running)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.0.list.lock().starting -= 1;
    }
}

impl Terminals {
    /// Creates an empty list of terminals.
    pub fn new(options: TerminalsOptions) -> Self {
        let tasks = TaskTracker::new();
        tasks.close();
        Self(Arc::new(Inner {
            ids: options.ids,
            clock: options.clock,
            bounds: options.bounds,
            notify: options.notify,
            list: Mutex::default(),
            tickets: Mutex::default(),
            tasks,
        }))
    }

    /// Reserves a slot for one program.
    ///
    /// # Errors
    ///
    /// Fails with `TooMany` if the maximum number of programs runs, and with `Closed` after
    /// [`close`](Self::close).
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

    /// Starts a program in a new terminal.
    ///
    /// # Errors
    ///
    /// Fails like [`reserve`](Self::reserve) and [`Reservation::create`].
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
        self.0.notify(&place, &Notice::PtyCreated(created));
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
            // Connected clients then receive the end.
            output.end();
        });
        Ok(info)
    }

    /// Records the end of a program. Has no effect if the terminal was removed.
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
        self.0.notify(&place, &Notice::PtyExited(exited));
        if let Some(oldest) = list.oldest_excess(&place, self.0.bounds.exited) {
            list.take(&oldest);
            self.0.notify_deleted(&place, oldest);
        }
    }

    /// Returns the terminals of a Location in the order of their creation, including those with
    /// ended programs.
    pub fn list(&self, place: &LocationRef) -> Vec<Pty> {
        let list = self.0.list.lock();
        let of_place = list.rows.iter().filter(|row| row.place == *place);
        of_place.map(|row| row.info.clone()).collect()
    }

    /// Returns one terminal of a Location.
    ///
    /// # Errors
    ///
    /// Fails with `NotFound` if the Location has no terminal with this id.
    pub fn get(&self, place: &LocationRef, id: &PtyID) -> Result<Pty, TerminalError> {
        Ok(self.0.list.lock().row(place, id)?.info.clone())
    }

    /// Changes a terminal. Ignores a new size if its program has ended.
    ///
    /// # Errors
    ///
    /// Fails with `NotFound` if the Location has no terminal with this id.
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
        self.0.notify(place, &Notice::PtyUpdated(updated));
        Ok(info)
    }

    /// Removes a terminal and ends its program with all its processes. Returns when they have
    /// ended, which takes a second or two if they resist.
    ///
    /// # Errors
    ///
    /// Fails with `NotFound` if the Location has no terminal with this id.
    pub async fn remove(&self, place: &LocationRef, id: &PtyID) -> Result<(), TerminalError> {
        let removed = {
            let mut list = self.0.list.lock();
            list.row(place, id)?;
            self.0.notify_deleted(place, id.clone());
            list.take(id)
        };
        if let Some(live) = removed.and_then(|row| row.live) {
            live.output.end();
            live.controls.end();
            let ended = live.controls.ended();
            // A process that cannot be killed does not block the caller.
            let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
        }
        Ok(())
    }

    /// Issues a ticket for one connection to a terminal.
    ///
    /// # Errors
    ///
    /// Fails with `NotFound` if the Location has no terminal with this id, and with `Unavailable` if the
    /// system has no randomness.
    pub fn issue_ticket(&self, place: &LocationRef, id: &PtyID) -> Result<String, TerminalError> {
        self.get(place, id)?;
        let ticket =
            tickets::random().map_err(|error| TerminalError::Unavailable(error.to_string()))?;
        let now = self.0.clock.now();
        let mut tickets = self.0.tickets.lock();
        tickets.issue(ticket.clone(), id.clone(), place.clone(), now);
        Ok(ticket)
    }

    /// Returns true if a ticket opens this terminal. Invalidates the ticket in any case.
    pub fn redeem_ticket(&self, ticket: &str, place: &LocationRef, id: &PtyID) -> bool {
        let now = self.0.clock.now();
        self.0.tickets.lock().redeem(ticket, id, place, now)
    }

    /// Connects to a terminal.
    ///
    /// # Errors
    ///
    /// Fails with `NotFound` if the Location has no terminal with this id, and with `Exited` if its program
    /// has ended.
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

    /// Removes all terminals, ends their programs and refuses new ones.
    pub async fn close(&self) {
        let rows = {
            let mut list = self.0.list.lock();
            list.closed = true;
            let rows = std::mem::take(&mut list.rows);
            for row in &rows {
                self.0.notify_deleted(&row.place, row.info.id.clone());
            }
            rows
        };
        for live in rows.into_iter().filter_map(|row| row.live) {
            live.output.end();
            live.controls.end();
        }
        if tokio::time::timeout(END_TIMEOUT, self.0.tasks.wait())
            .await
            .is_err()
        {
            tracing::error!("some programs in terminals cannot be ended");
        }
    }

    /// Kills all programs without waiting, for an owner that is dropped without closing.
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
    fn notify(&self, place: &LocationRef, notice: &Notice) {
        (self.notify)(place, notice);
    }

    fn notify_deleted(&self, place: &LocationRef, id: PtyID) {
        self.notify(place, &Notice::PtyDeleted(PtyDeleted { id }));
    }
}

/// A connection to a terminal. Dropping it closes the connection.
pub struct Attached {
    following: Following,
    input: mpsc::Sender<Bytes>,
}

impl Attached {
    /// Waits for output and takes it. Dropping the future loses no output.
    pub async fn next(&mut self) -> OutputItem {
        self.following.next().await
    }

    /// Returns when this connection was cut off because it took nothing for too long.
    pub async fn cut(&self) {
        self.following.cut().await;
    }

    /// Returns the sender of input, which the program receives like typed text. Sending waits while
    /// the program does not read, and fails once the program has ended.
    pub fn input(&self) -> mpsc::Sender<Bytes> {
        self.input.clone()
    }
}
