//! OAuth for remote servers, against a scripted authorization server on this machine.

#[cfg(test)]
#[path = "../../../testkit/src/authorization.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with other crates")]
mod authorization;
#[cfg(test)]
mod consent;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod renewal;
