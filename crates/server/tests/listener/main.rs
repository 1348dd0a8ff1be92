//! The router on a socket, with clients that write raw bytes.

#[cfg(test)]
mod address;
#[cfg(test)]
mod authorization;
#[cfg(test)]
mod bodies;
#[cfg(test)]
mod client;
#[cfg(test)]
mod closing;
#[cfg(test)]
mod compression;
#[cfg(test)]
#[path = "../router/concrete.rs"]
mod concrete;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod cors;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod ptys;
#[cfg(test)]
mod server;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod websocket;
