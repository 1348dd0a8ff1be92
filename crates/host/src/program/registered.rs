//! The registrations of the program, by their number.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// Registrations in their order. A number is never used again.
pub(crate) struct Registered<T>(Mutex<State<T>>);

struct State<T> {
    last: u32,
    values: BTreeMap<u32, T>,
}

impl<T> Default for Registered<T> {
    fn default() -> Self {
        Self(Mutex::new(State {
            last: 0,
            values: BTreeMap::new(),
        }))
    }
}

impl<T> Registered<T> {
    /// Adds the value that `register` makes for the next number, and returns the number.
    pub(crate) fn add<E>(&self, register: impl FnOnce(u32) -> Result<T, E>) -> Result<u32, E> {
        let mut state = self.0.lock();
        let number = state.last + 1;
        let value = register(number)?;
        state.last = number;
        state.values.insert(number, value);
        Ok(number)
    }

    /// Removes a registration. Ignores an unknown number.
    pub(crate) fn remove(&self, number: u32) {
        let removed = self.0.lock().values.remove(&number);
        // Its drop may call other code, so the lock is released before.
        drop(removed);
    }

    /// Removes all registrations.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut self.0.lock().values);
        drop(removed);
    }
}

impl<T: Clone> Registered<T> {
    /// Returns the registrations that match, with their numbers, in their order.
    pub(crate) fn matching(&self, matches: impl Fn(&T) -> bool) -> Vec<(u32, T)> {
        let state = self.0.lock();
        let found = state.values.iter().filter(|(_, value)| matches(value));
        found
            .map(|(number, value)| (*number, value.clone()))
            .collect()
    }
}
