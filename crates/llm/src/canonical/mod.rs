//! The canonical request and event stream that all protocols share.

pub mod authorizer;
pub mod cited_source;
pub mod error;
pub mod event;
pub(crate) mod json;
pub mod media_type;
pub mod model;
pub mod request;
pub mod usage;
