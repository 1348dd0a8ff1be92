//! The connection slots of a listener.
//!
//! If all slots, or all slots of one address, are in use, a new connection replaces the connection that has been idle
//! longest. So clients that open connections without requests do not block others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The connection slots of one listener.
pub(super) struct ConnectionSlots {
    most: usize,
    /// Maximum number of slots for one address of another machine.
    share: usize,
    held: Mutex<Connections>,
    /// Notified if a slot becomes free or a connection becomes idle.
    changed: Notify,
}

#[derive(Default)]
struct Connections {
    /// Counts connections and idle periods, so that they have an order.
    count: u64,
    connections: HashMap<u64, Connection>,
}

struct Connection {
    address: IpAddr,
    /// Number of requests in progress.
    requests: usize,
    /// Start of its idle period, as a count.
    rests_since: u64,
    cut: CancellationToken,
}

/// The slot of one connection. Dropping it frees the slot.
pub(crate) struct ConnectionSlot {
    places: Arc<ConnectionSlots>,
    id: u64,
    /// Cancelled if another connection gets the slot.
    cut: CancellationToken,
}

/// A request in progress. A connection with one keeps its slot.
pub(crate) struct Busy(Arc<ConnectionSlot>);

impl ConnectionSlots {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            share: (most / 2).max(1),
            held: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Returns a slot for a connection from this address. Waits until a slot is free or its connection is idle.
    /// Returns `None` if the address has its maximum and none of its connections is idle.
    pub(super) async fn take(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        loop {
            let changed = self.changed.notified();
            match self.try_take(address) {
                SlotResult::Slot(place) => return Some(place),
                SlotResult::Refused => return None,
                SlotResult::Wait => changed.await,
            }
        }
    }

    fn try_take(self: &Arc<Self>, address: IpAddr) -> SlotResult {
        let mut held = self.held.lock();
        let all = held.connections.values();
        let own = all.filter(|it| it.address == address).count();
        if !address.to_canonical().is_loopback() && own >= self.share {
            if !held.cut_one(|it| it.address == address) {
                return SlotResult::Refused;
            }
        } else if held.connections.len() >= self.most && !held.cut_one(|_| true) {
            return SlotResult::Wait;
        }
        let cut = CancellationToken::new();
        let id = held.next();
        held.connections.insert(
            id,
            Connection {
                address,
                requests: 0,
                rests_since: id,
                cut: cut.clone(),
            },
        );
        drop(held);
        SlotResult::Slot(ConnectionSlot {
            places: Arc::clone(self),
            id,
            cut,
        })
    }
}

enum SlotResult {
    Slot(ConnectionSlot),
    Refused,
    Wait,
}

impl Connections {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Cuts the connection that has been idle longest, if one is idle.
    fn cut_one(&mut self, among: impl Fn(&Connection) -> bool) -> bool {
        let resting = self.connections.iter();
        let resting = resting.filter(|(_, it)| it.requests == 0 && among(it));
        let oldest = resting.min_by_key(|(_, it)| it.rests_since);
        let Some(id) = oldest.map(|(id, _)| *id) else {
            return false;
        };
        if let Some(connection) = self.connections.remove(&id) {
            connection.cut.cancel();
        }
        true
    }
}

impl ConnectionSlot {
    /// Completes when another connection has got the slot.
    pub(super) fn cut(&self) -> CancellationToken {
        self.cut.clone()
    }

    /// Keeps the slot until the returned value is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Busy {
        if let Some(connection) = self.places.held.lock().connections.get_mut(&self.id) {
            connection.requests += 1;
        }
        Busy(Arc::clone(self))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.places.held.lock().connections.remove(&self.id);
        self.places.changed.notify_waiters();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let ConnectionSlot { places, id, .. } = &*self.0;
        let mut held = places.held.lock();
        let now = held.next();
        if let Some(connection) = held.connections.get_mut(id) {
            connection.requests -= 1;
            connection.rests_since = now;
        }
        drop(held);
        places.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures::FutureExt;

    use super::*;

    const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn take(places: &Arc<ConnectionSlots>, address: IpAddr) -> Option<Arc<ConnectionSlot>> {
        let taken = places.take(address).now_or_never();
        taken.expect("no wait").map(Arc::new)
    }

    #[test]
    fn an_address_has_a_share_and_gives_its_own_places_first() {
        let places = ConnectionSlots::new(4);
        let other = take(&places, FAR).unwrap();
        let first = take(&places, NEAR).unwrap();
        let second = take(&places, NEAR).unwrap();
        let working = first.work();
        let third = take(&places, NEAR).unwrap();
        assert!(second.cut().is_cancelled());
        let also = third.work();
        assert!(take(&places, NEAR).is_none());
        drop((working, also));
        assert!(take(&places, NEAR).is_some());
        assert!(first.cut().is_cancelled());
        assert!(!other.cut().is_cancelled());
    }

    #[test]
    fn a_busy_connection_keeps_its_slot_and_the_longest_idle_one_ends() {
        let places = ConnectionSlots::new(2);
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let first = take(&places, local).unwrap();
        let second = take(&places, local).unwrap();
        // An idle period begins with the end of a request.
        drop(first.work());
        let third = take(&places, local).unwrap();
        assert!(second.cut().is_cancelled());
        let working = [first.work(), third.work()];
        assert!(places.take(local).now_or_never().is_none());
        drop(working);
        assert!(take(&places, local).is_some());
    }
}
