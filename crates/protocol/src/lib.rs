//! The HTTP contract as data: the operations, their inputs, answers and failures, and the Contract IR from which every
//! client is generated.
//!
//! This crate knows no router, handler, database or runtime; it only describes the wire. Start with [`operations`],
//! where each entry is one operation, and [`failure`], where each entry is one tagged failure. [`input`], [`output`]
//! and
//! [`event`] are the types of these entries; [`page`] and [`cursor`] are pagination; [`decode`] turns paths, queries
//! and bodies into inputs; [`contract`] is the compiled form, and [`openapi`] the same form as an OpenAPI document.

mod channel;
pub mod contract;
pub mod cursor;
pub mod decode;
pub mod event;
pub mod failure;
pub mod input;
mod number;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod output;
pub mod page;
mod page_query;
mod shape;
