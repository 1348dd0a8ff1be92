//! The engine from the view of a host: prompts in, durable events and requests out, on a real database.

// Clippy treats modules with `#[cfg(test)]` as tests, so that their helpers may use `unwrap` too.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod allowance;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod boundary;
#[cfg(test)]
mod broken_answers;
#[cfg(test)]
mod budgets;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod compaction;
#[cfg(test)]
mod context;
#[cfg(test)]
mod declined;
#[cfg(test)]
mod dispatch;
#[cfg(test)]
mod epoch_crashes;
#[cfg(test)]
mod epoch_fences;
#[cfg(test)]
mod fairness;
#[cfg(test)]
mod fallback;
#[cfg(test)]
mod forced;
#[cfg(test)]
mod forks;
#[cfg(test)]
mod hosted;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod inbox;
#[cfg(test)]
mod interruption;
mod invalid_calls;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod lifetime;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod log;
#[cfg(test)]
mod model_list;
mod models;
#[cfg(test)]
mod moves;
#[cfg(test)]
mod nested;
#[cfg(test)]
mod next;
#[cfg(test)]
mod outputs;
#[cfg(test)]
mod pauses;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod prefix;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod pruning;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod rate_limits;
#[cfg(test)]
mod reasons;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod reminders;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod removal;
#[cfg(test)]
mod repetition;
#[cfg(test)]
mod replacement;
#[cfg(test)]
mod resuming;
#[cfg(test)]
mod reverts;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod sign_ins;
#[cfg(test)]
mod skills;
mod steps;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod structured;
#[cfg(test)]
mod tails;
#[cfg(test)]
mod tasks;
#[cfg(unix)]
#[cfg(test)]
mod terminals;
#[cfg(test)]
mod titles;
#[cfg(test)]
mod todos;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod transcript;
#[cfg(test)]
mod transfer;
#[cfg(test)]
mod transfer_refused;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod unanswered;
#[cfg(test)]
mod unresolvable;
#[cfg(test)]
mod unresponsive;
#[cfg(test)]
mod updated;
mod usage;
#[cfg(test)]
mod vanished;
#[cfg(test)]
mod waiting;
#[cfg(test)]
mod waits;
#[cfg(test)]
mod wire;

/// The events that show which input ran: promotions and starts of steps.
#[cfg(test)]
fn flow(events: &[String]) -> Vec<&str> {
    let events = events.iter().map(String::as_str);
    events
        .filter(|event| event.starts_with("prompted") || *event == "step.started")
        .collect()
}

/// True if a transaction commits an event with this name.
#[cfg(test)]
fn holds(entries: &[opencode_runtime::Committed], name: &str) -> bool {
    entries.iter().any(|it| it.event.payload.name() == name)
}
