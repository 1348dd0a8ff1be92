//! Storage that fails under a running engine: a full disk, an I/O error, a file that somebody else
//! holds. Whoever asked is told, what is committed stays, and work goes on.

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
