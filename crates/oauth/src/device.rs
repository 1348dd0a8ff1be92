//! The device flow (RFC 8628): the user enters a code on a page, on any device, and the host asks for the tokens.

use std::time::Duration;

use opencode_schema::clock::Millis;
use serde::Deserialize;
use url::Url;

use crate::error::{AuthorizationError, shown_code};
use crate::grant::Grant;
use crate::http::{Http, shown};
use crate::token_endpoint::{Number, Refused, TokenEndpoint, is_token, refusal_code};
use opencode_secrets::Secret;

/// The wait between two questions, if the server names none.
const INTERVAL: u64 = 5;

/// The waits that a server may ask for, in seconds.
const INTERVALS: (u64, u64) = (1, 60);

/// The life of a code, if the server names none, in seconds.
const LIFE: u64 = 15 * 60;

/// Maximum length of a code of a user.
const MAX_USER_CODE_BYTES: usize = 32;

/// The type of this grant.
const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A device code that waits for the user.
#[derive(Debug)]
pub struct DeviceCode {
    /// The page that the user opens.
    pub page: Url,
    /// The code that the user enters there.
    pub user_code: String,
    /// The time for which the code is valid.
    pub life: Duration,
    /// The wait before each question.
    pub interval: Duration,
    code: Secret,
}

/// The answer to the question for tokens.
#[derive(Debug)]
pub enum DevicePoll {
    /// The user gave consent.
    Granted(Grant),
    /// The user has not answered yet.
    Pending,
    /// The user has not answered yet, and the next questions must come later.
    SlowDown,
}

/// The answer of a device endpoint.
#[derive(Deserialize)]
struct Codes {
    device_code: String,
    user_code: String,
    // The second name is that of an older draft, which Google still uses.
    #[serde(alias = "verification_url")]
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: Option<Number>,
    interval: Option<Number>,
}

impl TokenEndpoint<'_> {
    /// Requests a device code at `address`.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses, or cannot be used.
    pub async fn device_code(
        &self,
        http: &Http,
        address: &Url,
        scopes: &[String],
        parameters: &[(&str, &str)],
    ) -> Result<DeviceCode, AuthorizationError> {
        let failed = AuthorizationError::Failed;
        let scope = scopes.join(" ");
        let mut form = parameters.to_vec();
        if !scope.is_empty() {
            form.push(("scope", &scope));
        }
        let answer = self.post(http, address, &form).await.map_err(failed)?;
        let shown = shown(address);
        if let Some(code) = refusal_code(&answer) {
            let code = shown_code(&code);
            return Err(failed(format!("{shown} gives no device code: {code}")));
        }
        if !answer.status.is_success() {
            let status = answer.status;
            return Err(failed(format!("{shown} answers with status {status}")));
        }
        let codes: Option<Codes> = serde_json::from_slice(&answer.body).ok();
        let read = codes.and_then(|codes| DeviceCode::read(codes, http));
        read.ok_or_else(|| failed(format!("{shown} answers in another format")))
    }

    /// Asks for the tokens of a device code. The caller waits `code.interval` before.
    ///
    /// # Errors
    ///
    /// Fails if the user refused, the code has expired, or the server refuses this client.
    pub async fn device_tokens(
        &self,
        http: &Http,
        code: &DeviceCode,
        requested: &[String],
        now: Millis,
    ) -> Result<DevicePoll, AuthorizationError> {
        let parameters = [
            ("grant_type", GRANT_TYPE),
            ("device_code", code.code.expose()),
        ];
        let refused = match self.request(http, &parameters, now).await {
            Ok(mut grant) => {
                if grant.scopes.is_empty() {
                    requested.clone_into(&mut grant.scopes);
                }
                return Ok(DevicePoll::Granted(grant));
            }
            Err(refused) => refused,
        };
        match refused {
            // A server that is away for a moment must not end the work of the user.
            Refused::Unreachable(_) => Ok(DevicePoll::SlowDown),
            Refused::Unusable(reason) => Err(AuthorizationError::Failed(reason)),
            Refused::Code(code) => match code.as_str() {
                "authorization_pending" => Ok(DevicePoll::Pending),
                "slow_down" => Ok(DevicePoll::SlowDown),
                code => Err(AuthorizationError::Refused(shown_code(code).into())),
            },
        }
    }
}

impl DeviceCode {
    fn read(codes: Codes, http: &Http) -> Option<Self> {
        let parse = |address: &str| http.reach.parse(address, "page").ok();
        let complete = codes.verification_uri_complete.as_deref();
        let page = complete
            .and_then(parse)
            .or_else(|| parse(&codes.verification_uri))?;
        let is_shown = codes.user_code.bytes().all(|byte| byte.is_ascii_graphic());
        let fits = (1..=MAX_USER_CODE_BYTES).contains(&codes.user_code.len());
        if !is_shown || !fits || !is_token(&codes.device_code) {
            return None;
        }
        let seconds = |number: Option<&Number>| number.and_then(Number::seconds);
        let interval = seconds(codes.interval.as_ref()).unwrap_or(INTERVAL);
        let life = seconds(codes.expires_in.as_ref()).unwrap_or(LIFE);
        Some(Self {
            page,
            user_code: codes.user_code,
            life: Duration::from_secs(life.min(LIFE)),
            interval: Duration::from_secs(interval.clamp(INTERVALS.0, INTERVALS.1)),
            code: Secret::new(codes.device_code),
        })
    }
}
