//! Options about permissions, variables of commands, and shared sessions.

use crate::vocabulary::{Default, Kind, Named, Object, member};

static UNANSWERED: Named = Named {
    name: "Unanswered",
    doc: "The treatment of permissions and questions without an answer. `\"wait\"`: they wait. `\"deny\"`: the host refuses them \
          at once. `denyAfterMs`: the host refuses them after this number of milliseconds, a whole number from 1 on. A refusal \
          has the effect of a rule that denies: the call fails, and the model continues. `\"deny\"` leaves no time for handlers \
          either. `denyAfterMs` limits the time of handlers and of all clients.",
    kind: Kind::written("\"wait\" | \"deny\" | { readonly denyAfterMs: number }", "checkUnanswered"),
};

static RULES: Named = Named {
    name: "PermissionRules",
    doc: "Permission rules in one of the forms of the configuration: a list, or effects by action, such as \
          `{ \"*\": \"ask\", read: \"allow\", bash: { \"*\": \"ask\", \"rm *\": \"deny\" } }`. The last rule that matches decides.",
    kind: Kind::written(
        "\n  | readonly { readonly action: string; readonly resource: string; readonly effect: \"allow\" | \"ask\" | \"deny\" }[]\
         \n  | Readonly<Record<string, \"allow\" | \"ask\" | \"deny\" | Readonly<Record<string, \"allow\" | \"ask\" | \"deny\">>>>\
         \n  | \"allow\"\n  | \"ask\"\n  | \"deny\"",
        "checkRules",
    ),
};

/// The option `permissions`.
pub static PERMISSIONS: Object = Object::named(
    "PermissionOptions",
    "The decisions of the program about permissions. No file can change them.",
    &[
        member(
            "unanswered",
            Kind::Named(&UNANSWERED),
            "The treatment of permissions and questions that no client answers, also in child sessions.",
        )
        .default(Default::Text("wait"))
        .page(
            "Permissions and questions",
            "permissions.md#hosts-where-no-user-can-answer",
        ),
        member(
            "ceiling",
            Kind::Named(&RULES),
            "Rules that nothing loosens: no file, agent, session, subagent or saved approval. A `deny` is final. For an `ask` the \
             host asks each time, also after an answer of `always`. An `allow` leaves the decision to the other rules.",
        )
        .without("none")
        .page("Security model", "security.md#the-ceiling"),
    ],
);

/// The option `share`.
pub static SHARE: Object = Object::named(
    "ShareOptions",
    "A service that keeps shared copies of sessions.",
    &[
        member(
            "publish",
            Kind::method(
                "(shared: PublishedSession): { readonly url: string } | Promise<{ readonly url: string }>",
            ),
            "Publishes a copy of a session, or replaces the copy at `session.share.url`, and returns its address: one that begins \
             with `https://` or `http://`, of at most 2048 bytes. The host calls it when a session is shared, and again after \
             each activity of a shared session.",
        )
        .required(),
        member(
            "remove",
            Kind::method("(shared: SharedSession): unknown"),
            "Removes the copy at `session.share.url`. If it throws, the session stays shared.",
        )
        .required(),
        member(
            "mode",
            Kind::Words(&["manual", "auto"]),
            "`\"manual\"`: clients share sessions. `\"auto\"`: the host also shares each new session that no other session \
             creates. The key `share` of the configuration can be `\"auto\"`, too, and `\"disabled\"` there is stronger.",
        )
        .default(Default::Text("manual")),
    ],
);

/// The option `commandEnvironment`.
pub static COMMAND_ENVIRONMENT: Object = Object::named(
    "CommandEnvironment",
    "Names of variables, in any case. `*` stands for any text.",
    &[
        member("omit", Kind::list(&Kind::Text), "Further variables that commands and terminals do not get.")
            .without("none"),
        member(
            "keep",
            Kind::list(&Kind::Text),
            "Variables that they always get. Takes precedence over all other rules; `[\"*\"]` selects all.",
        )
        .without("none"),
    ],
);
