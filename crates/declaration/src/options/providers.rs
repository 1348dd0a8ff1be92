//! Sign-ins at providers, and servers of organisations.

use crate::vocabulary::{Kind, Member, Object, member};

const SECRET: Kind = Kind::written("string", "checkSecret");

const fn address(name: &'static str, doc: &'static str) -> Member {
    member(name, Kind::Text, doc)
}

/// An application of the option `oauth`.
pub static OAUTH: Object = Object::named(
    "ProviderOAuth",
    "The OAuth application of the program at a provider of models. With it users sign in with `integrations.connectOauth`: \
     `authorizationUrl` offers the method `browser` (RFC 6749 with RFC 7636), `deviceUrl` the method `device` (RFC 8628). At \
     least one of them is needed. Addresses begin with `https://`, or with `http://` for this machine.",
    &[
        address(
            "clientId",
            "The id that the provider gave to your application.",
        )
        .required(),
        member(
            "clientSecret",
            SECRET,
            "Its secret, which the host sends in the body of requests. Programs of users usually have none.",
        )
        .without("none"),
        address("tokenUrl", "The token endpoint.").required(),
        address(
            "authorizationUrl",
            "The authorization endpoint: the page on which the user gives consent.",
        ),
        address(
            "deviceUrl",
            "The device authorization endpoint: it gives a code that the user enters on a page on any device.",
        ),
        address(
            "redirectUrl",
            "The address to which the provider redirects the browser. If it is one of this machine, the host listens there \
             during a sign-in. Otherwise, and if the port is in use, the user enters the code.",
        )
        .without("`http://127.0.0.1:19876/oauth/callback`"),
        member(
            "scopes",
            Kind::list(&Kind::Text),
            "The scopes to request.",
        )
        .without("none"),
        member(
            "parameters",
            Kind::map(&Kind::Text),
            "Other parameters of the authorization page and of the request for a device code, such as `audience`.",
        )
        .without("none"),
    ],
);

/// A server of the option `remoteConfig`.
pub static SERVER: Object = Object::named(
    "RemoteConfigServer",
    "A server of an organisation.",
    &[
        address("url", "The address before `/.well-known/opencode`.").required(),
        member(
            "headers",
            Kind::map(&Kind::Text),
            "Headers of the requests to it, for example `authorization`. The host treats their values as secrets.",
        )
        .without("none"),
    ],
);
