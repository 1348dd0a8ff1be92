//! Storage that fails under a running engine: a full disk, an I/O error, a file that another
//! process holds. The caller receives the error, committed data stays, and work can continue.

#[cfg(test)]
mod admission;
#[cfg(test)]
mod closing;
#[cfg(test)]
mod disturbance;
#[cfg(test)]
mod drains;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod sessions;
