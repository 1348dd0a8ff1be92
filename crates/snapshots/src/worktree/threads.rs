//! Parallel work on many items.

use std::thread;

use parking_lot::Mutex;

const MAX_THREADS: usize = 8;

/// Number of items that a thread takes at once.
const BATCH: usize = 16;

/// Calls `work` for each of `items`. Uses one more thread for each `few` items, up to a maximum.
pub(crate) fn each<T: Send>(items: Vec<T>, few: usize, work: impl Fn(T) + Sync) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MAX_THREADS).min(items.len() / few.max(1) + 1);
    if threads == 1 {
        return items.into_iter().for_each(work);
    }
    let rest = Mutex::new(items.into_iter());
    let run = || {
        loop {
            let next = |rest: &mut std::vec::IntoIter<T>| rest.take(BATCH).collect::<Vec<_>>();
            let batch = next(&mut rest.lock());
            if batch.is_empty() {
                return;
            }
            batch.into_iter().for_each(&work);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(opencode_log::within(run));
        }
        run();
    });
}
