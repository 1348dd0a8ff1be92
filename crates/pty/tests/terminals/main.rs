//! Programs in terminals, from the view of their host.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod ending;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod support;
