//! Resources of a request that not every rule can allow.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use opencode_schema::permission::{
    NamedResource, PermissionEffect, PermissionRule, Ruleset, SavedPermission, decide, denying_rule,
};

/// Resources of a request that only rules of the host or the user can allow.
#[derive(Clone, Default)]
pub(super) struct Protected {
    /// The built-in rules and those of projects do not allow them.
    pub(super) given_only: BTreeSet<String>,
    /// Only a rule of the host or the user whose pattern names them allows them; the pattern contains the name. No saved
    /// permission answers for them.
    pub(super) guarded: BTreeMap<String, String>,
}

impl Protected {
    /// Returns the effect of the rules that can allow the resources. The host asks if none of them does.
    pub(super) fn effect<'a>(
        &'a self,
        action: &str,
        named: impl Fn(&'a String) -> NamedResource<'a>,
        given: &'a [PermissionRule],
        saved: &[SavedPermission],
    ) -> PermissionEffect {
        let effects = self.counting(given).map(|counting| {
            let saved = if counting.can_be_saved { saved } else { &[] };
            let resources = [named(counting.resource)];
            decide(action, resources, &Ruleset::of(&counting.rules), saved)
        });
        effects.fold(PermissionEffect::Allow, PermissionEffect::stricter)
    }

    /// Returns a rule that denies one of the resources.
    pub(super) fn denied_by<'a>(
        &'a self,
        action: &str,
        named: impl Fn(&'a String) -> NamedResource<'a>,
        given: &'a [PermissionRule],
    ) -> Option<PermissionRule> {
        self.counting(given).find_map(|counting| {
            let resources = [named(counting.resource)];
            denying_rule(action, resources, &Ruleset::of(&counting.rules)).cloned()
        })
    }

    /// Returns each resource with the rules that count for it.
    fn counting<'a>(&'a self, given: &'a [PermissionRule]) -> impl Iterator<Item = Counting<'a>> {
        let given_only = self.given_only.iter().map(|resource| Counting {
            resource,
            rules: Cow::Borrowed(given),
            can_be_saved: true,
        });
        let guarded = self.guarded.iter().map(|(resource, name)| {
            let counts =
                |rule: &&PermissionRule| rule.effect != PermissionEffect::Allow || rule.names(name);
            Counting {
                resource,
                rules: given.iter().filter(counts).cloned().collect(),
                can_be_saved: false,
            }
        });
        given_only.chain(guarded)
    }
}

/// The rules that count for one resource.
struct Counting<'a> {
    resource: &'a String,
    rules: Cow<'a, [PermissionRule]>,
    /// True if a saved permission can answer for the resource.
    can_be_saved: bool,
}
