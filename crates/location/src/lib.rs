//! Everything that belongs to one directory.

pub mod containment;
