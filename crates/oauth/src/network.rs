//! The network that an address belongs to.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The network that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    /// This machine.
    Loopback,
    /// An organisation or a home.
    Private,
    /// Every machine can reach it.
    Public,
    /// No server: unspecified, link-local and group addresses. Services for machines in a cloud are among them.
    None,
}

/// The ends of names in private networks.
const PRIVATE_NAMES: [&str; 6] = [
    "internal",
    "intranet",
    "local",
    "localdomain",
    "lan",
    "home.arpa",
];

impl Network {
    pub(crate) fn of(address: &Url) -> Self {
        match address.host() {
            Some(Host::Domain(name)) => named(name.trim_end_matches('.')),
            Some(Host::Ipv4(address)) => v4(address),
            Some(Host::Ipv6(address)) => v6(address),
            None => Self::None,
        }
    }
}

fn named(name: &str) -> Network {
    let name = name.to_ascii_lowercase();
    let ends = |end: &str| {
        let before = name.strip_suffix(end);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    if ends("localhost") {
        Network::Loopback
    } else if !name.contains('.') || PRIVATE_NAMES.iter().any(|end| ends(end)) {
        Network::Private
    } else {
        Network::Public
    }
}

fn v4(address: Ipv4Addr) -> Network {
    let [first, second, ..] = address.octets();
    if address.is_loopback() {
        Network::Loopback
    } else if address.is_private() || first == 100 && second & 0xc0 == 64 {
        Network::Private
    } else if first == 0 || first >= 224 || address.is_link_local() {
        Network::None
    } else {
        Network::Public
    }
}

fn v6(address: Ipv6Addr) -> Network {
    if let Some(embedded) = embedded(address) {
        return v4(embedded);
    }
    let first = address.segments()[0];
    if address.is_loopback() {
        Network::Loopback
    } else if first & 0xfe00 == 0xfc00 {
        Network::Private
    } else if address.is_unspecified() || first & 0xffc0 == 0xfe80 || first >= 0xff00 {
        Network::None
    } else {
        Network::Public
    }
}

/// Returns the address to which a mapped or translated one leads.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(of(high, low))
        }
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}
