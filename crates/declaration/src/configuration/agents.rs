//! Agents, commands, references and skills.

use super::document::MAX_TEXTS;
use super::models::{MODEL_SELECTION, REQUEST};
use super::permissions::{OLDER_RULES, RULES, TOOLS};
use crate::vocabulary::{Default, Kind, Named, Number, Object, Restricts, absent, member};

static COLOR: Named = Named {
    name: "AgentColorConfig",
    doc: "A colour of an agent.",
    kind: Kind::OneOf(&[
        Kind::Prefixed("#"),
        Kind::Words(&["primary", "secondary", "accent", "success", "warning", "error", "info"]),
    ]),
};

const STEPS: Kind = Kind::Number(Number::from(1, "Provider Turns").whole());

/// An agent of the newer generation. Files of agents have the same fields.
pub static AGENT: Object = Object::named(
    "AgentConfig",
    "An agent. An omitted member keeps its value.",
    &[
        member(
            "model",
            Kind::Named(&MODEL_SELECTION),
            "The model of sessions without one.",
        )
        .without("the model of the configuration"),
        member("variant", Kind::Text, "The variant of that model.").without("the model's own"),
        member(
            "request",
            Kind::Object(&REQUEST),
            "Headers and options of the agent's model requests.",
        ),
        member(
            "system",
            Kind::Text,
            "The agent's own instructions for the model; in a Markdown file the text of the file.",
        )
        .without("those of the model's family"),
        member("description", Kind::Text, "Purpose of the agent."),
        member(
            "mode",
            Kind::Words(&["subagent", "primary", "all"]),
            "The callers that may choose it: users (`\"primary\"`), other agents, which give it tasks (`\"subagent\"`), or both (`\"all\"`).",
        )
        .default(Default::Text("all")),
        member("hidden", Kind::Boolean, "True if user interfaces hide it.").default_is(false),
        member(
            "color",
            Kind::Named(&COLOR),
            "Its colour: `\"#rrggbb\"`, or one of a theme.",
        ),
        member(
            "steps",
            STEPS,
            "The longest work for one prompt. In the last turn, the agent has no tools.",
        )
        .without("no bound"),
        member(
            "disabled",
            Kind::Boolean,
            "True if the agent is removed. A later description starts from nothing, without the built-in settings.",
        )
        .default_is(false),
        member(
            "permissions",
            RULES,
            "Rules that follow the rules for all agents.",
        )
        .restricts(Restricts::Actions),
    ],
);

/// An agent of the older generation.
pub static OLDER_AGENT: Object = Object::named(
    "OlderAgentConfig",
    "An agent in the older form. Unknown members are options of its model requests, such as `temperature`.",
    &[
        member("name", Kind::Text, "It has no effect: the key under which an agent stands is its name.").unused(),
        member("prompt", Kind::Text, "").replaced_by("system"),
        member("disable", Kind::Boolean, "").replaced_by("disabled"),
        member("maxSteps", STEPS, "").replaced_by("steps"),
        member("tools", TOOLS, "Which tools the agent may use, by name.")
            .joined_with("permissions")
            .restricts(Restricts::NamedTools),
        member("permission", Kind::Named(&OLDER_RULES), "The older form of `permissions`, whose rules follow.")
            .joined_with("permissions")
            .restricts(Restricts::NamedActions),
        member("options", Kind::map(&Kind::Json), "Options of its model requests."),
    ],
)
.extends(&[&AGENT])
.others(Kind::Unknown);

pub(super) static COMMAND: Object = Object::named(
    "CommandConfig",
    "A prompt with a name. An omitted member keeps its value.",
    &[
        member("template", Kind::Text, "The prompt, with places for arguments: `$ARGUMENTS`, `$1`, `$2`."),
        member("description", Kind::Text, "Purpose of the command."),
        member("agent", Kind::Text, "The agent that answers.").without("that of the session"),
        member("model", Kind::Named(&MODEL_SELECTION), "The model that answers.").without("that of the session"),
        member("variant", Kind::Text, "The variant of that model."),
        member("subtask", Kind::Boolean, "True if it runs in a separate session.").default_is(false),
    ],
);

static DESCRIBED: Object = Object::unnamed(&[
    member("description", Kind::Text, "Its description for the model."),
    member("hidden", Kind::Boolean, "True if user interfaces hide it.").default_is(false),
]);

static DIRECTORY: Object = Object::unnamed(&[
    member("path", Kind::Text, "A directory; a relative one starts at the directory of the document.").required(),
    absent("repository"),
])
.extends(&[&DESCRIBED]);

static REPOSITORY: Object = Object::unnamed(&[
    absent("path"),
    member(
        "repository",
        Kind::Text,
        "`owner/name`, `host/path`, `user@host:path` or an address. The host clones it in the background.",
    )
    .required(),
    member("branch", Kind::Text, "The branch.").without("the one that the repository names"),
])
.extends(&[&DESCRIBED]);

static REFERENCE: Named = Named {
    name: "ReferenceConfig",
    doc: "A directory or a repository that agents may read in addition to the project.",
    kind: Kind::OneOf(&[Kind::Object(&DIRECTORY), Kind::Object(&REPOSITORY)]),
};

pub(super) static REFERENCES: Kind =
    Kind::Map { of: &Kind::OneOf(&[Kind::Text, Kind::Named(&REFERENCE)]), most: Some(super::document::MAX_FEW) };

static OLDER_SKILLS: Object = Object::named(
    "OlderSkillsConfig",
    "Directories and addresses of skills.",
    &[member("paths", PLACES, "Directories."), member("urls", PLACES, "Addresses.")],
);

const PLACES: Kind = Kind::List { of: &Kind::Text, most: Some(super::document::MAX_FEW) };

pub(super) static SKILLS: Kind = Kind::OneOf(&[PLACES, Kind::Object(&OLDER_SKILLS)]);

pub(super) static COMMANDS: Kind = Kind::Map { of: &Kind::Object(&COMMAND), most: Some(MAX_TEXTS) };
