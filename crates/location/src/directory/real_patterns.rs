//! Resolves symbolic links in the patterns of permission rules.
//!
//! The resource of a path is its real path. A rule whose pattern contains a link would never match it, so each such
//! rule gets a second one with the real path behind it. Both have the same effect and stand beside each other, so that
//! the order of the rules keeps its meaning.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use opencode_schema::permission::PermissionRule;
use parking_lot::Mutex;

use super::containment::{follow, real_path};
use super::lexical;

/// Maximum number of patterns that are remembered.
const MAX_RESOLVED: usize = 10_000;

/// Resolves the patterns of the rules of one Location, each once. Reads the disk and blocks.
pub struct RealPatterns {
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

    /// Returns the rules with the home directory filled in, each followed by a rule for the real path if its pattern
    /// contains a link.
    pub fn resolve(&self, rules: impl IntoIterator<Item = PermissionRule>) -> Vec<PermissionRule> {
        let rules = rules.into_iter().map(|rule| self.with_home(rule));
        let rules = rules.flat_map(|rule| {
            let real = self.real_rule(&rule);
            std::iter::once(rule).chain(real)
        });
        rules.collect()
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
    fn a_pattern_with_a_link_is_followed_by_that_of_the_real_path() {
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
            let expected: Vec<_> = [Some(home), real.map(rule)].into_iter().flatten().collect();
            assert_eq!(resolved, expected, "{pattern}");
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
