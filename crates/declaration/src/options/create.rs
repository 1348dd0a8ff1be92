//! The options of `OpenCode.create`, in the groups of their page.

use super::limits::{BUDGETS, DEADLINES, LIMITS, RETRY};
use super::log::LOG_OPTIONS;
use super::providers::{OAUTH, SERVER};
use super::security::{COMMAND_ENVIRONMENT, PERMISSIONS, SHARE};
use crate::vocabulary::{Default, Kind, Member, Named, Object, member};

/// The options of a host.
pub static OPTIONS: Object = Object::named(
    "OpenCodeOptions",
    "Options of a host. All are optional. The host checks them before it opens anything: an unknown option or a wrong value \
     rejects with `InvalidOptionError`, which names the option. Relative paths are resolved against the working directory when \
     the host is created.",
    &[],
)
.extends(&[&MODEL, &SESSIONS, &FOLDERS, &BEHAVIOUR]);

/// Maximum number of models that can take over from the one before.
pub const MAX_FALLBACKS: usize = 16;

/// A text that failures do not show.
const SECRET: Kind = Kind::written("string", "checkSecret");

/// Options about the model and the configuration.
pub static MODEL: Object = Object::unnamed(&[
    member(
        "model",
        Kind::written("string", "checkModel"),
        "The model of sessions without one, as `\"provider/model\"` or `\"provider/model#variant\"`. It needs no configuration: \
         the host assumes that it calls tools, knows `openai` and `anthropic`, and uses OpenAI Chat Completions for any other \
         provider with a `baseURL`.",
    )
    .without("`model` of the configuration, else the newest usable model")
    .example("\"openai/gpt-4.1-mini\"")
    .page("Models", "models.md"),
    member(
        "apiKey",
        SECRET,
        "The API key of the provider of `model`. It needs the option `model`. The host sends it only to an address from \
         `baseURL`, `config` or a variable of `env`, or to the provider's own address.",
    )
    .without(
        "`apiKey` of the configuration, else the variable `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `<PROVIDER>_API_KEY` of `env`",
    ),
    member(
        "baseURL",
        SECRET,
        "The address of the provider of `model`: an absolute http or https URL, such as `\"http://127.0.0.1:8080/v1\"`. It \
         needs the option `model`.",
    )
    .without(
        "`baseURL` of the configuration, else the variable `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL` of `env`, else the \
         provider's own address",
    ),
    member(
        "mcp",
        Kind::written("McpConfig", "checkConfig"),
        "Servers of the Model Context Protocol, in the form of the configuration key `mcp`: an object of servers by name, or \
         `{ timeout, servers }`. They take precedence over servers of the configuration. The host starts them at their first \
         use. A wrong value rejects with `InvalidOptionError`, whose `option` is its path, such as `\"mcp.files.command\"`.",
    )
    .without("none")
    .example("`{ files: { type: \"local\", command: [\"mcp-server-filesystem\", \".\"] } }`")
    .page("MCP servers", "mcp.md"),
    member(
        "config",
        Kind::written("OpenCodeConfig", "checkConfig"),
        "Configuration with the keys of `opencode.json`. It takes precedence over the configuration files. A wrong value or an \
         unknown key rejects with `InvalidOptionError`, whose `option` is its path, such as `\"config.permission.bash\"`.",
    )
    .without("none")
    .page("Configuration", "configuration.md#the-option-config"),
]);

static DURABILITY: Named = Named {
    name: "Durability",
    doc: "The failures that a committed event survives.",
    kind: Kind::Words(&["normal", "full"]),
};

static RECOVERY: Named = Named {
    name: "Recovery",
    doc: "The action at opening on sessions whose last activity was cut off by the end of a process.",
    kind: Kind::Words(&["manual", "resume"]),
};

/// Options about sessions, and where they work and live.
pub static SESSIONS: Object = Object::unnamed(&[
    member(
        "directory",
        Kind::Text,
        "The directory of sessions that are created without a Location.",
    )
    .without("the working directory of the process"),
    member(
        "database",
        Kind::written("string", "checkDatabase"),
        "The SQLite file of the sessions: a path, or an absolute `file:` URL. `\":memory:\"` keeps them in memory until the host \
         closes. Any other scheme is refused. Only one host can have a file open.",
    )
    .without("`embedded/opencode.db` in `dataDirectory`"),
    member(
        "durability",
        Kind::Named(&DURABILITY),
        "The failures that acknowledged data survives. `\"normal\"`: the death of the process. `\"full\"`: also a loss of power, \
         at the cost of a disk flush with every commit.",
    )
    .default(Default::Text("normal"))
    .page("Durability", "durability.md"),
    member(
        "recovery",
        Kind::Named(&RECOVERY),
        "The action at opening on sessions that a crash interrupted. `\"manual\"`: they wait for the next prompt or for \
         `sessions.resume`. `\"resume\"`: the host continues each of them with a new request to the model, which may have \
         answered before the crash. It skips a session whose last three attempts finished no step. Pending prompts of a \
         continued session are answered with it. Pending prompts of other sessions continue to wait. It begins after the \
         plugins have started and the program had the rest of one turn of the event loop to register its tools.",
    )
    .default(Default::Text("manual"))
    .page("After a crash", "durability.md#after-a-crash"),
    member(
        "reminders",
        Kind::Boolean,
        "If true, the model gets reminders as Mid-Conversation System Messages: that it plans and changes nothing, while the \
         agent `plan` answers, and that it does not plan any more after this agent; and that prompts arrived during its work.",
    )
    .without("`false`, because OpenCode sends none")
    .page("Reminders", "prompts.md#reminders"),
    member(
        "remoteConfig",
        Kind::written_with(
            "readonly (string | RemoteConfigServer)[]",
            "checkServers",
            &SERVER,
        ),
        "Servers of organisations that publish configuration at `/.well-known/opencode`, as OpenCode reads it: an address, or an \
         address with headers for its requests. The addresses begin with `https://`, or with `http://` for this machine. Their \
         configuration is weaker than all other configuration, and it can start programs: name only servers that you trust \
         like your own program. The first use of a directory waits up to five seconds for it. If a server does not answer, \
         its last copy in the cache directory is used.",
    )
    .without("none")
    .page("Organisations", "configuration.md#organisations"),
    member(
        "managedConfigDirectory",
        Kind::Text,
        "The absolute path of a directory of an administrator, for example `/etc/opencode`. Its files are those of a \
         configuration directory. They are stronger than all other configuration, and no rule loosens theirs.",
    )
    .without("none")
    .page("Organisations", "configuration.md#organisations"),
    member(
        "refreshModels",
        Kind::Boolean,
        "If true, the host keeps the list of models current: it downloads `https://models.opencode.ai/api.json` once an hour to \
         `models.json` in the cache directory, first when it opens, unless the file is younger than five minutes. A failure \
         keeps the list. `OPENCODE_MODELS_URL` sets another address, and `OPENCODE_DISABLE_MODELS_FETCH` turns it off.",
    )
    .without("`false`, because a library opens no connections by itself")
    .page("Models", "models.md#the-list-of-models"),
    member(
        "timezone",
        Kind::Text,
        "The time zone of the user, a name of the zone database such as `\"Europe/Oslo\"`. It decides about the date that models \
         read.",
    )
    .without("the key `timezone` of the configuration, else `TZ` of `env`, else the zone of the machine")
    .page("Context", "context.md"),
    member(
        "titles",
        Kind::Boolean,
        "If true, the agent `title` names each session after its first answer, with one further request to a model in the \
         background. If false, sessions keep their default titles.",
    )
    .without(
        "true if the configuration names a model for titles (`small_model`, or `model` of the agent `title`), else false, \
         because each title costs a request",
    )
    .page("Titles", "sessions.md#titles"),
    member(
        "share",
        Kind::Object(&SHARE),
        "The service that keeps shared copies of sessions: `sessions.share` and `sessions.unshare` call its functions. Without \
         it no session is shared, and nothing of a session leaves the machine.",
    )
    .without("none")
    .page("Sharing", "sessions.md#sharing"),
]);

const fn directory(name: &'static str, doc: &'static str) -> Member {
    member(name, Kind::Text, doc)
}

/// Options about the environment and about folders.
pub static FOLDERS: Object = Object::unnamed(&[
    member(
        "env",
        Kind::written(
            "Readonly<Record<string, string | undefined>>",
            "checkTextsByName",
        ),
        "The environment variables of the host. The host copies them when it is created, so later changes have no effect.",
    )
    .without("`process.env`"),
    member(
        "commandEnvironment",
        Kind::Object(&COMMAND_ENVIRONMENT),
        "The variables of `env` that commands and terminals get. By default the host omits credentials of model providers and \
         search services, variables whose value contains a configured key or header, and variables with the name of a secret, \
         such as `*_API_KEY`, `*_TOKEN` and `*PASSWORD*`.",
    )
    .page("Secrets", "secrets.md#the-environment-of-commands"),
    directory(
        "home",
        "The home directory. It replaces `~` in paths, and contains the default directories of the next three options.",
    )
    .without("`HOME` of `env`, else the home directory of the user"),
    directory(
        "dataDirectory",
        "The directory of durable data. With the option `home`, the host ignores the `XDG_` variables of this process, but not \
         those of the option `env`.",
    )
    .without("`opencode` in `XDG_DATA_HOME`, else `.local/share/opencode` in `home`"),
    directory(
        "configDirectory",
        "The directory of the configuration of the user.",
    )
    .without("`opencode` in `XDG_CONFIG_HOME`, else `.config/opencode` in `home`"),
    directory(
        "cacheDirectory",
        "The directory of files that may be deleted at any time.",
    )
    .without("`opencode` in `XDG_CACHE_HOME`, else `.cache/opencode` in `home`"),
]);

/// Options about the behaviour of a host.
pub static BEHAVIOUR: Object = Object::unnamed(&[
    member(
        "log",
        Kind::written_with(
            "LogOptions[\"sink\"] | LogOptions[\"level\"] | LogOptions",
            "checkLog",
            &LOG_OPTIONS,
        ),
        "The log: a function that gets entries from the level `\"warn\"` on, a level for process warnings, or `LogOptions`. The \
         host never writes to standard output.",
    )
    .without("process warnings from the level `\"warn\"` on")
    .page("The log", "log.md"),
    member(
        "trust",
        Kind::written("boolean | TrustFunction", "checkTrust"),
        "Trust in the files of projects (`opencode.json`, `.opencode`, `AGENTS.md`): `true` for all projects, or a function that \
         decides about each Location when it is opened. Files of an untrusted project only add text and restrictions: \
         instructions, prompts of agents, commands, skills, and stricter permissions. A setting that would send data elsewhere, \
         start a program, read a secret or loosen a permission has no effect, and `location.diagnostics` lists it. The host \
         keeps the function's answer until `location.trust` changes it. If the function throws, returns anything else, or takes \
         more than 60 seconds, the host does not trust the project and asks again when it opens the Location the next time. The \
         function does not keep the process alive.",
    )
    .default_is(false)
    .page("Security model", "security.md#projects-that-are-not-trusted"),
    member(
        "permissions",
        Kind::Object(&PERMISSIONS),
        "Rules that no file loosens, and the treatment of requests without an answer. Omitted members have their default.",
    ),
    member(
        "keepAlive",
        Kind::Boolean,
        "If true, a running session keeps the process alive until it is idle, and a listener until it is closed. An open host \
         alone never keeps the process alive. A pending call always does. If false, the process can end in the middle of a turn, \
         with the effect of a crash.",
    )
    .default_is(true)
    .page("Process lifetime", "process.md"),
    member(
        "plugins",
        Kind::written("readonly Plugin[]", "checkPlugins"),
        "Functions that register tools, Context Sources, hooks and handlers. The host calls them one after the other before \
         `create` resolves. If one fails, `create` rejects with its error and opens no host. `close()` first disposes of their \
         results, the last one first, and waits at most five seconds for it.",
    )
    .without("none")
    .page("Hooks and plugins", "hooks.md#plugins"),
    member(
        "ptyEnvironment",
        Kind::written("PtyEnvironmentHook", "checkFunction"),
        "A function that returns variables for each terminal of this host, as a function of `ptys.environment` does. Variables \
         of functions that are registered there take precedence.",
    )
    .without("none")
    .page("Terminals", "terminals.md#variables"),
    member(
        "limits",
        Kind::Object(&LIMITS),
        "Limits of the host. Omitted members have their default.",
    ),
    member(
        "retry",
        Kind::OneOf(&[Kind::False, Kind::Object(&RETRY)]),
        "Time that a turn waits for a provider that temporarily refuses its request. `false` sends every request once.",
    )
    .without("five minutes in total"),
    member(
        "deadlines",
        Kind::OneOf(&[Kind::Words(&["interactive"]), Kind::Object(&DEADLINES)]),
        "Time limits for providers. `\"interactive\"` is `{ firstByteMs: 120000, idleMs: 60000 }`. The options `headerTimeout`, \
         `chunkTimeout` and `timeout` of a provider override them.",
    )
    .without("ten seconds for the connection, and no other limit"),
    member(
        "credentials",
        Kind::written("CredentialStore", "checkCredentials"),
        "Keeps the values of credentials: keys of providers (`integrations.connectKey`) and tokens of OAuth. Then the database \
         has only their ids and labels.",
    )
    .without("the database, whose file only the user of the process can read")
    .page("Keys that the host stores", "secrets.md#keys-that-the-host-stores"),
    member(
        "oauth",
        Kind::map(&Kind::Object(&OAUTH)),
        "The OAuth applications of the program, by the id of the provider. Users sign in at these providers with \
         `integrations.connectOauth`. The host keeps the tokens like keys, and renews them before they expire.",
    )
    .without("none")
    .page("Sign-ins at providers", "secrets.md#sign-ins-at-providers"),
    member(
        "budgets",
        Kind::Object(&BUDGETS),
        "Limits on the work of sessions: tokens, cost, Provider Turns and time.",
    )
    .without("no limits")
    .page("Budgets", "budgets.md"),
    member(
        "fallback",
        Kind::List {
            of: &Kind::Text,
            most: Some(MAX_FALLBACKS),
        },
        "Models that take over if the provider of a turn has no capacity or cannot be reached (rate limit, quota, overload, \
         transport, timeout), as `provider/model`, best first. A model takes over after the retries of the one before, only \
         before any output, and for the rest of the activity. The log records it as `session.next.model.fallback`.",
    )
    .without("none")
    .page("Fallback models", "budgets.md#fallback-models"),
]);
