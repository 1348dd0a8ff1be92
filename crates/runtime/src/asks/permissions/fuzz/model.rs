//! A slow model of permission rules. It knows nothing of the code that decides: it compares texts character by character,
//! follows links by their list, and reads each written list of rules on its own.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use opencode_schema::permission::PermissionEffect::{self, Allow, Ask, Deny};
use opencode_schema::permission::PermissionRule;

/// The target of a call: a command, or a file by its real name and by the names that lead to it.
#[derive(Clone)]
pub(super) struct Used {
    pub(super) name: String,
    pub(super) others: Vec<String>,
    pub(super) needs: Needs,
}

/// The rules that can allow the use.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Needs {
    Any,
    /// Only rules of the host.
    Given,
    /// Only rules of the host with this name, each time.
    Naming(&'static str),
}

/// Lists of rules as they were written, and the links on the disk.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) own: Vec<PermissionRule>,
    /// The rules of the host.
    pub(super) given: Vec<PermissionRule>,
    /// Lists that only restrict. The ceiling asks each time.
    pub(super) restrictions: Vec<(Vec<PermissionRule>, bool)>,
    /// Each link with its target.
    pub(super) links: Vec<(String, String)>,
    pub(super) root: String,
    pub(super) home: String,
    pub(super) matched: Matched,
}

/// The results of comparing patterns, followed through links, with names. All lists of rules of one disk share them.
pub(super) type Matched = Rc<RefCell<HashMap<String, HashMap<String, bool>>>>;

impl Written {
    /// Returns the loosest correct effect. The rules of the giver of a task deny for the task, too.
    pub(super) fn decide(
        &self,
        action: &str,
        used: &[Used],
        approved: &[(String, String)],
        giver: Option<&Self>,
    ) -> PermissionEffect {
        let mut worst = Allow;
        for used in used {
            let mut effect = Allow;
            let mut each_time = false;
            for (rules, decides, asks_again) in self.lists(used) {
                if decides {
                    let own = self.last(action, &used.name, &rules);
                    effect = effect.stricter(own.map_or(Ask, |rule| rule.effect));
                    each_time |= asks_again && own.is_none();
                }
                for name in [&used.name].into_iter().chain(&used.others) {
                    let last = self.last(action, name, &rules);
                    // A later rule about the real name has overruled a rule that matches that name, too.
                    let is_new = |rule: &&PermissionRule| {
                        *name == used.name || !self.matches(rule, &used.name)
                    };
                    if let Some(rule) = last.filter(is_new) {
                        effect = effect.stricter(rule.effect);
                        each_time |= asks_again && rule.effect == Ask;
                    }
                }
            }
            let is_approved = approved
                .iter()
                .any(|(its, pattern)| covers(its, action) && covers(pattern, &used.name));
            if effect == Ask && is_approved && !each_time {
                effect = Allow;
            }
            worst = worst.stricter(effect);
        }
        match giver {
            Some(giver) if giver.decide(action, used, &[], None) == Deny => Deny,
            _ => worst,
        }
    }

    /// Returns each list, whether something must be allowed by it, and whether it asks each time.
    fn lists(&self, used: &Used) -> Vec<(Cow<'_, [PermissionRule]>, bool, bool)> {
        let mut lists = vec![(Cow::from(&self.own), true, false)];
        for (rules, each_time) in &self.restrictions {
            lists.push((rules.into(), false, *each_time));
        }
        match used.needs {
            Needs::Any => {}
            Needs::Given => lists.push(((&self.given).into(), true, false)),
            Needs::Naming(name) => {
                let names = |rule: &&PermissionRule| {
                    rule.effect != Allow || rule.resource.split('/').any(|it| it == name)
                };
                let naming = self.given.iter().filter(names).cloned().collect();
                lists.push((naming, true, true));
            }
        }
        lists
    }

    fn last<'r>(
        &self,
        action: &str,
        name: &str,
        rules: &'r [PermissionRule],
    ) -> Option<&'r PermissionRule> {
        let is_about = |rule: &&PermissionRule| {
            let names_tool = action == "edit" && ["write", "apply_patch"].contains(&&*rule.action);
            covers(&rule.action, action) || names_tool
        };
        let mut rules = rules.iter().rev().filter(is_about);
        rules.find(|rule| self.matches(rule, name))
    }

    fn matches(&self, rule: &PermissionRule, name: &str) -> bool {
        let known = |matched: &HashMap<String, HashMap<String, bool>>| {
            matched.get(&rule.resource)?.get(name).copied()
        };
        let found = known(&self.matched.borrow());
        found.unwrap_or_else(|| {
            let found = self.reaches(rule, name);
            let mut matched = self.matched.borrow_mut();
            let names = matched.entry(rule.resource.clone()).or_default();
            names.insert(name.to_owned(), found);
            found
        })
    }

    /// True if the written pattern matches, or the pattern of the place to which its links lead.
    fn reaches(&self, rule: &PermissionRule, name: &str) -> bool {
        let mut pattern = rule.resource.replacen("~/", &format!("{}/", self.home), 1);
        if covers(&pattern, name) {
            return true;
        }
        for _ in 0..self.links.len() {
            let inside = pattern.strip_prefix(&format!("{}/", self.root));
            let absolute = inside.map(str::to_owned).unwrap_or(pattern);
            let link = self.links.iter().find_map(|(link, target)| {
                let below = absolute.strip_prefix(link.as_str())?;
                below.starts_with('/').then(|| format!("{target}{below}"))
            });
            pattern = link.unwrap_or(absolute);
        }
        covers(&pattern, name)
    }
}

/// True if a pattern covers a text. A tail of a space and a star may be absent.
pub(super) fn covers(pattern: &str, text: &str) -> bool {
    let bare = pattern.strip_suffix(" *");
    each(pattern.as_bytes(), text.as_bytes())
        || bare.is_some_and(|bare| each(bare.as_bytes(), text.as_bytes()))
}

fn each(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if each(rest, text) => true,
        (Some((b'*', _)), Some((_, below))) => each(pattern, below),
        (Some((wanted, rest)), Some((found, below))) => {
            (wanted == found || *wanted == b'?') && each(rest, below)
        }
        _ => false,
    }
}
