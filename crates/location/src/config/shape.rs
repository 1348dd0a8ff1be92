//! The shape of a document: the permitted members of each object. `OpenCodeConfig` in `src/host/config.ts` contains
//! the same definition in TypeScript, and `npm test -- agreement` compares the two.
//!
//! The readers of the keys decide which values are valid. This table decides which names exist.

use Shape::{Closed, Each, List, Open, Value, Word};

/// The members that a value may have.
pub(super) enum Shape {
    /// A value whose members, if any, are not checked.
    Value,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// An object with these members and no others.
    Closed(Members),
    /// An object with these members. All other members have the second shape.
    Open(Members, &'static Shape),
    /// An object whose members may have any name.
    Each(&'static Shape),
    /// An array.
    List(&'static Shape),
    /// One of two forms with different JSON types.
    Either(&'static Shape, &'static Shape),
}

/// Names with the shapes of their values.
pub(super) type Members = &'static [(&'static str, &'static Shape)];

/// A whole document. Its members are the keys of `keys.rs`.
pub(super) static DOCUMENT: Shape = Closed(&[
    ("model", &MODEL_SELECTION),
    ("small_model", &MODEL_SELECTION),
    ("provider", &Each(&OLDER_PROVIDER)),
    ("providers", &Each(&PROVIDER)),
    ("enabled_providers", &List(&Value)),
    ("disabled_providers", &List(&Value)),
    ("experimental", &EXPERIMENTAL),
    ("default_agent", &Value),
    ("mode", &Each(&OLDER_AGENT)),
    ("agent", &Each(&OLDER_AGENT)),
    ("agents", &Each(&AGENT)),
    ("tools", &Each(&Value)),
    ("permission", &OLDER_PERMISSION),
    ("permissions", &PERMISSIONS),
    ("command", &Each(&COMMAND)),
    ("commands", &Each(&COMMAND)),
    ("skills", &SKILLS),
    ("reference", &Each(&REFERENCE)),
    ("references", &Each(&REFERENCE)),
    ("instructions", &List(&Value)),
    ("mcp", &MCP),
    ("shell", &Value),
    ("username", &Value),
    ("timezone", &Value),
    ("autoshare", &Value),
    ("share", &Value),
    ("snapshot", &Value),
    ("snapshots", &Value),
    ("attachment", &ATTACHMENTS),
    ("media", &ATTACHMENTS),
    ("attachments", &ATTACHMENTS),
    ("tool_output", &TOOL_OUTPUT),
    ("compaction", &COMPACTION),
    ("watcher", &Closed(&[("ignore", &List(&Value))])),
    ("$schema", &Value),
    ("autoupdate", &Value),
    ("enterprise", &Value),
    ("formatter", &Value),
    ("keybinds", &Value),
    ("layout", &Value),
    ("logLevel", &Value),
    ("lsp", &Value),
    ("plugin", &Value),
    ("plugins", &Value),
    ("server", &Value),
    ("subagent_depth", &Value),
    ("theme", &Value),
    ("tui", &Value),
]);

static MODEL_SELECTION: Shape =
    Closed(&[("providerID", &Value), ("id", &Value), ("variant", &Value)]);

static EXPERIMENTAL: Shape = Closed(&[
    (
        "policies",
        &List(&Closed(&[
            ("action", &Word(&["provider.use"])),
            ("effect", &Value),
            ("resource", &Value),
        ])),
    ),
    ("mcp_timeout", &Value),
    ("subagent_depth", &Value),
]);

static AGENT: Shape = Closed(&[
    ("model", &MODEL_SELECTION),
    ("variant", &Value),
    ("request", &REQUEST),
    ("system", &Value),
    ("description", &Value),
    ("mode", &Value),
    ("hidden", &Value),
    ("color", &Value),
    ("steps", &Value),
    ("disabled", &Value),
    ("permissions", &PERMISSIONS),
]);

/// Unknown members are options of requests.
static OLDER_AGENT: Shape = Open(
    &[
        ("model", &MODEL_SELECTION),
        ("variant", &Value),
        ("request", &REQUEST),
        ("system", &Value),
        ("description", &Value),
        ("mode", &Value),
        ("hidden", &Value),
        ("color", &Value),
        ("steps", &Value),
        ("disabled", &Value),
        ("permissions", &PERMISSIONS),
        ("name", &Value),
        ("prompt", &Value),
        ("disable", &Value),
        ("maxSteps", &Value),
        ("options", &Each(&Value)),
        ("tools", &Each(&Value)),
        ("permission", &OLDER_PERMISSION),
    ],
    &Value,
);

static PERMISSIONS: Shape = List(&Closed(&[
    ("action", &Value),
    ("resource", &Value),
    ("effect", &Value),
]));

static OLDER_PERMISSION: Shape = Each(&Each(&Value));

static COMMAND: Shape = Closed(&[
    ("template", &Value),
    ("description", &Value),
    ("agent", &Value),
    ("model", &MODEL_SELECTION),
    ("variant", &Value),
    ("subtask", &Value),
]);

static SKILLS: Shape = Shape::Either(
    &List(&Value),
    &Closed(&[("paths", &List(&Value)), ("urls", &List(&Value))]),
);

static REFERENCE: Shape = Closed(&[
    ("path", &Value),
    ("repository", &Value),
    ("branch", &Value),
    ("description", &Value),
    ("hidden", &Value),
]);

/// In the older form, the members are the servers.
static MCP: Shape = Open(
    &[("timeout", &MCP_TIMEOUT), ("servers", &Each(&MCP_SERVER))],
    &MCP_SERVER,
);

static MCP_SERVER: Shape = Closed(&[
    ("type", &Value),
    ("command", &List(&Value)),
    ("environment", &Each(&Value)),
    ("cwd", &Value),
    ("url", &Value),
    ("headers", &Each(&Value)),
    ("oauth", &MCP_OAUTH),
    ("timeout", &MCP_TIMEOUT),
    ("enabled", &Value),
    ("disabled", &Value),
    ("codemode", &Value),
]);

static MCP_TIMEOUT: Shape = Closed(&[
    ("startup", &Value),
    ("request", &Value),
    ("catalog", &Value),
    ("execution", &Value),
]);

/// Both generations of the format, which spell the members differently.
static MCP_OAUTH: Shape = Closed(&[
    ("clientId", &Value),
    ("clientSecret", &Value),
    ("scope", &Value),
    ("callbackPort", &Value),
    ("redirectUri", &Value),
    ("client_id", &Value),
    ("client_secret", &Value),
    ("callback_port", &Value),
    ("redirect_uri", &Value),
]);

static ATTACHMENTS: Shape = Closed(&[(
    "image",
    &Closed(&[
        ("auto_resize", &Value),
        ("max_width", &Value),
        ("max_height", &Value),
        ("max_base64_bytes", &Value),
    ]),
)]);

static TOOL_OUTPUT: Shape = Closed(&[("max_lines", &Value), ("max_bytes", &Value)]);

static COMPACTION: Shape = Closed(&[
    ("auto", &Value),
    ("prune", &Value),
    ("keep", &Closed(&[("tokens", &Value)])),
    ("buffer", &Value),
    ("preserve_recent_tokens", &Value),
    ("reserved", &Value),
]);

static REQUEST: Shape = Closed(&[("headers", &Each(&Value)), ("body", &Each(&Value))]);

static PROVIDER: Shape = Closed(&[
    ("name", &Value),
    (
        "api",
        &Closed(&[
            ("type", &Value),
            ("package", &Value),
            ("url", &Value),
            ("settings", &Each(&Value)),
        ]),
    ),
    ("request", &REQUEST),
    ("env", &List(&Value)),
    ("whitelist", &List(&Value)),
    ("blacklist", &List(&Value)),
    ("models", &Each(&MODEL)),
]);

static MODEL: Shape = Closed(&[
    ("name", &Value),
    ("family", &Value),
    (
        "api",
        &Closed(&[
            ("id", &Value),
            ("type", &Value),
            ("package", &Value),
            ("url", &Value),
            ("settings", &Each(&Value)),
        ]),
    ),
    (
        "capabilities",
        &Closed(&[
            ("tools", &Value),
            ("input", &List(&Value)),
            ("output", &List(&Value)),
        ]),
    ),
    (
        "request",
        &Closed(&[
            ("headers", &Each(&Value)),
            ("body", &Each(&Value)),
            ("variant", &Value),
        ]),
    ),
    (
        "variants",
        &List(&Closed(&[
            ("id", &Value),
            ("headers", &Each(&Value)),
            ("body", &Each(&Value)),
        ])),
    ),
    ("cost", &Shape::Either(&List(&COST), &COST)),
    ("disabled", &Value),
    ("limit", &LIMIT),
]);

static COST: Shape = Closed(&[
    ("tier", &TIER),
    ("input", &Value),
    ("output", &Value),
    ("cache", &Closed(&[("read", &Value), ("write", &Value)])),
]);

static TIER: Shape = Closed(&[("size", &Value), ("type", &Word(&["context"]))]);

static LIMIT: Shape = Closed(&[("context", &Value), ("input", &Value), ("output", &Value)]);

static OLDER_PROVIDER: Shape = Closed(&[
    ("id", &Value),
    ("name", &Value),
    ("npm", &Value),
    ("api", &Value),
    (
        "options",
        &Open(
            &[
                ("baseURL", &Value),
                ("apiKey", &Value),
                ("headers", &Each(&Value)),
                ("body", &Each(&Value)),
            ],
            &Value,
        ),
    ),
    ("env", &List(&Value)),
    ("whitelist", &List(&Value)),
    ("blacklist", &List(&Value)),
    ("models", &Each(&OLDER_MODEL)),
]);

/// Entries of the list of models have the same form, so that users can copy them.
static OLDER_MODEL: Shape = Closed(&[
    ("name", &Value),
    ("family", &Value),
    ("id", &Value),
    ("provider", &Closed(&[("npm", &Value), ("api", &Value)])),
    ("tool_call", &Value),
    (
        "modalities",
        &Closed(&[("input", &List(&Value)), ("output", &List(&Value))]),
    ),
    ("reasoning", &Value),
    (
        "reasoning_options",
        &List(&Closed(&[
            ("type", &Word(&["effort", "budget_tokens", "toggle"])),
            ("values", &List(&Value)),
            ("min", &Value),
            ("max", &Value),
        ])),
    ),
    ("interleaved", &Closed(&[("field", &Value)])),
    ("cost", &OLDER_COST),
    ("status", &Word(&["alpha", "beta", "deprecated", "active"])),
    ("limit", &LIMIT),
    ("release_date", &Value),
    ("disabled", &Value),
    ("headers", &Each(&Value)),
    ("options", &Each(&Value)),
    ("variants", &Each(&Each(&Value))),
    ("attachment", &Value),
    ("experimental", &Value),
    ("knowledge", &Value),
    ("last_updated", &Value),
    ("open_weights", &Value),
    ("structured_output", &Value),
    ("temperature", &Value),
]);

static OLDER_COST: Shape = Closed(&[
    ("input", &Value),
    ("output", &Value),
    ("cache_read", &Value),
    ("cache_write", &Value),
    ("reasoning", &Value),
    ("input_audio", &Value),
    ("output_audio", &Value),
    (
        "tiers",
        &List(&Closed(&[
            ("tier", &TIER),
            ("input", &Value),
            ("output", &Value),
            ("cache_read", &Value),
            ("cache_write", &Value),
            ("reasoning", &Value),
            ("input_audio", &Value),
            ("output_audio", &Value),
        ])),
    ),
    ("context_over_200k", &OLDER_PRICE),
]);

static OLDER_PRICE: Shape = Closed(&[
    ("input", &Value),
    ("output", &Value),
    ("cache_read", &Value),
    ("cache_write", &Value),
    ("reasoning", &Value),
    ("input_audio", &Value),
    ("output_audio", &Value),
]);
