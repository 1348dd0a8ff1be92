//! The intended differences about servers of the Model Context Protocol.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[];
