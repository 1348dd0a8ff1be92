//! Names that are not taken.

use std::collections::{HashMap, HashSet};

/// Gives names that are not taken, in linear time.
#[derive(Default)]
pub struct FreeNames {
    taken: HashSet<String>,
    /// The number behind the next name with each beginning.
    numbers: HashMap<String, usize>,
}

impl FreeNames {
    /// Gives names beside these.
    #[must_use]
    pub fn beside<'a>(taken: impl Iterator<Item = &'a String>) -> Self {
        Self {
            taken: taken.cloned().collect(),
            numbers: HashMap::new(),
        }
    }

    /// Returns the name itself, with a number behind it if it is taken.
    pub fn take(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(2);
        loop {
            let free = format!("{name}_{number}");
            *number += 1;
            if self.taken.insert(free.clone()) {
                return free;
            }
        }
    }
}
