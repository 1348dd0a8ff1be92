//! `mcp`: servers of the Model Context Protocol, in both generations of the format.

use std::fmt;
use std::time::Duration;

use opencode_secrets::{is_secret_segment, without_segments};
use serde_json::{Map, Value};
use url::Url;

use super::decode::{
    Decoded, Invalid, boolean, count, entries, few, object, optional, required, text, texts, wrong,
};
use super::document::{Draft, Located};
use crate::secret::shown_address;

/// The longest time limit. A longer one is cut.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The servers and time limits of one document.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct McpPatch {
    /// The time limits of servers without limits of their own.
    pub timeouts: McpTimeouts,
    /// The servers. Later ones override earlier ones.
    pub servers: Vec<(String, Located<McpServerPatch>)>,
}

/// Time limits of a server; `None` if a weaker document decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct McpTimeouts {
    /// For the connection, the initialisation and the first listing.
    pub startup: Option<Duration>,
    /// For each request.
    pub request: Option<Duration>,
}

impl McpTimeouts {
    /// Returns these limits, and those of `weaker` where these have none.
    pub(crate) fn or(self, weaker: Self) -> Self {
        Self {
            startup: self.startup.or(weaker.startup),
            request: self.request.or(weaker.request),
        }
    }
}

/// The description of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServerPatch {
    /// The way to reach it. `None` in an entry that only turns a server of a weaker document on or off.
    pub connection: Option<McpConnection>,
    /// False if the server must not be started.
    pub enabled: Option<bool>,
    /// Its own time limits.
    pub timeouts: McpTimeouts,
}

/// The way to reach a server.
#[derive(Debug, Clone, PartialEq)]
pub enum McpConnection {
    /// A child process of the host.
    Local(McpProgram),
    /// A server behind an address.
    Remote(McpAddress),
}

/// A server that is a child process of the host.
#[derive(Clone, PartialEq)]
pub struct McpProgram {
    /// The program and its arguments. Never empty.
    pub command: Vec<String>,
    /// Its working directory, relative to the directory of the Location. `None` for that directory.
    pub cwd: Option<String>,
    /// Additional variables of its environment.
    pub environment: Vec<(String, String)>,
}

/// Shows only the program, because arguments and variables may contain secrets.
impl fmt::Debug for McpProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpProgram")
            .field("program", &self.command.first())
            .finish_non_exhaustive()
    }
}

/// A server behind an address.
#[derive(Clone, PartialEq)]
pub struct McpAddress {
    /// The address of its endpoint.
    pub url: Url,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// Settings of OAuth; `None` if the server must not use it.
    pub oauth: Option<McpOAuth>,
}

/// Shows only the parts of the address that are not secret.
impl fmt::Debug for McpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpAddress")
            .field(
                "url",
                &without_segments(&shown_address(&self.url), is_secret_segment),
            )
            .finish_non_exhaustive()
    }
}

/// Settings of OAuth for one server.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct McpOAuth {
    /// The id of a registered client.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<String>,
    /// The scopes to request, separated by spaces.
    pub scope: Option<String>,
    /// The port of the redirect address.
    pub callback_port: Option<u16>,
    /// The whole redirect address.
    pub redirect_uri: Option<String>,
}

/// Shows no secret.
impl fmt::Debug for McpOAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOAuth")
            .field("client_id", &self.client_id)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Reads the key. Reports members that drafts of the format define and this version does not know.
pub(super) fn read(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
    let (timeouts, servers) = decode(value)?;
    let member = |path: &[&str]| {
        let found = path.iter().try_fold(value, |value, name| value.get(name));
        found.and_then(Value::as_object)
    };
    let mut unknown = Vec::new();
    if member(&["timeout"]).is_some_and(|timeout| timeout.contains_key("catalog")) {
        unknown.push(vec!["mcp", "timeout", "catalog"]);
    }
    for (name, server) in member(&["servers"]).into_iter().flatten() {
        if server.get("codemode").is_some() {
            unknown.push(vec!["mcp", "servers", name, "codemode"]);
        }
    }
    for path in unknown {
        draft.unknown(&path);
    }
    let servers: Vec<_> = draft.located_members("mcp", servers).collect();
    let mcp = &mut draft.document.mcp;
    mcp.timeouts = timeouts.or(mcp.timeouts);
    mcp.servers = servers;
    Ok(())
}

/// Reads one server, as the program adds it while the host is open.
pub(super) fn server(value: &Value) -> Decoded<McpServerPatch> {
    let source = object(value)?;
    if !source.contains_key("type") {
        return Err(Invalid::new("is missing").at("type"));
    }
    described_server(source)
}

type NamedServer = (String, McpServerPatch);

/// Reads both forms: `{timeout, servers}`, and the older form, in which the members are the servers.
fn decode(value: &Value) -> Decoded<(McpTimeouts, Vec<NamedServer>)> {
    few(value)?;
    let mut timeouts = McpTimeouts::default();
    let mut servers = Vec::new();
    entries(value, |name, value| {
        match (name, value) {
            ("timeout", Value::Object(timeout)) if !names_a_kind(timeout) => {
                timeouts = read_timeouts(timeout)?;
            }
            ("servers", Value::Object(members)) if !names_a_kind(members) => {
                few(value)?;
                servers.extend(entries(value, named_server)?);
            }
            _ => servers.push(named_server(name, value)?),
        }
        Ok(())
    })?;
    Ok((timeouts, servers))
}

/// Reads a server. An entry with only `enabled` refers to a server that a weaker document describes.
fn named_server(name: &str, value: &Value) -> Decoded<NamedServer> {
    let source = object(value)?;
    let is_switch = ["enabled", "disabled"]
        .iter()
        .any(|key| source.contains_key(*key));
    let server = if source.contains_key("type") || !is_switch {
        described_server(source)?
    } else {
        McpServerPatch {
            connection: None,
            enabled: enabled(source)?,
            timeouts: own_timeouts(source)?,
        }
    };
    Ok((name.to_owned(), server))
}

fn described_server(source: &Map<String, Value>) -> Decoded<McpServerPatch> {
    let enabled = enabled(source)?;
    let connection = match required(source, "type", text)?.as_str() {
        "local" => McpConnection::Local(McpProgram {
            command: required(source, "command", command)?,
            cwd: optional(source, "cwd", path)?,
            environment: named_texts(source, "environment")?,
        }),
        "remote" => McpConnection::Remote(McpAddress {
            url: required(source, "url", address)?,
            headers: named_texts(source, "headers")?,
            oauth: match source.get("oauth") {
                Some(value) => oauth(value).map_err(|invalid| invalid.at("oauth"))?,
                None => Some(McpOAuth::default()),
            },
        }),
        _ => return Err(Invalid::new("must be \"local\" or \"remote\"").at("type")),
    };
    Ok(McpServerPatch {
        connection: Some(connection),
        enabled,
        timeouts: own_timeouts(source)?,
    })
}

/// True if the object itself is a server with the name `servers` or `timeout`.
fn names_a_kind(source: &Map<String, Value>) -> bool {
    source.get("type").is_some_and(Value::is_string)
}

/// Reads `enabled`, or its newer form `disabled`, which is stronger.
fn enabled(source: &Map<String, Value>) -> Decoded<Option<bool>> {
    let enabled = optional(source, "enabled", boolean)?;
    let disabled = optional(source, "disabled", boolean)?;
    Ok(disabled.map(|disabled| !disabled).or(enabled))
}

/// Reads the time limits of one server. A number is the limit of a request.
fn own_timeouts(source: &Map<String, Value>) -> Decoded<McpTimeouts> {
    let timeouts = optional(source, "timeout", |value| match value {
        Value::Object(timeouts) => read_timeouts(timeouts),
        Value::Number(_) => Ok(McpTimeouts {
            startup: None,
            request: Some(timeout(value)?),
        }),
        other => Err(wrong("a number or an object", other)),
    })?;
    Ok(timeouts.unwrap_or_default())
}

/// Reads time limits. `execution` is another name of `request`.
fn read_timeouts(source: &Map<String, Value>) -> Decoded<McpTimeouts> {
    optional(source, "catalog", count)?;
    let execution = optional(source, "execution", timeout)?;
    Ok(McpTimeouts {
        startup: optional(source, "startup", timeout)?,
        request: optional(source, "request", timeout)?.or(execution),
    })
}

/// Reads milliseconds.
pub(super) fn timeout(value: &Value) -> Decoded<Duration> {
    let time = Duration::from_millis(count(value)?);
    if time.is_zero() {
        return Err(Invalid::new("must be at least 1"));
    }
    Ok(time.min(MAX_TIMEOUT))
}

fn command(value: &Value) -> Decoded<Vec<String>> {
    let command = texts(value)?;
    if command.first().is_none_or(String::is_empty) {
        return Err(Invalid::new("must begin with a program"));
    }
    if command.iter().any(|argument| argument.contains('\0')) {
        return Err(Invalid::new("must not contain NUL"));
    }
    Ok(command)
}

fn path(value: &Value) -> Decoded<String> {
    let path = text(value)?;
    if path.is_empty() || path.contains('\0') {
        return Err(Invalid::new("must be a path"));
    }
    Ok(path)
}

fn address(value: &Value) -> Decoded<Url> {
    let url = Url::parse(&text(value)?).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| Invalid::new("must be an address that begins with http:// or https://"))
}

fn named_texts(source: &Map<String, Value>, key: &str) -> Decoded<Vec<(String, String)>> {
    let texts = optional(source, key, |value| {
        few(value)?;
        entries(value, |name, value| {
            let is_valid = |text: &str| !text.contains(['\0', '\n', '\r']);
            let value = text(value)?;
            if name.is_empty() || !is_valid(name) || (key == "headers" && !is_valid(&value)) {
                return Err(Invalid::new("must be one line"));
            }
            Ok((name.to_owned(), value))
        })
    })?;
    Ok(texts.unwrap_or_default())
}

/// Reads the settings of OAuth: `false` turns it off. Both generations spell the members differently.
fn oauth(value: &Value) -> Decoded<Option<McpOAuth>> {
    let source = match value {
        Value::Bool(true) => return Ok(Some(McpOAuth::default())),
        Value::Bool(false) => return Ok(None),
        Value::Object(source) => source,
        other => return Err(wrong("false or an object", other)),
    };
    let either = |newer: &str, older: &str| {
        let newer = optional(source, newer, text)?;
        Ok(newer.or(optional(source, older, text)?))
    };
    let port = |key| optional(source, key, port);
    Ok(Some(McpOAuth {
        client_id: either("client_id", "clientId")?,
        client_secret: either("client_secret", "clientSecret")?,
        scope: optional(source, "scope", text)?,
        callback_port: port("callback_port")?.or(port("callbackPort")?),
        redirect_uri: either("redirect_uri", "redirectUri")?,
    }))
}

fn port(value: &Value) -> Decoded<u16> {
    let port = u16::try_from(count(value)?).ok().filter(|port| *port != 0);
    port.ok_or_else(|| Invalid::new("must be a port from 1 to 65535"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn servers(value: &Value) -> Vec<NamedServer> {
        decode(value).unwrap().1
    }

    #[test]
    fn both_forms_are_read() {
        let local = json!({"type": "local", "command": ["a", "b"], "environment": {"A": "b"}});
        let remote = json!({"type": "remote", "url": "https://h", "headers": {"A": "b"}});
        for (value, names) in [
            (json!({}), vec![]),
            (json!({"timeout": {"startup": 1}, "servers": {}}), vec![]),
            (
                json!({"servers": {"a": local, "b": remote}, "timeout": {"execution": 5}}),
                vec!["a", "b"],
            ),
            (
                json!({"a": local, "b": remote, "c": {"enabled": false}}),
                vec!["a", "b", "c"],
            ),
            (
                json!({"servers": local, "timeout": remote}),
                vec!["servers", "timeout"],
            ),
        ] {
            let found = servers(&value).into_iter().map(|(name, _)| name);
            assert_eq!(found.collect::<Vec<_>>(), names, "{value}");
        }
    }

    #[test]
    fn a_server_has_its_own_time_limits_and_switch() {
        let value = json!({
            "type": "local", "command": ["x"], "cwd": "sub", "disabled": true, "enabled": true, "timeout": 7,
        });
        let server = server(&value).unwrap();
        assert_eq!(server.enabled, Some(false));
        assert_eq!(server.timeouts.request, Some(Duration::from_millis(7)));
        let value = json!({"timeout": {"startup": 3, "request": 1e20}, "servers": {}});
        let (timeouts, _) = decode(&value).unwrap();
        assert_eq!(timeouts.startup, Some(Duration::from_millis(3)));
        assert_eq!(timeouts.request, Some(MAX_TIMEOUT));
    }

    #[test]
    fn oauth_is_on_unless_it_is_turned_off() {
        let read = |oauth: Value| {
            let value = json!({"type": "remote", "url": "https://h", "oauth": oauth});
            let Some(McpConnection::Remote(remote)) = server(&value).unwrap().connection else {
                panic!("a remote server")
            };
            remote.oauth
        };
        assert_eq!(read(json!(false)), None);
        assert_eq!(read(json!({})), Some(McpOAuth::default()));
        let options = McpOAuth {
            client_id: Some("i".into()),
            client_secret: Some("s".into()),
            scope: Some("a b".into()),
            callback_port: Some(8080),
            redirect_uri: None,
        };
        let newer =
            json!({"client_id": "i", "client_secret": "s", "scope": "a b", "callback_port": 8080});
        let older =
            json!({"clientId": "i", "clientSecret": "s", "scope": "a b", "callbackPort": 8080});
        assert_eq!(read(newer), Some(options.clone()));
        assert_eq!(read(older), Some(options));
    }

    #[test]
    fn debug_output_has_no_values() {
        let local =
            json!({"type": "local", "command": ["x", "hidden"], "environment": {"A": "hidden"}});
        let remote = json!({"type": "remote", "url": "https://hidden@h/?k=hidden", "headers": {"A": "hidden"}, "oauth": {"clientSecret": "hidden"}});
        for value in [local, remote] {
            let shown = format!("{:?}", server(&value).unwrap());
            assert!(!shown.contains("hidden"), "{shown}");
        }
    }

    #[test]
    fn wrong_values_are_named() {
        for (value, complaint) in [
            (json!([]), "The document must be an object, found an array"),
            (json!({"a": 1}), "a must be an object, found a number"),
            (json!({"a": {}}), "a.type is missing"),
            (
                json!({"a": {"enabled": "no"}}),
                "a.enabled must be true or false, found a string",
            ),
            (
                json!({"a": {"type": "pipe"}}),
                "a.type must be \"local\" or \"remote\"",
            ),
            (
                json!({"servers": {"a": {"command": ["x"]}}}),
                "servers.a.type is missing",
            ),
            (
                json!({"servers": {"a": {"type": "local", "command": "x"}}}),
                "servers.a.command must be an array, found a string",
            ),
            (
                json!({"servers": {"a": {"type": "local", "command": []}}}),
                "servers.a.command must begin with a program",
            ),
            (
                json!({"servers": {"a": {"type": "remote"}}}),
                "servers.a.url is missing",
            ),
            (
                json!({"servers": {"a": {"type": "remote", "url": "file:///x"}}}),
                "servers.a.url must be an address that begins with http:// or https://",
            ),
            (
                json!({"a": {"type": "remote", "url": "http://h", "headers": {"A": "b\r\nC: d"}}}),
                "a.headers.A must be one line",
            ),
            (
                json!({"a": {"type": "remote", "url": "http://h", "oauth": {"callbackPort": 0}}}),
                "a.oauth.callbackPort must be a port from 1 to 65535",
            ),
            (
                json!({"timeout": {"request": "5"}}),
                "timeout.request must be a number, found a string",
            ),
            (
                json!({"timeout": {"request": 0}}),
                "timeout.request must be at least 1",
            ),
        ] {
            assert_eq!(decode(&value).unwrap_err().to_string(), complaint);
        }
    }
}
