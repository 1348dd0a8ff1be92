//! Change notifications on Linux.

use std::{
    collections::{HashMap, HashSet},
    fs,
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use opencode_handles::Directory;
use rustix::{
    fs::{
        fstat, fstatfs,
        inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags},
    },
    io::Errno,
};

/// One divided by this is the share of the user's inotify watches that the host uses.
const SHARE: usize = 4;
const MAX_WATCHES: usize = 20_000;

/// Maximum number of events to read at once. More events count as an incomplete notification.
const MAX_EVENTS: usize = 50_000;

const BUFFER_BYTES: usize = 32 * 1024;

/// An inotify queue of changes in directories.
pub(crate) struct Watch {
    queue: OwnedFd,
    paths: HashMap<i32, String>,
    device: u64,
    max: usize,
    is_broken: bool,
}

impl Watch {
    /// Creates a queue. Returns `None` if the file system does not report all changes.
    pub(crate) fn new(root: &Directory) -> Option<Self> {
        if !reports_changes(root) {
            return None;
        }
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let max = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        let max: usize = max.trim().parse().ok()?;
        Some(Self {
            queue,
            paths: HashMap::new(),
            device: device(root)?,
            max: (max / SHARE).min(MAX_WATCHES),
            is_broken: false,
        })
    }

    /// True if some directories are not watched although they should be.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Watches a directory from now on. Returns `None` if that is not possible. The caller then
    /// checks that directory in each survey, or checks everything if the watches are exhausted.
    pub(crate) fn add(&mut self, held: &Directory, path: &str) -> Option<i32> {
        if device(held) != Some(self.device) {
            return None;
        }
        let flags = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        // A path that leads exactly to the open directory.
        let path_of_its_own = format!("/proc/self/fd/{}", held.as_fd().as_raw_fd());
        let added = inotify::add_watch(&self.queue, path_of_its_own, flags);
        let Ok(number) = added else {
            self.is_broken = true;
            return None;
        };
        self.paths.insert(number, path.to_owned());
        if self.paths.len() > self.max {
            self.is_broken = true;
        }
        Some(number)
    }

    /// Stops watching a directory, unless its watch has another path by now.
    pub(crate) fn remove(&mut self, number: i32, path: &str) {
        if self.paths.get(&number).is_some_and(|now| now == path) {
            self.paths.remove(&number);
            // If the directory was removed, its watch no longer exists.
            let _ = inotify::remove_watch(&self.queue, number);
        }
    }

    /// Returns the directories with changes since the last call, or `None` if notifications were
    /// lost.
    pub(crate) fn changes(&mut self) -> Option<HashSet<String>> {
        let mut changed = HashSet::new();
        let mut last = None;
        let mut is_complete = true;
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        for _ in 0..MAX_EVENTS {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return is_complete.then_some(changed),
                Err(Errno::INTR) => continue,
                Err(_) => {
                    self.is_broken = true;
                    return None;
                }
            };
            if event
                .events()
                .intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT)
            {
                is_complete = false;
            }
            // One change of a file causes several consecutive events.
            if last != Some(event.wd())
                && let Some(path) = self.paths.get(&event.wd())
            {
                last = Some(event.wd());
                changed.insert(path.clone());
            }
            if event.events().contains(ReadFlags::IGNORED) {
                self.paths.remove(&event.wd());
            }
        }
        None
    }
}

/// Returns the device number of a directory's file system.
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
fn device(held: &Directory) -> Option<u64> {
    Some(fstat(held).ok()?.st_dev as u64)
}

/// True if the file system of a directory is local and reports every change.
#[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
fn reports_changes(held: &Directory) -> bool {
    /// ext, XFS, Btrfs, tmpfs, ZFS, F2FS, overlayfs and bcachefs.
    const LOCAL: [u32; 8] = [
        0xEF53,
        0x5846_5342,
        0x9123_683E,
        0x0102_1994,
        0x2FC1_2FC1,
        0xF2F5_2010,
        0x794C_7630,
        0xCA45_1A4E,
    ];
    fstatfs(held).is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)))
}
