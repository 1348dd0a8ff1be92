//! The public interface of the store, on real files.

#[cfg(test)]
mod backlog;
#[cfg(test)]
mod budgets;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod children;
#[cfg(test)]
mod closing;
#[cfg(test)]
mod continuity;
#[cfg(test)]
mod credentials;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod derived;
#[cfg(test)]
mod epochs;
#[cfg(test)]
mod erasure;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod growing;
#[cfg(test)]
mod harness;
#[cfg(test)]
#[cfg(unix)]
mod held;
#[cfg(test)]
mod history;
#[cfg(test)]
mod inbox;
#[cfg(test)]
mod inspection;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod log;
#[cfg(test)]
mod logged;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod ownership;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod records;
#[cfg(test)]
mod refused;
#[cfg(test)]
mod removal;
#[cfg(test)]
mod repeated;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod replay_refused;
#[cfg(test)]
mod sequences;
#[cfg(test)]
mod session_rules;
#[cfg(test)]
mod size;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod tails;
#[cfg(test)]
mod test_hook;
#[cfg(test)]
mod todos;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod versions;
#[cfg(test)]
mod writer;
