//! Tickets: each opens one connection to one terminal, for any client that presents it in time.

use std::collections::{HashMap, VecDeque};

use opencode_schema::clock::Millis;
use opencode_schema::id::PtyID;
use opencode_schema::location::LocationRef;

/// Validity of a ticket, in seconds.
pub const TICKET_SECONDS: u32 = 60;
/// Maximum number of issued tickets. Beyond it, the oldest become invalid.
pub(crate) const MOST: usize = 10_000;

/// Unused tickets.
#[derive(Default)]
pub(crate) struct Tickets {
    scopes: HashMap<String, Scope>,
    /// Issued tickets in order. Used ones stay here until they would have expired.
    issued: VecDeque<(String, Millis)>,
}

/// The terminal that a ticket opens.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Scope {
    terminal: PtyID,
    place: LocationRef,
}

impl Tickets {
    /// Adds a new ticket.
    pub(crate) fn issue(
        &mut self,
        ticket: String,
        terminal: PtyID,
        place: LocationRef,
        now: Millis,
    ) {
        self.forget(now);
        let expires = now + Millis::from(TICKET_SECONDS) * 1000;
        self.issued.push_back((ticket.clone(), expires));
        self.scopes.insert(ticket, Scope { terminal, place });
        while self.issued.len() > MOST {
            self.remove_oldest();
        }
    }

    /// Returns true if the ticket opens that terminal. Invalidates the ticket in any case.
    pub(crate) fn redeem(
        &mut self,
        ticket: &str,
        terminal: &PtyID,
        place: &LocationRef,
        now: Millis,
    ) -> bool {
        self.forget(now);
        let scope = self.scopes.remove(ticket);
        scope.is_some_and(|it| it.terminal == *terminal && it.place == *place)
    }

    fn forget(&mut self, now: Millis) {
        while self
            .issued
            .front()
            .is_some_and(|(_, expires)| *expires <= now)
        {
            self.remove_oldest();
        }
    }

    fn remove_oldest(&mut self) {
        if let Some((ticket, _)) = self.issued.pop_front() {
            self.scopes.remove(&ticket);
        }
    }
}

/// Returns an unpredictable text in the form of a random UUID.
///
/// # Errors
///
/// Fails if the operating system cannot provide random bytes.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    Ok(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use opencode_schema::id::WorkspaceID;

    use super::*;

    fn place(directory: &str, workspace: Option<&str>) -> LocationRef {
        LocationRef {
            directory: directory.into(),
            workspace_id: workspace.map(|it| WorkspaceID::parse(it).unwrap()),
        }
    }

    fn terminal(id: &str) -> PtyID {
        PtyID::parse(id).unwrap()
    }

    #[test]
    fn a_ticket_opens_one_terminal_once_and_in_time() {
        let here = place("/w", None);
        let issued = |now| {
            let mut tickets = Tickets::default();
            tickets.issue("t".into(), terminal("pty_a"), here.clone(), now);
            tickets
        };
        for (ticket, id, at, now, opens) in [
            ("t", "pty_a", here.clone(), 0, true),
            ("t", "pty_a", here.clone(), 59_999, true),
            ("t", "pty_a", here.clone(), 60_000, false),
            ("T", "pty_a", here.clone(), 0, false),
            ("", "pty_a", here.clone(), 0, false),
            ("t", "pty_b", here.clone(), 0, false),
            ("t", "pty_a", place("/w/x", None), 0, false),
            ("t", "pty_a", place("/w", Some("wrk_a")), 0, false),
        ] {
            let found = issued(0).redeem(ticket, &terminal(id), &at, now);
            assert_eq!(found, opens, "{ticket} {id} {at:?} {now}");
        }
        let mut tickets = issued(0);
        assert!(tickets.redeem("t", &terminal("pty_a"), &here, 1));
        assert!(!tickets.redeem("t", &terminal("pty_a"), &here, 2), "twice");
        let mut tickets = issued(0);
        assert!(!tickets.redeem("t", &terminal("pty_b"), &here, 1));
        assert!(!tickets.redeem("t", &terminal("pty_a"), &here, 2), "shown");
    }

    #[test]
    fn a_new_ticket_replaces_the_oldest_at_the_limit() {
        let here = place("/w", None);
        let mut tickets = Tickets::default();
        for number in 0..=MOST {
            tickets.issue(number.to_string(), terminal("pty_a"), here.clone(), 0);
        }
        assert_eq!(tickets.scopes.len(), MOST);
        assert!(!tickets.redeem("0", &terminal("pty_a"), &here, 0));
        assert!(tickets.redeem("1", &terminal("pty_a"), &here, 0));
        tickets.issue("new".into(), terminal("pty_a"), here, 60_000);
        assert_eq!((tickets.scopes.len(), tickets.issued.len()), (1, 1));
    }

    #[test]
    fn tickets_are_random_uuids() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_ne!(one, other);
        let dashes: Vec<_> = one.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((one.len(), dashes), (36, vec![8, 13, 18, 23]));
        assert_eq!(&one[14..15], "4");
    }
}
