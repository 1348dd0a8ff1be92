//! The HTTP contract as data: which operations there are, what goes in and comes out, how they
//! fail, and the Contract IR from which every client is generated.
//!
//! This crate knows no router, handler, database or runtime; it only says what the wire looks like.
//! Start with [`operations`], where one entry is one operation, and [`failure`], where one entry is
//! one tagged failure. [`input`], [`output`] and [`event`] are the types those entries name;
//! [`page`] and [`cursor`] are pagination; [`decode`] turns paths, queries and bodies into inputs;
//! [`contract`] is the compiled form, and [`openapi`] that form as everybody's tools know it.

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
