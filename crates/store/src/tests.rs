//! Tests of the store as its callers see it.
