//! The canonical request and event stream that all protocols share.

pub mod authorizer;
pub mod cited_source;
pub mod error;
pub mod event;
pub mod hosted_results;
pub mod json;
pub mod media_type;
pub mod mid_conversation;
pub mod model;
pub mod overlay;
pub mod prefix;
pub mod request;
pub mod usage;
