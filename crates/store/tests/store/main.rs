//! The store as its callers see it, on real files.

#[cfg(test)]
mod harness;
#[cfg(test)]
mod size;
