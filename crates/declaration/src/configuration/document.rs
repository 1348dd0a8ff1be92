//! The keys of a document.

use super::agents::{AGENT, COMMANDS, OLDER_AGENT, REFERENCES, SKILLS};
use super::mcp::MCP;
use super::models::{MODEL_SELECTION, PROVIDER};
use super::older_models::OLDER_PROVIDER;
use super::permissions::{OLDER_RULES, RULES, TOOLS};
use super::settings::{ATTACHMENTS, COMPACTION, TOOL_OUTPUT, WATCHER};
use crate::vocabulary::{Default, Kind, Member, Number, Object, Restricts, member};

/// Maximum number of texts in a list that is searched for every provider, model or path, and of commands in a document.
pub const MAX_TEXTS: usize = 1_000;

/// Maximum number of headers of a request and of variants of a model. They are searched linearly, so a document with a
/// hundred thousand of them would delay the opening of the directory.
pub const MAX_FEW: usize = 100;

const MANY_TEXTS: Kind = Kind::List { of: &Kind::Text, most: Some(MAX_TEXTS) };

/// All keys, in the order in which they are read. Later values override earlier ones, so an older name comes before its
/// newer one.
pub fn keys() -> impl Iterator<Item = &'static Member> + Clone {
    let objects = [&OLDER, &DOCUMENT, &FOREIGN];
    objects.into_iter().flat_map(|object| object.members)
}

/// A whole document.
pub static DOCUMENT: Object = Object::named(
    "OpenCodeConfig",
    "Configuration with the keys of `opencode.json`. All keys are optional. If several documents have a key, the one with \
     the highest precedence counts. The option `config` has the highest of all.",
    &[
        member(
            "model",
            Kind::Named(&MODEL_SELECTION),
            "The model of sessions without one: `provider/model`, `provider/model#variant`, or `{ providerID, id, variant }`.",
        )
        .without("the newest usable model")
        .example(r#""openai/gpt-4.1-mini", or "anthropic/claude-sonnet-4-5#high" for a variant"#)
        .in_untrusted(),
        member(
            "small_model",
            Kind::Named(&MODEL_SELECTION),
            "The model for small tasks, such as titles, in the same form.",
        )
        .without("none")
        .page("Titles", "sessions.md#titles"),
        member(
            "providers",
            Kind::map(&Kind::Object(&PROVIDER)),
            "Providers and their models, by the provider's id. They extend the known data of these providers.",
        )
        .page("Models", "configuration.md#models"),
        member(
            "enabled_providers",
            MANY_TEXTS,
            "The only providers that may be used, by id. All others are denied.",
        )
        .without("all")
        .restricts(Restricts::Providers),
        member(
            "disabled_providers",
            MANY_TEXTS,
            "Providers that may not be used, by id.",
        )
        .without("none")
        .in_untrusted()
        .restricts(Restricts::Providers),
        member(
            "experimental",
            Kind::Object(&EXPERIMENTAL),
            "Settings whose form may change.",
        )
        .in_untrusted()
        .restricts(Restricts::Providers),
        member(
            "default_agent",
            Kind::Text,
            "The agent of sessions without one.",
        )
        .default(Default::Text("build"))
        .page("Agents", "configuration.md#agents"),
        member(
            "agents",
            Kind::map(&Kind::Object(&AGENT)),
            "Agents, by id: new ones, and changes to those that exist (`build`, `plan`, `general`, `explore`).",
        )
        .in_untrusted()
        .restricts(Restricts::NamedAgents)
        .page("Agents", "configuration.md#agents"),
        member(
            "permissions",
            RULES,
            "Permissions of every agent. The last rule that matches decides; without one the user is asked.",
        )
        .in_untrusted()
        .restricts(Restricts::Actions)
        .page("Permissions", "configuration.md#permissions"),
        member("commands", COMMANDS, "Prompts with a name, for `commands.list`.")
            .in_untrusted()
            .page("Commands", "configuration.md#commands"),
        member(
            "skills",
            SKILLS,
            "Directories and addresses of skills; relative directories start at the session's directory, `~/` at the home \
             directory. The older form has paths and addresses apart.",
        )
        .in_untrusted()
        .page("Skills", "configuration.md#skills"),
        member(
            "references",
            REFERENCES,
            "Directories and repositories that agents may read in addition to the project, by name: a path that begins with \
             `.`, `/` or `~`, a repository such as `\"owner/name\"`, or either with a description.",
        )
        .in_untrusted()
        .page("References", "configuration.md#references"),
        member(
            "instructions",
            MANY_TEXTS,
            "Files, globs and http or https addresses whose text the model receives. Relative ones start at the directory of \
             the document.",
        )
        .in_untrusted(),
        member(
            "snapshots",
            Kind::Boolean,
            "True if the host captures the worktree before and after steps, so that a session can be reverted.",
        )
        .default_is(true),
        member(
            "share",
            Kind::OneOf(&[
                Kind::Words(&["manual", "auto", "disabled"]),
                Kind::Boolean,
            ]),
            "With `\"manual\"`, clients share sessions. With `\"auto\"`, the host also shares each new one. With `\"disabled\"`, no \
             session is shared. In the older form, `true` is `\"auto\"` and `false` is `\"manual\"`.",
        )
        .default(Default::Text("manual"))
        .in_untrusted()
        .restricts(Restricts::Sharing)
        .page("Sharing", "sessions.md#sharing"),
        member(
            "compaction",
            Kind::Object(&COMPACTION),
            "The replacement of a long Session History by a summary.",
        )
        .page("Compaction", "compaction.md"),
        member(
            "tool_output",
            Kind::Object(&TOOL_OUTPUT),
            "Limits of the tool output that a model receives. The rest is kept in a file.",
        )
        .page("What tools give back", "configuration.md#what-tools-give-back"),
        member(
            "attachments",
            Kind::Object(&ATTACHMENTS),
            "Limits of the images of a conversation, whatever their origin.",
        )
        .page("What tools give back", "configuration.md#what-tools-give-back"),
        member(
            "watcher",
            Kind::Object(&WATCHER),
            "This version watches no files for it.",
        ),
        member(
            "shell",
            Kind::Text,
            "The program that runs the commands of the tool `bash`, and terminals that name no program: a path, or a name in \
             the `PATH` of the host. The host calls it with `-c` and the command.",
        )
        .without("`/bin/sh`; on Windows the one that `COMSPEC` names"),
        member(
            "username",
            Kind::Text,
            "The user's name. This version does not use it.",
        )
        .without("none"),
        member(
            "timezone",
            Kind::Text,
            "The time zone of the user, such as `\"Europe/Oslo\"`. It decides about the date that models read.",
        )
        .without("`TZ` of the environment, else that of the machine")
        .page("Context", "context.md"),
        member(
            "mcp",
            Kind::Named(&MCP),
            "Servers of the Model Context Protocol. The host starts them at their first use.",
        )
        .without("none")
        .page("MCP servers", "mcp.md"),
    ],
)
.extends(&[&OLDER, &FOREIGN])
.example(
    "const config: OpenCodeConfig = {\n  \
       model: \"openai/gpt-4.1-mini\",\n  \
       permissions: [{ action: \"bash\", resource: \"git *\", effect: \"allow\" }],\n  \
       agents: { build: { steps: 20 } },\n\
     }",
);

static EXPERIMENTAL: Object = Object::named(
    "ExperimentalConfig",
    "Settings whose form may change.",
    &[
        member(
            "policies",
            Kind::list(&Kind::Object(&POLICY)),
            "Statements `{ action, effect, resource }` about the use of providers. The last statement that matches decides.",
        )
        .restricts(Restricts::Providers),
        member(
            "mcp_timeout",
            Kind::Number(Number::from(1, "milliseconds")),
            "The older name of `mcp.timeout.request`.",
        ),
        member(
            "subagent_depth",
            Kind::Number(Number::ANY),
            "This version does not use it. The option `limits.subagentDepth` bounds the depth of tasks.",
        )
        .unused(),
    ],
);

static POLICY: Object = Object::named(
    "ProviderPolicyConfig",
    "A statement about the use of providers.",
    &[
        member("action", Kind::Words(&["provider.use"]), "The subject.").required(),
        member("effect", Kind::Words(&["allow", "deny"]), "The decision.").required(),
        member("resource", Kind::Text, "A glob over the ids of providers; `*` is any text.").required(),
    ],
);

/// The keys of the older generation of the format.
pub static OLDER: Object = Object::named(
    "OlderConfig",
    "Older names, which still work. If a document has both, the newer one counts.",
    &[
        member("provider", Kind::map(&Kind::Object(&OLDER_PROVIDER)), "The older form of `providers`.")
            .replaced_by("providers"),
        member(
            "mode",
            Kind::map(&Kind::Object(&OLDER_AGENT)),
            "Agents that users may choose, in the older form of `agents`.",
        )
        .replaced_by("agents")
        .in_untrusted()
        .restricts(Restricts::NamedAgents),
        member("agent", Kind::map(&Kind::Object(&OLDER_AGENT)), "The older form of `agents`.")
            .replaced_by("agents")
            .in_untrusted()
            .restricts(Restricts::NamedAgents),
        member("tools", TOOLS, "Which tools may be used, by name. Older than `permission`.")
            .joined_with("permissions")
            .in_untrusted()
            .restricts(Restricts::NamedTools),
        member("permission", Kind::Named(&OLDER_RULES), "The older form of `permissions`.")
            .joined_with("permissions")
            .in_untrusted()
            .restricts(Restricts::NamedActions),
        member("command", COMMANDS, "").replaced_by("commands").in_untrusted(),
        member("reference", REFERENCES, "").replaced_by("references").in_untrusted(),
        member("autoshare", Kind::Boolean, "The older form of `share: \"auto\"`.").replaced_by("share"),
        member("snapshot", Kind::Boolean, "").replaced_by("snapshots"),
        member("attachment", Kind::Object(&ATTACHMENTS), "").replaced_by("attachments"),
        member("media", Kind::Object(&ATTACHMENTS), "Another older name of `attachments`.").replaced_by("attachments"),
    ],
);

/// Keys for other programs that read the same file.
pub static FOREIGN: Object = Object::named(
    "ForeignConfig",
    "Keys of other programs that read the same file. They have no effect here.",
    &[
        member("$schema", Kind::Text, "").unused().in_untrusted(),
        foreign("autoupdate").in_untrusted(),
        foreign("enterprise").in_untrusted(),
        foreign("formatter"),
        foreign("keybinds").in_untrusted(),
        foreign("layout").in_untrusted(),
        foreign("logLevel").in_untrusted(),
        foreign("lsp"),
        foreign("plugin"),
        foreign("plugins"),
        foreign("server"),
        foreign("subagent_depth").in_untrusted(),
        foreign("theme").in_untrusted(),
        foreign("tui").in_untrusted(),
    ],
);

const fn foreign(name: &'static str) -> Member {
    member(name, Kind::Json, "").unused()
}
