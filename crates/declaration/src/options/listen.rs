//! The options of `listen`.

use crate::vocabulary::{Default, Kind, Number, Object, member};

/// The options of a listener.
pub static LISTEN_OPTIONS: Object = Object::named(
    "ListenOptions",
    "Options of a listener: its address and its clients. An unknown option or a wrong value rejects with \
     `InvalidOptionError`, which names the option.",
    &[
        member(
            "port",
            Kind::Number(Number::from(0, "").to(65_535).whole()),
            "The port. 0 selects any free port, which `url` contains.",
        )
        .default(Default::Number(0)),
        member(
            "hostname",
            Kind::Text,
            "A host name or an address of this machine. An address that other machines can reach needs a password, so \
             `listen` refuses it with `password: false`.",
        )
        .default(Default::Text("127.0.0.1")),
        member(
            "password",
            Kind::written("string | false", "checkPassword"),
            "The password that every request must carry: as HTTP Basic, or in the query `auth_token` with the same text. \
             `false` turns it off, also if the environment has one. Then every program of this machine can send requests, if \
             it uses a name of this machine or `hostname`. Web pages need an origin of `cors`.",
        )
        .without(
            "`OPENCODE_SERVER_PASSWORD` of the host's `env`, else a random password of 192 bits, which `listener.password`, \
             `listener.headers` and `listener.clientUrl` contain",
        ),
        member(
            "username",
            Kind::Text,
            "The user name that clients send with the password. `listen` refuses it with `password: false`.",
        )
        .without("`OPENCODE_SERVER_USERNAME` of the host's `env`, else `\"opencode\"`"),
        member(
            "cors",
            Kind::list(&Kind::Text),
            "Origins, such as `\"https://app.example\"`, whose web pages may read answers, and change data if there is no \
             password. Origins of `http://localhost` and `http://127.0.0.1` with any port, and of Tauri programs, are always \
             allowed.",
        )
        .without("none"),
        member(
            "maxBodyBytes",
            Kind::Number(Number::from(1, "bytes").whole()),
            "The largest body of a request. A larger body fails with `InvalidRequestError` and status 413. All request bodies \
             together may have four times this size.",
        )
        .default(Default::Number(67_108_864)),
    ],
);
