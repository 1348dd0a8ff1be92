//! Permissions, in both generations of the format.

use crate::vocabulary::{Kind, Named, Object, member};

/// Maximum number of rules in one list. Every rule is tested for each tool call.
pub const MAX_RULES: usize = 1_000;

static EFFECT: Named = Named {
    name: "PermissionEffectConfig",
    doc: "The decision about an action.",
    kind: Kind::Words(&["allow", "deny", "ask"]),
};

static RULE: Object = Object::named(
    "PermissionRuleConfig",
    "A rule about the actions of an agent.",
    &[
        member(
            "action",
            Kind::Text,
            "The action, which may be a glob: `\"read\"`, `\"edit\"`, `\"bash\"`, `\"webfetch\"`, `\"*\"`.",
        )
        .required(),
        member(
            "resource",
            Kind::Text,
            "A glob over the resource of the action: a path, a command, an address. `*` is any text, `?` one character.",
        )
        .required(),
        member("effect", Kind::Named(&EFFECT), "The decision.").required(),
    ],
);

pub(super) static RULES: Kind = Kind::List { of: &Kind::Object(&RULE), most: Some(MAX_RULES) };

pub(super) static OLDER_RULES: Named = Named {
    name: "OlderPermissionConfig",
    doc: "Rules for all actions at once, or by action: one decision, or one by resource.",
    kind: Kind::OneOf(&[
        Kind::Named(&EFFECT),
        Kind::Map {
            of: &Kind::OneOf(&[Kind::Named(&EFFECT), Kind::map(&Kind::Named(&EFFECT))]),
            most: Some(MAX_RULES),
        },
    ]),
};

/// Switches of tools, by name.
pub(super) static TOOLS: Kind = Kind::Map { of: &Kind::Boolean, most: Some(MAX_RULES) };
