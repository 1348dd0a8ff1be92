//! Programs in terminals, as whoever runs them sees them.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod ending;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod support;
