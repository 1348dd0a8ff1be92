//! Servers of the Model Context Protocol.

use super::document::MAX_FEW;
use crate::vocabulary::{Default, Kind, Member, Named, Number, Object, absent, member};

const MILLISECONDS: Number = Number::from(1, "milliseconds");

const fn limit(name: &'static str, doc: &'static str) -> Member {
    member(name, Kind::Number(MILLISECONDS), doc)
}

/// Servers, in both forms.
pub(super) static MCP: Named = Named {
    name: "McpConfig",
    doc: "Servers of the Model Context Protocol: by name, or in `servers` beside time limits of all servers.",
    kind: Kind::OneOf(&[Kind::Object(&WITH_LIMITS), SERVERS]),
};

static WITH_LIMITS: Object = Object::unnamed(&[
    member("timeout", Kind::Object(&TIMEOUT), "Time limits of servers that have none of their own."),
    member("servers", SERVERS, "Servers, by name."),
]);

const SERVERS: Kind = Kind::Map { of: &Kind::Named(&SERVER), most: Some(MAX_FEW) };

static TIMEOUT: Object = Object::named(
    "McpTimeoutConfig",
    "Time limits for servers, in milliseconds. A limit above a day counts as a day.",
    &[
        limit("startup", "For the connection, the initialisation and the first listing.")
            .default(Default::Number(30_000)),
        limit("request", "For each request. A progress report of the server starts it again.")
            .default(Default::Number(30_000)),
        member("catalog", Kind::Number(Number::of("milliseconds")), "This version does not use it."),
        limit("execution", "Another name of `request`.").replaced_by("request"),
    ],
);

static SERVER: Named = Named {
    name: "McpServerConfig",
    doc: "A child process of the host, a server behind an address, or a switch of a server of a weaker configuration.",
    kind: Kind::OneOf(&[Kind::Object(&LOCAL), Kind::Object(&REMOTE), Kind::Object(&SWITCH)]),
};

static SETTINGS: Object = Object::named(
    "McpServerSettings",
    "Fields that every server may have.",
    &[
        member("enabled", Kind::Boolean, "False if the host must not start the server.").default_is(true),
        member("disabled", Kind::Boolean, "The newer form of `enabled`, with the opposite meaning. It is stronger."),
        member(
            "timeout",
            Kind::OneOf(&[Kind::Number(MILLISECONDS), Kind::Object(&TIMEOUT)]),
            "Time limits of this server. A number is the limit of a request in milliseconds.",
        ),
        member("codemode", Kind::Json, "This version does not use it.").unused(),
    ],
);

static LOCAL: Object = Object::unnamed(&[
    member("type", Kind::Words(&["local"]), "").required(),
    member("command", Kind::list(&Kind::Text), "The program and its arguments.")
        .example(r#"["mcp-server-filesystem", "."]"#)
        .required(),
    member(
        "environment",
        TEXTS,
        "Additional variables of its environment. Otherwise it has the variables of commands.",
    )
    .without("none"),
    member("cwd", Kind::Text, "Its working directory, relative to the directory of the Location.")
        .without("that directory"),
])
.extends(&[&SETTINGS]);

const TEXTS: Kind = Kind::Map { of: &Kind::Text, most: Some(MAX_FEW) };

static REMOTE: Object = Object::unnamed(&[
    member("type", Kind::Words(&["remote"]), "").required(),
    member("url", Kind::Text, "The http or https address of its Streamable HTTP endpoint.")
        .example(r#""https://mcp.example.com""#)
        .required(),
    member("headers", TEXTS, "HTTP headers of every request.").without("none"),
    member(
        "oauth",
        Kind::OneOf(&[Kind::Object(&OAUTH), Kind::False]),
        "Settings of OAuth; `false` if the server must not use it.",
    )
    .without("the host discovers them"),
])
.extends(&[&SETTINGS]);

static SWITCH: Object = Object::unnamed(&[
    absent("type"),
    member("enabled", Kind::Boolean, "Starts or stops a server that a weaker configuration describes.").required(),
]);

static OAUTH: Object = Object::named(
    "McpOAuthConfig",
    "Settings of OAuth for one server, in the spelling of either generation of the format.",
    &[
        member("client_id", Kind::Text, "The id of a registered client.").without("the host registers one (RFC 7591)"),
        member("client_secret", Kind::Text, "The secret of that client.").without("none"),
        member("scope", Kind::Text, "The scopes to request, separated by spaces.")
            .without("those that the server names"),
        member("callback_port", PORT, "The port of the redirect address on this machine.")
            .default(Default::Number(19_876)),
        member("redirect_uri", Kind::Text, "The whole redirect address.")
            .without("`http://127.0.0.1:<port>/mcp/oauth/callback`"),
        member("clientId", Kind::Text, "").replaced_by("client_id"),
        member("clientSecret", Kind::Text, "").replaced_by("client_secret"),
        member("callbackPort", PORT, "").replaced_by("callback_port"),
        member("redirectUri", Kind::Text, "").replaced_by("redirect_uri"),
    ],
);

const PORT: Kind = Kind::Number(Number::from(1, "").to(65_535));
