//! Consents and tokens, against a scripted authorization server on this machine.

#[cfg(test)]
#[path = "../../../testkit/src/authorization.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with other crates")]
mod authorization;
#[cfg(test)]
mod device;
