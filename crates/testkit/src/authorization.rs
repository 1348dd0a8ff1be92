//! A scripted MCP server with its authorization server, on one port of this machine, and the browser of its user.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use url::Url;
use url::form_urlencoded::parse;

/// The behaviour of the server. A test changes it between two requests.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// True if it registers clients.
    pub registers: bool,
    /// True if the user gives consent.
    pub consents: bool,
    /// True if codes are accepted.
    pub accepts_codes: bool,
    /// True if registered clients are known.
    pub knows_clients: bool,
    /// The life of an access token, in seconds.
    pub expires_in: Option<u64>,
    /// The answer to a renewal: `None` renews, otherwise this status and code.
    pub renewal: Option<(u16, &'static str)>,
    /// The issuer in the answer to the browser, if it is not its own.
    pub issuer_of_answer: Option<String>,
    /// The scopes that a request to the MCP server needs.
    pub scope: Option<&'static str>,
    /// Members of the metadata of the authorization server that replace its own.
    pub metadata: Value,
    /// Members of the metadata of the MCP server that replace its own.
    pub resource: Value,
    /// The refusals of the first requests for the tokens of a device code, with their statuses.
    pub polls: Vec<(u16, &'static str)>,
    /// Members of the answer with a device code that replace its own.
    pub device: Value,
    /// A path that answers with these raw bytes.
    pub raw: Option<(&'static str, Vec<u8>)>,
    /// A path that never answers.
    pub silent: Option<&'static str>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            registers: true,
            consents: true,
            accepts_codes: true,
            knows_clients: true,
            expires_in: Some(3600),
            renewal: None,
            issuer_of_answer: None,
            scope: None,
            metadata: json!({}),
            resource: json!({}),
            polls: Vec::new(),
            device: json!({}),
            raw: None,
            silent: None,
        }
    }
}

/// A request that the server received: its path, and its parameters or its JSON.
#[derive(Clone, Debug)]
pub struct Received {
    /// The path.
    pub path: String,
    /// The parameters of a form.
    pub form: HashMap<String, String>,
    /// The JSON body; null without one.
    pub json: Value,
}

#[derive(Default)]
struct State {
    behaviour: Behaviour,
    received: Vec<Received>,
    /// Codes with their challenges, redirect addresses and scopes.
    codes: HashMap<String, [String; 3]>,
    /// Access tokens with their scopes.
    tokens: HashMap<String, String>,
    refresh: HashMap<String, String>,
    /// Device codes with their scopes.
    devices: HashMap<String, String>,
    clients: u32,
    issued: u32,
    secrets: Vec<String>,
}

/// The server. It stops when it is dropped.
pub struct AuthorizationServer {
    address: String,
    state: Arc<Mutex<State>>,
    /// False while token requests wait.
    open: watch::Sender<bool>,
}

impl AuthorizationServer {
    /// Starts a server.
    pub async fn start() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = socket.local_addr().expect("an address");
        let server = Self {
            address: format!("http://{address}"),
            state: Arc::default(),
            open: watch::Sender::new(true),
        };
        let (base, state, open) = (
            server.address.clone(),
            Arc::downgrade(&server.state),
            server.open.subscribe(),
        );
        opencode_log::spawn(async move {
            while let Ok((connection, _)) = socket.accept().await {
                let Some(state) = state.upgrade() else { return };
                let (base, open) = (base.clone(), open.clone());
                opencode_log::spawn(async move {
                    // An error means that the client went away.
                    let _ = serve(connection, &base, &state, open).await;
                });
            }
        });
        server
    }

    /// The origin of the server, which is also its issuer.
    pub fn origin(&self) -> &str {
        &self.address
    }

    /// The address of the MCP server.
    pub fn url(&self) -> Url {
        Url::parse(&format!("{}/mcp", self.address)).expect("an address")
    }

    /// Changes the behaviour.
    pub fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut locked(&self.state).behaviour);
    }

    /// Returns the requests that a path received.
    pub fn received(&self, path: &str) -> Vec<Received> {
        let state = locked(&self.state);
        let of_path = |request: &&Received| request.path == path;
        state.received.iter().filter(of_path).cloned().collect()
    }

    /// Returns all texts that only the two ends may know: the codes and the tokens so far.
    pub fn secrets(&self) -> Vec<String> {
        locked(&self.state).secrets.clone()
    }

    /// Ends all access tokens.
    pub fn revoke(&self) {
        locked(&self.state).tokens.clear();
    }

    /// Lets token requests wait, or answers them.
    pub fn hold_tokens(&self, is_held: bool) {
        self.open.send_replace(!is_held);
    }

    /// Opens a page as the user does, and returns the address to which the browser is redirected.
    pub fn consent(&self, page: &Url) -> Url {
        let query: HashMap<String, String> = page.query_pairs().into_owned().collect();
        let of = |name: &str| query.get(name).cloned().unwrap_or_default();
        assert!(page.as_str().starts_with(&self.address), "{page}");
        assert_eq!(of("response_type"), "code");
        assert_eq!(of("code_challenge_method"), "S256");
        let mut state = locked(&self.state);
        let mut redirect = Url::parse(&of("redirect_uri")).expect("a redirect address");
        let mut answer = redirect.query_pairs_mut();
        if state.behaviour.consents {
            state.issued += 1;
            let code = format!("code_secret_{}", state.issued);
            answer.append_pair("code", &code);
            state.secrets.push(code.clone());
            let pending = [of("code_challenge"), of("redirect_uri"), of("scope")];
            state.codes.insert(code, pending);
        } else {
            answer.append_pair("error", "access_denied");
            answer.append_pair("error_description", "code_secret_description");
        }
        answer.append_pair("state", &of("state"));
        let issuer = state.behaviour.issuer_of_answer.clone();
        answer.append_pair("iss", issuer.as_deref().unwrap_or(&self.address));
        drop(answer);
        redirect
    }

    /// Opens an address in the browser, and returns the status and the page.
    pub async fn browse(address: &Url) -> (u16, String) {
        let port = address.port().expect("a port");
        let connection = TcpStream::connect(("127.0.0.1", port)).await;
        let mut connection = connection.expect("a listener");
        let target = &address[url::Position::BeforePath..];
        let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        connection
            .write_all(request.as_bytes())
            .await
            .expect("a request");
        let mut answer = String::new();
        connection
            .read_to_string(&mut answer)
            .await
            .expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok());
        (status.expect("a status"), answer)
    }
}

/// Returns a port for a redirect address that no other test uses. Ports that the system gives to connections could be
/// taken before the host listens.
pub fn redirect_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let spread = std::process::id().wrapping_mul(16).wrapping_add(number);
        let port = 10_000 + (spread % 20_000) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request as it arrives.
struct Request {
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

async fn read(connection: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        if connection.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let header = |name: &str| {
        let line = |line: &str| {
            let (found, value) = line.split_once(':')?;
            found
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        };
        text.lines().find_map(line)
    };
    let length = header("content-length").map_or(0, |it| it.parse().expect("a length"));
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        if connection.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    let target = text.split(' ').nth(1).unwrap_or_default();
    Ok(Some(Request {
        path: target.split('?').next().unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        body,
    }))
}

async fn serve(
    mut connection: TcpStream,
    base: &str,
    state: &Mutex<State>,
    mut open: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let Some(request) = read(&mut connection).await? else {
        return Ok(());
    };
    let behaviour = {
        let mut state = locked(state);
        state.received.push(Received {
            path: request.path.clone(),
            form: parse(&request.body).into_owned().collect(),
            json: serde_json::from_slice(&request.body).unwrap_or_default(),
        });
        state.behaviour.clone()
    };
    if behaviour.silent == Some(request.path.as_str()) {
        // Ends when the client goes away.
        return connection.read_u8().await.map(drop);
    }
    if let Some((path, bytes)) = behaviour.raw
        && path == request.path
    {
        return connection.write_all(&bytes).await;
    }
    if request.path == "/token" {
        let _ = open.wait_for(|is_open| *is_open).await;
    }
    let (status, header, body) = answer(&request, base, &mut locked(state));
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{header}\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(body.as_bytes()).await
}

/// Returns the status, a header line and the body.
fn answer(request: &Request, base: &str, state: &mut State) -> (u16, String, Value) {
    let plain = |status: u16, body: Value| (status, String::new(), body);
    match request.path.as_str() {
        "/mcp" => resource(request, base, state),
        "/.well-known/oauth-protected-resource/mcp" => {
            let own = json!({
                "resource": format!("{base}/mcp"),
                "authorization_servers": [base],
                "scopes_supported": ["tools"],
            });
            plain(200, replaced(own, &state.behaviour.resource))
        }
        "/.well-known/oauth-authorization-server" => {
            let mut own = json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            });
            if state.behaviour.registers {
                own["registration_endpoint"] = format!("{base}/register").into();
            }
            plain(200, replaced(own, &state.behaviour.metadata))
        }
        "/register" => {
            state.clients += 1;
            let id = format!("client_{}", state.clients);
            plain(201, json!({"client_id": id}))
        }
        "/device" => {
            let code = format!("device_secret_{}", state.devices.len() + 1);
            state.secrets.push(code.clone());
            let form: HashMap<String, String> = parse(&request.body).into_owned().collect();
            let scope = form.get("scope").cloned().unwrap_or_default();
            state.devices.insert(code.clone(), scope);
            let own = json!({
                "device_code": code,
                "user_code": "WDJB-MJHT",
                "verification_uri": format!("{base}/enter"),
                "verification_uri_complete": format!("{base}/enter?code=WDJB-MJHT"),
                "expires_in": 900,
                "interval": 5,
            });
            plain(200, replaced(own, &state.behaviour.device))
        }
        "/token" => {
            let (status, body) = token(&request.body, state);
            plain(status, body)
        }
        _ => plain(404, Value::Null),
    }
}

fn replaced(mut own: Value, other: &Value) -> Value {
    for (name, value) in other.as_object().into_iter().flatten() {
        own[name] = value.clone();
    }
    own
}

/// Answers a request to the MCP server.
fn resource(request: &Request, base: &str, state: &State) -> (u16, String, Value) {
    let bearer = request.authorization.as_deref();
    let token = bearer.and_then(|header| header.strip_prefix("Bearer "));
    let scopes = token.and_then(|token| state.tokens.get(token));
    let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
    let challenge =
        |rest: &str| format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"{rest}\r\n");
    let Some(scopes) = scopes else {
        return (401, challenge(""), Value::Null);
    };
    match state.behaviour.scope {
        Some(scope) if !scopes.split(' ').any(|it| it == scope) => {
            let rest = format!(", error=\"insufficient_scope\", scope=\"{scope}\"");
            (403, challenge(&rest), Value::Null)
        }
        _ => (200, String::new(), json!({"ok": true})),
    }
}

/// Answers a request for tokens.
fn token(body: &[u8], state: &mut State) -> (u16, Value) {
    let form: HashMap<String, String> = parse(body).into_owned().collect();
    let of = |name: &str| form.get(name).map_or("", String::as_str);
    let refused = |status: u16, code: &str| {
        let description = "code_secret_description";
        (
            status,
            json!({"error": code, "error_description": description}),
        )
    };
    if !state.behaviour.knows_clients {
        return refused(401, "invalid_client");
    }
    let scope = match of("grant_type") {
        "authorization_code" => {
            let pending = state.codes.get(of("code")).cloned();
            let Some([challenge, redirect, scope]) = pending else {
                return refused(400, "invalid_grant");
            };
            let digest =
                ring::digest::digest(&ring::digest::SHA256, of("code_verifier").as_bytes());
            let is_proven = URL_SAFE_NO_PAD.encode(digest) == challenge;
            if !is_proven || redirect != of("redirect_uri") || !state.behaviour.accepts_codes {
                return refused(400, "invalid_grant");
            }
            scope
        }
        "urn:ietf:params:oauth:grant-type:device_code" => {
            if !state.behaviour.polls.is_empty() {
                let (status, code) = state.behaviour.polls.remove(0);
                return refused(status, code);
            }
            match state.devices.remove(of("device_code")) {
                Some(scope) => scope,
                None => return refused(400, "invalid_grant"),
            }
        }
        "refresh_token" => {
            if let Some((status, code)) = state.behaviour.renewal {
                return refused(status, code);
            }
            // Each refresh token is valid once.
            match state.refresh.remove(of("refresh_token")) {
                Some(scope) => scope,
                None => return refused(400, "invalid_grant"),
            }
        }
        _ => return refused(400, "unsupported_grant_type"),
    };
    state.issued += 1;
    let access = format!("access_secret_{}", state.issued);
    let refresh = format!("refresh_secret_{}", state.issued);
    state.secrets.extend([access.clone(), refresh.clone()]);
    state.tokens.insert(access.clone(), scope.clone());
    state.refresh.insert(refresh.clone(), scope.clone());
    let mut granted = json!({
        "access_token": access,
        "token_type": "bearer",
        "refresh_token": refresh,
        "scope": scope,
    });
    if let Some(seconds) = state.behaviour.expires_in {
        granted["expires_in"] = seconds.into();
    }
    (200, granted)
}
