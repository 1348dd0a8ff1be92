//! Separate terminals for each test, with their notices.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opencode_pty::{
    Attached, Bounds, CreateTerminal, Cursor, OutputItem, Terminals, TerminalsOptions,
};
use opencode_schema::clock::{Clock, Millis, SystemClock};
use opencode_schema::event::Notice;
use opencode_schema::id::{IdSource, PtyID};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::Pty;
use tempfile::TempDir;
use tokio::sync::watch;

/// Maximum time of any wait, much longer than needed, because machines can be busy.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(DEADLINE, wait).await;
    waited.unwrap_or_else(|_| panic!("not within {DEADLINE:?}: {what}"))
}

/// A clock that stands still until the test moves it.
#[derive(Default)]
pub(crate) struct StillClock(pub(crate) Mutex<Millis>);

impl Clock for StillClock {
    fn now(&self) -> Millis {
        *self.0.lock().unwrap()
    }
}

/// The terminals of a test, and a folder for them.
pub(crate) struct Host {
    pub(crate) terminals: Terminals,
    pub(crate) clock: Arc<StillClock>,
    pub(crate) folder: TempDir,
    notices: watch::Receiver<Vec<String>>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with(Bounds::default())
    }

    pub(crate) fn with(bounds: Bounds) -> Self {
        let clock = Arc::new(StillClock::default());
        let (tell, notices) = watch::channel(Vec::new());
        let terminals = Terminals::new(TerminalsOptions {
            ids: Arc::new(IdSource::new(Arc::new(SystemClock))),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            bounds,
            notify: Box::new(move |place, notice| {
                tell.send_modify(|notices| notices.push(notice_text(place, notice)));
            }),
        });
        let folder = tempfile::tempdir().unwrap();
        Self {
            terminals,
            clock,
            folder,
            notices,
        }
    }

    pub(crate) fn place(&self) -> LocationRef {
        LocationRef {
            directory: self.folder.path().to_str().unwrap().to_owned(),
            workspace_id: None,
        }
    }

    /// Returns a request that runs a script with `/bin/sh`.
    pub(crate) fn script(&self, script: &str) -> CreateTerminal {
        self.program("/bin/sh", &["-c", script])
    }

    pub(crate) fn program(&self, command: &str, args: &[&str]) -> CreateTerminal {
        let path = std::env::var("PATH").unwrap();
        CreateTerminal {
            place: self.place(),
            command: command.to_owned(),
            args: args.iter().map(|it| (*it).to_owned()).collect(),
            directory: None,
            title: None,
            environment: BTreeMap::from([("PATH".to_owned(), path)]),
        }
    }

    pub(crate) async fn create(&self, request: CreateTerminal) -> Pty {
        within("a terminal", self.terminals.create(request))
            .await
            .unwrap()
    }

    pub(crate) fn attach(&self, id: &PtyID, from: Cursor) -> Client {
        Client(self.terminals.attach(&self.place(), id, from).unwrap())
    }

    /// Runs a script to its end and returns its complete output with its exit status.
    pub(crate) async fn run(&self, request: CreateTerminal) -> (String, u32) {
        // The script waits for the client before it writes, so that no output is missed.
        let created = self.create(request).await;
        let mut client = self.attach(&created.id, Cursor::At(0));
        client.send("\n").await;
        let text = client.rest().await;
        let ended = self.exited(&created.id).await;
        (text, ended.exit_code.unwrap())
    }

    /// Returns a terminal after its program has ended.
    pub(crate) async fn exited(&self, id: &PtyID) -> Pty {
        self.until(|notices| {
            notices
                .iter()
                .any(|it| it.starts_with(&format!("exited {id} ")))
        })
        .await;
        self.terminals.get(&self.place(), id).unwrap()
    }

    /// Waits until the notices so far satisfy `fits`, and returns them.
    pub(crate) async fn until(&self, fits: impl FnMut(&Vec<String>) -> bool) -> Vec<String> {
        let mut notices = self.notices.clone();
        within("what is told", notices.wait_for(fits))
            .await
            .unwrap()
            .clone()
    }

    pub(crate) fn notices(&self) -> Vec<String> {
        self.notices.borrow().clone()
    }
}

fn notice_text(place: &LocationRef, notice: &Notice) -> String {
    assert!(place.directory.starts_with('/'), "{place:?}");
    match notice {
        Notice::PtyCreated(it) => format!("created {}", it.info.id),
        Notice::PtyUpdated(it) => format!("updated {} {:?}", it.info.id, it.info.title),
        Notice::PtyExited(it) => format!("exited {} {}", it.id, it.exit_code),
        Notice::PtyDeleted(it) => format!("deleted {}", it.id),
        other => panic!("{other:?}"),
    }
}

/// A connected client.
pub(crate) struct Client(pub(crate) Attached);

impl Client {
    pub(crate) async fn next(&mut self) -> OutputItem {
        within("output", self.0.next()).await
    }

    pub(crate) async fn send(&self, text: &str) {
        let text = text.to_owned();
        let sent = within("input", async { self.0.input().send(text.into()).await }).await;
        sent.unwrap();
    }

    /// Returns the output until it contains a text.
    pub(crate) async fn until(&mut self, wanted: &str) -> String {
        let mut all = String::new();
        while !all.contains(wanted) {
            match self.next().await {
                OutputItem::Text(text) => all.push_str(&text),
                OutputItem::CaughtUp(_) => {}
                end => panic!("{end:?} before {wanted:?}, after {all:?}"),
            }
        }
        all
    }

    /// Returns the output until the program has ended.
    pub(crate) async fn rest(&mut self) -> String {
        let mut all = String::new();
        loop {
            match self.next().await {
                OutputItem::Text(text) => all.push_str(&text),
                OutputItem::CaughtUp(_) => {}
                OutputItem::Ended => return all,
                OutputItem::Cut => panic!("cut after {all:?}"),
            }
        }
    }
}

/// True if a process is running.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.starts_with(" Z"))
}
