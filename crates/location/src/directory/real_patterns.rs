//! Resolves symbolic links in the patterns of permission rules.
//!
//! The resource of a path is its real path. A rule whose pattern contains a link would never match it, so each such
//! rule gets a second one for the real path. The second one can make an effect stricter than the rules before it, and
//! looser only than those of them that are about the link, too: who changes a link in a project must not loosen a rule.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use opencode_schema::permission::{PermissionEffect, PermissionRule, matches, restricting};
use parking_lot::Mutex;

use super::containment::{follow, real_path};
use super::lexical;

/// Maximum number of patterns that are remembered.
const MAX_RESOLVED: usize = 10_000;

/// Resolves the patterns of the rules of one Location, each once. Reads the disk and blocks.
pub(crate) struct RealPatterns {
    /// The Location.
    root: PathBuf,
    /// The Location without links. `None` if it does not exist.
    real_root: Option<PathBuf>,
    home: String,
    /// Agents share many rules.
    resolved: Mutex<HashMap<String, Option<String>>>,
}

impl RealPatterns {
    pub(crate) fn new(location: &Path, home: &Path) -> Self {
        let root = lexical(location);
        Self {
            real_root: real_path(&root).ok(),
            root,
            home: home.to_string_lossy().into_owned(),
            resolved: Mutex::default(),
        }
    }

    /// Returns the rule with the home directory filled in.
    pub(crate) fn with_home(&self, rule: PermissionRule) -> PermissionRule {
        rule.with_home(&self.home)
    }

    /// Returns the rules with the home directory filled in, and with a rule for the real path of each pattern that
    /// contains a link.
    pub(crate) fn resolve(
        &self,
        rules: impl IntoIterator<Item = PermissionRule>,
    ) -> Vec<PermissionRule> {
        let mut resolved = Resolved::default();
        for rule in rules {
            let at_home = rule.restricting_home(&self.home);
            let rule = self.with_home(rule);
            match self.real_rule(&rule) {
                None => resolved.push(rule),
                Some(real) => resolved.push_with_real(rule, real),
            }
            if let Some(at_home) = at_home {
                let real = self.real_rule(&at_home);
                resolved.push_guess(at_home);
                real.into_iter().for_each(|real| resolved.push_guess(real));
            }
        }
        resolved.rules.into_iter().map(|(_, rule)| rule).collect()
    }

    fn real_rule(&self, rule: &PermissionRule) -> Option<PermissionRule> {
        if !rule.is_about_paths() {
            return None;
        }
        let known = self.resolved.lock().get(&rule.resource).cloned();
        let real = known.unwrap_or_else(|| {
            let real = self.real_pattern(&rule.resource);
            let mut resolved = self.resolved.lock();
            if resolved.len() < MAX_RESOLVED {
                resolved.insert(rule.resource.clone(), real.clone());
            }
            real
        });
        Some(PermissionRule {
            resource: real?,
            ..rule.clone()
        })
    }

    /// Returns the pattern of the real path. `None` if it is the pattern itself, or if no path begins the pattern.
    fn real_pattern(&self, pattern: &str) -> Option<String> {
        let real_root = self.real_root.as_ref()?;
        let (path, wildcard) = split_at_wildcard(pattern);
        if path.is_empty() {
            return None;
        }
        let named = lexical(&self.root.join(path));
        let real = follow(&named).ok()?.canonical;
        let resource = match real.strip_prefix(real_root) {
            // Relative to the Location, `*` alone would match every path.
            Ok(below) if below.as_os_str().is_empty() => return None,
            Ok(below) => below,
            Err(_) => &real,
        };
        let mut resolved = resource.to_str()?.to_owned();
        if !wildcard.is_empty() && !resolved.ends_with(std::path::is_separator) {
            resolved.push('/');
        }
        resolved.push_str(wildcard);
        (resolved != pattern).then_some(resolved)
    }
}

/// Rules to which those of real paths are added.
#[derive(Default)]
struct Resolved {
    /// The rules as they were given.
    given: Vec<PermissionRule>,
    /// All rules, each with the place of the given rule from which it comes.
    rules: Vec<(usize, PermissionRule)>,
    /// The place at which the current list begins. A limit or a restriction begins another list.
    begin: usize,
}

impl Resolved {
    fn push(&mut self, rule: PermissionRule) {
        let begins_list = rule.begins_list();
        self.rules.push((self.given.len(), rule.clone()));
        self.given.push(rule);
        if begins_list {
            self.begin = self.rules.len();
        }
    }

    /// Adds a rule that the newest given rule may mean.
    fn push_guess(&mut self, guess: PermissionRule) {
        let source = self.given.len().saturating_sub(1);
        let before = self.rules[self.begin..].iter().map(|(_, rule)| rule);
        let rules = restricting(before, guess);
        self.rules
            .extend(rules.into_iter().map(|rule| (source, rule)));
    }

    fn push_with_real(&mut self, rule: PermissionRule, real: PermissionRule) {
        let source = self.given.len();
        let is_about_link = |(given, _): &(usize, PermissionRule)| {
            let given = &self.given[*given];
            matches(&given.action, &rule.action) && matches(&given.resource, &rule.resource)
        };
        let last = self.rules[self.begin..].iter().rposition(is_about_link);
        // The rules behind this place are about the real path alone.
        let behind = last.map_or(self.begin, |last| self.begin + last + 1);
        match rule.effect {
            PermissionEffect::Allow => self.rules.insert(behind, (source, real)),
            PermissionEffect::Deny => self.rules.push((source, real)),
            PermissionEffect::Ask => {
                let mut denials: Vec<(usize, PermissionRule)> = Vec::new();
                for (given, other) in &self.rules[behind..] {
                    let is_same = matches(&other.action, &rule.action)
                        || matches(&rule.action, &other.action);
                    let is_known = denials.iter().any(|(_, known)| known == other);
                    if other.effect == PermissionEffect::Deny && is_same && !is_known {
                        denials.push((*given, other.clone()));
                    }
                }
                self.rules.push((source, real));
                self.rules.extend(denials);
            }
        }
        self.push(rule);
    }
}

/// Splits a pattern behind the last directory in front of its first wildcard. A pattern without a wildcard is a path.
fn split_at_wildcard(pattern: &str) -> (&str, &str) {
    let Some(first) = pattern.find(['*', '?']) else {
        return (pattern, "");
    };
    let directory = pattern[..first].rfind(std::path::is_separator);
    pattern.split_at(directory.map_or(0, |separator| separator + 1))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use opencode_schema::permission::{NamedResource, PermissionEffect, Ruleset, evaluate_names};

    use super::*;
    use crate::directory::{TargetKind, resolve};

    #[test]
    fn a_pattern_with_a_link_gets_a_rule_for_the_real_path() {
        let temp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(temp.path()).unwrap();
        for directory in ["volume/proj/src", "volume/other", "home"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        symlink("volume", top.join("ide")).unwrap();
        symlink(top.join("ide"), top.join("home/ide")).unwrap();
        symlink("src", top.join("volume/proj/link")).unwrap();
        symlink("../other", top.join("volume/proj/out")).unwrap();
        let top = top.to_str().unwrap();
        let absolute = |text: &str| text.replace('@', top);
        let patterns = RealPatterns::new(
            Path::new(&absolute("@/ide/proj")),
            Path::new(&absolute("@/home")),
        );
        for (action, pattern, real) in [
            (
                "external_directory",
                "@/ide/other/**",
                Some("@/volume/other/**"),
            ),
            ("external_directory", "@/ide/**", Some("@/volume/**")),
            ("external_directory", "@/ide/o*r/x", Some("@/volume/o*r/x")),
            ("external_directory", "@/ide/new/x", Some("@/volume/new/x")),
            ("external_directory", "~/ide/**", Some("@/volume/**")),
            ("*", "@/ide/**", Some("@/volume/**")),
            ("edit", "link/**", Some("src/**")),
            ("edit", "link", Some("src")),
            ("edit", "./src/*", Some("src/*")),
            ("read", "out/a", Some("@/volume/other/a")),
            ("read", "@/ide/proj/link/a", Some("src/a")),
            ("read", "@/volume/proj/src/a", Some("src/a")),
            ("read", "@/ide/proj/**", None),
            ("read", "@/ide", Some("@/volume")),
            ("read", "src/**", None),
            ("read", "*", None),
            ("read", "*/link/a", None),
            ("read", "@/volume/**", None),
            ("read", "@/nowhere/**", None),
            ("bash", "@/ide/**", None),
        ] {
            let rule = |resource: &str| PermissionRule {
                action: action.to_owned(),
                resource: absolute(resource),
                effect: PermissionEffect::Deny,
            };
            let given = rule(pattern);
            let resolved = patterns.resolve([given.clone()]);
            let home = given.with_home(&absolute("@/home"));
            let expected: Vec<_> = [real.map(rule), Some(home)].into_iter().flatten().collect();
            assert_eq!(resolved, expected, "{pattern}");
        }
    }

    /// In the project, `docs` and `papers` are links to `secrets`.
    #[test]
    fn a_link_loosens_no_rule_that_is_not_about_it() {
        use PermissionEffect::{Allow, Ask, Deny};
        let temp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(top.join("secrets/public")).unwrap();
        for link in ["docs", "papers"] {
            symlink("secrets", top.join(link)).unwrap();
        }
        let patterns = RealPatterns::new(&top, &top);
        type Rules = &'static [(&'static str, PermissionEffect)];
        // The effects on secrets/key, docs/key and secrets/public/key.
        let rows: [(Rules, [PermissionEffect; 3]); 11] = [
            (
                &[("*", Allow), ("secrets/**", Deny), ("docs/**", Allow)],
                [Deny, Deny, Deny],
            ),
            (&[("*", Deny), ("docs/**", Allow)], [Allow, Allow, Allow]),
            (&[("*", Allow), ("docs/**", Deny)], [Deny, Deny, Deny]),
            (
                &[("*", Allow), ("docs/**", Deny), ("docs/**", Allow)],
                [Allow, Allow, Allow],
            ),
            (
                &[("*", Allow), ("docs/**", Deny), ("secrets/**", Allow)],
                [Allow, Deny, Allow],
            ),
            (
                &[("*", Allow), ("docs/**", Deny), ("papers/**", Allow)],
                [Deny, Deny, Deny],
            ),
            (
                &[("*", Allow), ("secrets/**", Deny), ("docs/**", Ask)],
                [Deny, Deny, Deny],
            ),
            (
                &[("*", Allow), ("secrets/**", Allow), ("docs/**", Ask)],
                [Ask, Ask, Ask],
            ),
            (&[("*", Deny), ("docs/**", Ask)], [Ask, Ask, Ask]),
            (
                &[
                    ("secrets/**", Deny),
                    ("secrets/public/**", Allow),
                    ("docs/**", Allow),
                ],
                [Deny, Deny, Allow],
            ),
            (&[("docs/**", Allow), ("*", Ask)], [Ask, Ask, Ask]),
        ];
        for (rules, effects) in rows {
            let rules = patterns.resolve(rules.iter().map(|(resource, effect)| PermissionRule {
                action: "read".to_owned(),
                resource: (*resource).to_owned(),
                effect: *effect,
            }));
            for (path, effect) in ["secrets/key", "docs/key", "secrets/public/key"]
                .iter()
                .zip(effects)
            {
                let target = resolve(&top, path, TargetKind::File).unwrap();
                let resource = NamedResource {
                    name: &target.resource,
                    others: &target.other_names,
                };
                let found = evaluate_names("read", resource, &Ruleset::of(&rules));
                assert_eq!(found, effect, "{path}: {rules:?}");
            }
        }
    }

    /// Directories with the names `0`, `1` and `2` on three levels. Some are links to others.
    fn tree(root: &Path, links: &[(usize, usize)]) -> Vec<PathBuf> {
        let mut paths = vec![root.to_owned()];
        for level in 1..=3 {
            let parents = paths.clone();
            let parents = parents
                .iter()
                .filter(|it| it.strip_prefix(root).unwrap().components().count() + 1 == level);
            paths.extend(
                parents.flat_map(|parent| (0..3).map(|name| parent.join(name.to_string()))),
            );
        }
        paths.remove(0);
        for path in &paths {
            fs::create_dir_all(path).unwrap();
        }
        for (from, to) in links {
            let (from, to) = (&paths[from % paths.len()], &paths[to % paths.len()]);
            // A directory that is reached through an earlier link stays, and so does one that contains the target.
            let is_plain = fs::canonicalize(from).is_ok_and(|real| real == *from);
            if is_plain && !to.starts_with(from) && !from.starts_with(to) {
                fs::remove_dir_all(from).unwrap();
                symlink(to, from).unwrap();
            }
        }
        paths
    }

    /// Walks a path as the system does. Returns the path and the path that each link on it leads to.
    fn names_on_the_way(path: &Path) -> Vec<PathBuf> {
        let mut names = vec![path.to_owned()];
        let mut rest: Vec<_> = path
            .components()
            .map(|it| it.as_os_str().to_owned())
            .collect();
        rest.reverse();
        let mut walked = PathBuf::new();
        while let Some(component) = rest.pop() {
            if component == ".." {
                walked.pop();
                continue;
            }
            walked.push(component);
            if let Ok(target) = fs::read_link(&walked) {
                walked.pop();
                rest.extend(
                    target
                        .components()
                        .rev()
                        .map(|it| it.as_os_str().to_owned()),
                );
                let behind: PathBuf = rest.iter().rev().collect();
                names.push(lexical(&walked.join(behind)));
            }
        }
        names
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

        /// A rule about a directory holds for a path exactly if the path leads into the directory, whatever links
        /// both contain. A rule that denies also holds if the path
        /// leads through the directory.
        #[test]
        fn a_rule_holds_for_every_path_that_leads_into_its_directory(
            links in proptest::collection::vec((0_usize..39, 0_usize..39), 0..8),
            rule in 0_usize..39,
            named in 0_usize..39,
        ) {
            use PermissionEffect::{Allow, Deny};
            let temp = tempfile::tempdir().unwrap();
            let top = fs::canonicalize(temp.path()).unwrap();
            let (location, outside) = (top.join("location"), top.join("outside"));
            fs::create_dir(&location).unwrap();
            fs::create_dir(&outside).unwrap();
            let paths = tree(&outside, &links);
            let (directory, named) = (&paths[rule], paths[named].join("file"));
            let leads_into = match (fs::canonicalize(directory), resolve(&location, named.to_str().unwrap(), TargetKind::File)) {
                (Ok(directory), Ok(target)) => Some((target.canonical.starts_with(directory), target)),
                _ => None,
            };
            if let Some((leads_into, target)) = leads_into {
                let real = fs::canonicalize(directory).unwrap();
                let is_within = |name: &PathBuf| name.starts_with(directory) || name.starts_with(&real);
                let is_named = names_on_the_way(&named).iter().any(is_within);
                let patterns = RealPatterns::new(&location, &top);
                for (others, effect) in [(Allow, Deny), (Deny, Allow)] {
                    let rules = [("*".to_owned(), others), (format!("{}/**", directory.display()), effect)];
                    let rules = patterns.resolve(rules.map(|(resource, effect)| PermissionRule {
                        action: "read".to_owned(),
                        resource,
                        effect,
                    }));
                    let resource = NamedResource {
                        name: &target.resource,
                        others: &target.other_names,
                    };
                    let found = evaluate_names("read", resource, &Ruleset::of(&rules));
                    let holds = leads_into || is_named && effect == Deny;
                    proptest::prop_assert_eq!(found, if holds { effect } else { others });
                }
            }
        }
    }
}
