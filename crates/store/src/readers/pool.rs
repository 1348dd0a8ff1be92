//! A pool of read-only connections, so that readers never wait for the writer.
//!
//! The connections also have dedicated threads. All blocking threads of the runtime may be
//! occupied, for example by tools that wait for unresponsive files, and every session reads in
//! every turn.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use crate::error::StoreError;
use crate::open::open_reader;
use crate::view::reader::Reader;
use crate::view::test_hook::{Hook, Moment};
use crate::writer::Writer;

/// Maximum number of concurrent reads. Each needs a thread, and a connection with its page cache.
const READERS: u32 = 2;

pub(crate) enum Readers {
    /// A database in memory has one connection, so its reads run on the writer thread.
    OnWriter(Writer),
    Pool(Arc<Pool>),
}

type Job = Box<dyn FnOnce() + Send>;

pub(crate) struct Pool {
    path: PathBuf,
    hook: Hook,
    /// One permit for each thread.
    permits: Arc<Semaphore>,
    /// Sends jobs to the threads, which end with the pool. At most as many jobs wait here as there
    /// are permits.
    jobs: Sender<Job>,
    /// Idle connections. Locked to take or return one.
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn pool(path: PathBuf, hook: Hook) -> std::io::Result<Self> {
        let (jobs, taken) = channel();
        let taken = Arc::new(Mutex::new(taken));
        for _ in 0..READERS {
            let taken = Arc::clone(&taken);
            let builder = std::thread::Builder::new().name("opencode-reader".into());
            opencode_log::spawn_thread(builder, move || work(&taken))?;
        }
        Ok(Self::Pool(Arc::new(Pool {
            path,
            hook,
            permits: Arc::new(Semaphore::new(READERS as usize)),
            jobs,
            idle: Mutex::new(Vec::new()),
        })))
    }

    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        match self {
            Self::OnWriter(writer) => writer.read(work).await,
            Self::Pool(pool) => {
                let pool = Arc::clone(pool);
                let (mut reply, answer) = oneshot::channel();
                // A separate task waits for the permit. A caller that is not polled for a while,
                // such as a stream with a paused reader, would otherwise hold its permit and block
                // all other reads.
                opencode_log::spawn(async move {
                    let permit = tokio::select! {
                        () = reply.closed() => return,
                        permit = Arc::clone(&pool.permits).acquire_owned() => permit,
                    };
                    let Ok(permit) = permit else { return };
                    let jobs = pool.jobs.clone();
                    let read = move || {
                        let value = catch_unwind(AssertUnwindSafe(|| pool.run(work)));
                        // The permit moves into the job: a read continues after its caller has
                        // dropped the future.
                        drop(permit);
                        let panicked = |_| Err(StoreError::Database("the read panicked".into()));
                        let _ = reply.send(value.unwrap_or_else(panicked));
                    };
                    // The threads take jobs while a sender exists.
                    let _ = jobs.send(Box::new(read));
                });
                answer.await.unwrap_or(Err(StoreError::Closed))
            }
        }
    }

    /// Waits for running reads, refuses later ones and closes the connections.
    pub(crate) async fn close(&self) {
        if let Self::Pool(pool) = self {
            // An error means that the pool is already closed.
            let all = pool.permits.acquire_many(READERS).await;
            pool.permits.close();
            drop(all);
            pool.idle.lock().clear();
        }
    }
}

impl Pool {
    fn run<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.hook.at(Moment::Read)?;
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_reader(&self.path)?,
        };
        let value = {
            let view = connection.unchecked_transaction()?;
            work(&Reader { connection: &view })
        };
        // After a storage failure, the connection itself may be the cause, so it is not reused.
        if !matches!(value, Err(StoreError::Poisoned(_))) {
            self.idle.lock().push(connection);
        }
        value
    }
}

/// Runs jobs until the pool is dropped. One thread waits for the next job, the others wait for the
/// lock.
fn work(jobs: &Mutex<Receiver<Job>>) {
    let next = || jobs.lock().recv();
    while let Ok(job) = next() {
        job();
    }
}
