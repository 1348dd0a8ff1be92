//! The filter that decides which entries a log accepts.

use std::collections::BTreeMap;

use crate::entry::Level;

/// The targets of entries: the parts of a host. Moving a file inside a crate does not change its target.
pub const TARGETS: [&str; 19] = [
    "opencode::context",
    "opencode::downloads",
    "opencode::git",
    "opencode::guard",
    "opencode::handlers",
    "opencode::handles",
    "opencode::host",
    "opencode::llm",
    "opencode::location",
    "opencode::log",
    "opencode::mcp",
    "opencode::oauth",
    "opencode::protocol",
    "opencode::pty",
    "opencode::runtime",
    "opencode::server",
    "opencode::snapshots",
    "opencode::store",
    "opencode::tools",
];

/// Crates whose entries have the target of another part of a host.
const PARTS: [(&str, &str); 2] = [
    ("protocols", "opencode::llm"),
    ("secrets", "opencode::location"),
];

/// A level for all targets, and exceptions by target. The level `None` accepts no entries.
#[derive(Debug, Clone)]
pub struct Filter {
    level: Option<Level>,
    targets: BTreeMap<String, Option<Level>>,
}

impl Filter {
    /// Creates a filter from a level for all targets and exceptions by target.
    #[must_use]
    pub fn new(level: Option<Level>, targets: BTreeMap<String, Option<Level>>) -> Self {
        Self { level, targets }
    }

    /// A filter that accepts no entries.
    #[must_use]
    pub fn off() -> Self {
        Self::new(None, BTreeMap::new())
    }

    /// True if the filter accepts no entries of any target.
    pub(crate) fn is_off(&self) -> bool {
        self.most().is_none()
    }

    /// Returns the most verbose level that the filter accepts for any target.
    pub(crate) fn most(&self) -> Option<Level> {
        self.targets.values().copied().fold(self.level, Option::max)
    }

    /// True if the filter accepts entries of this target and level.
    pub(crate) fn takes(&self, target: &str, level: Level) -> bool {
        let most = self.targets.get(target).copied().unwrap_or(self.level);
        most.is_some_and(|most| level <= most)
    }
}

/// Returns the target of a module, which its crate determines. Third-party libraries have no
/// target, because their entries may contain texts of users.
pub(crate) fn target_of(module: &str) -> Option<&'static str> {
    let name = module.split("::").next()?.strip_prefix("opencode_")?;
    let part = PARTS.iter().find(|(part, _)| *part == name);
    let of_name = |target: &&'static str| target.strip_prefix("opencode::") == Some(name);
    let own = || TARGETS.iter().copied().find(of_name);
    part.map(|(_, target)| *target).or_else(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_belong_to_the_target_of_their_crate() {
        for (module, target) in [
            ("opencode_store::worker", Some("opencode::store")),
            ("opencode_llm", Some("opencode::llm")),
            ("opencode_protocols::transport", Some("opencode::llm")),
            ("opencode_unknown", None),
            ("h2::codec", None),
            ("", None),
        ] {
            assert_eq!(target_of(module), target, "{module}");
        }
    }

    /// Returns the text of a file of the repository.
    fn file(path: &str) -> String {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        std::fs::read_to_string(format!("{root}{path}")).unwrap()
    }

    #[test]
    fn each_crate_that_logs_has_a_target() {
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let logs = file(&format!("crates/{name}/Cargo.toml")).contains("\ntracing = ");
            let module = format!("opencode_{}", name.replace('-', "_"));
            // Tests collect the entries of the others.
            assert!(
                !logs || name == "testkit" || target_of(&module).is_some(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_page_of_the_log_names_every_target() {
        let page = file("docs/log.md");
        for target in TARGETS {
            assert!(page.contains(&format!("`{target}`")), "{target}");
        }
    }

    #[test]
    fn a_target_has_its_own_level_or_the_default_level() {
        let targets = [
            ("opencode::store".to_owned(), Some(Level::Debug)),
            ("opencode::llm".to_owned(), None),
        ];
        let filter = Filter::new(Some(Level::Warn), targets.into());
        assert_eq!(filter.most(), Some(Level::Debug));
        for (target, level, taken) in [
            ("opencode::store", Level::Debug, true),
            ("opencode::store", Level::Trace, false),
            ("opencode::llm", Level::Error, false),
            ("opencode::runtime", Level::Warn, true),
            ("opencode::runtime", Level::Info, false),
        ] {
            assert_eq!(filter.takes(target, level), taken, "{target} {level:?}");
        }
        assert!(Filter::off().is_off());
    }
}
