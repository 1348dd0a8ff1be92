//! Requests to the model provider.

mod attempts;
mod cause;
mod fence;
#[cfg(test)]
mod fence_interleavings;
mod learnt_windows;
mod rate_limits;

pub(crate) use self::attempts::{Answer, AskError, NO_FINISH, Provider};
pub(crate) use self::cause::{cause_of, kind_of};
pub(crate) use self::fence::Fence;
pub(crate) use self::learnt_windows::LearntWindows;
