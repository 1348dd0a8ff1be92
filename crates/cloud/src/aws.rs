//! Credentials of AWS, and signatures with them (Signature Version 4). A library of AWS computes the signature.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use opencode_llm::{Authorizer, LlmError, OutgoingRequest, Secret};
use reqsign_aws_core::{
    AssumeRoleWithWebIdentityCredentialProvider, Credential, ECSCredentialProvider,
    EnvCredentialProvider, IMDSv2CredentialProvider, ProfileCredentialProvider,
    SSOCredentialProvider, StaticCredentialProvider,
};
use reqsign_core::{Context, Error, Result, SignRequest, Signer};

use crate::chain::Chain;
use crate::environment::HostEnvironment;
use crate::failure::unauthorized;

/// The name of Bedrock in signatures.
const SERVICE: &str = "bedrock";

const ADVICE: &str = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE and sign in with the AWS command line, or set AWS_BEARER_TOKEN_BEDROCK.";

/// Access keys.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessKeys {
    /// The id of the key.
    pub id: String,
    /// The secret key.
    pub secret: Secret,
    /// The token of a session, for temporary keys.
    pub session_token: Option<Secret>,
}

impl fmt::Debug for AccessKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKeys").finish_non_exhaustive()
    }
}

/// The place of the credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Keys(AccessKeys),
    Machine {
        environment: HostEnvironment,
        profile: Option<String>,
    },
}

/// Credentials of AWS. Temporary ones are renewed before they expire, once for all requests that wait for them.
#[derive(Clone)]
pub struct AwsCredentials {
    place: Place,
    signer: Signer<Credential>,
}

impl AwsCredentials {
    /// Credentials that consist of these keys.
    #[must_use]
    pub fn of_keys(keys: AccessKeys) -> Self {
        let mut given = StaticCredentialProvider::new(&keys.id, keys.secret.expose());
        if let Some(token) = &keys.session_token {
            given = given.with_session_token(token.expose());
        }
        let signer = Signer::new(Context::new(), given, Unsigned);
        Self {
            place: Place::Keys(keys),
            signer,
        }
    }

    /// The credentials of the machine: variables with keys, then a profile of the shared files (`AWS_PROFILE` without a
    /// name here) with keys, a role or a session of IAM Identity Center, a web identity, a container, and the metadata
    /// service of an instance. A named profile excludes the variables.
    #[must_use]
    pub fn of_machine(environment: HostEnvironment, profile: Option<String>) -> Self {
        let mut places = Chain::new();
        let mut shared = ProfileCredentialProvider::new();
        let mut session = SSOCredentialProvider::new();
        if let Some(name) = &profile {
            shared = shared.with_profile(name);
            session = session.with_profile(name);
        } else {
            places = places.then(EnvCredentialProvider::new());
        }
        places = places.then(shared).then(session);
        places = places
            .then(AssumeRoleWithWebIdentityCredentialProvider::new())
            .then(ECSCredentialProvider::new())
            .then(IMDSv2CredentialProvider::new());
        let signer = Signer::new(Context::new(), places, Unsigned);
        Self {
            place: Place::Machine {
                environment,
                profile,
            },
            signer,
        }
    }

    /// The access keys, if they are given and not found on the machine.
    #[must_use]
    pub fn keys(&self) -> Option<&AccessKeys> {
        match &self.place {
            Place::Keys(keys) => Some(keys),
            Place::Machine { .. } => None,
        }
    }
}

impl PartialEq for AwsCredentials {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsCredentials").finish_non_exhaustive()
    }
}

/// Signs requests to Bedrock in one region.
pub struct BedrockSigner {
    credentials: Arc<AwsCredentials>,
    region: String,
}

impl BedrockSigner {
    /// Creates a signer.
    #[must_use]
    pub fn new(credentials: Arc<AwsCredentials>, region: impl Into<String>) -> Self {
        Self {
            credentials,
            region: region.into(),
        }
    }

    async fn signed(&self, request: OutgoingRequest<'_>) -> Result<Vec<(String, Secret)>> {
        let mut head = http::Request::post(request.url.as_str());
        // Proxies may change other headers.
        if let Some(kind) = request.headers.get(CONTENT_TYPE) {
            head = head.header(CONTENT_TYPE, kind);
        }
        let head = head.body(()).map_err(|error| invalid(&error))?;
        let (mut head, ()) = head.into_parts();
        let signer = self.credentials.signer.clone();
        let signer = signer.with_request_signer(Signature {
            region: self.region.clone(),
            now: request.now,
            body: sha256(request.body),
        });
        let signer = match &self.credentials.place {
            Place::Keys(_) => signer,
            Place::Machine { environment, .. } => {
                signer.with_context(environment.context(request.clients))
            }
        };
        signer.sign(&mut head, None).await?;
        head.headers.remove(CONTENT_TYPE);
        head.headers
            .iter()
            .map(|(name, value)| {
                let value = value.to_str().map_err(|error| invalid(&error))?;
                Ok((name.as_str().to_owned(), Secret::new(value)))
            })
            .collect()
    }
}

impl Authorizer for BedrockSigner {
    fn authorize<'a>(
        &'a self,
        request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, std::result::Result<Vec<(String, Secret)>, LlmError>> {
        let signed = self.signed(request);
        async move {
            signed
                .await
                .map_err(|error| unauthorized("AWS", ADVICE, &error))
        }
        .boxed()
    }
}

/// The signature of one request.
#[derive(Debug)]
struct Signature {
    region: String,
    now: SystemTime,
    /// SHA-256 of the body, in hexadecimal digits.
    body: String,
}

impl SignRequest for Signature {
    type Credential = Credential;

    async fn sign_request(
        &self,
        _: &Context,
        head: &mut Parts,
        credential: Option<&Credential>,
        _: Option<Duration>,
    ) -> Result<()> {
        let Some(credential) = credential else {
            return Err(Error::credential_invalid("no credential was found"));
        };
        let identity = Credentials::new(
            &credential.access_key_id,
            &credential.secret_access_key,
            credential.session_token.clone(),
            None,
            "opencode",
        );
        let identity = identity.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(SERVICE)
            .time(self.now)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| invalid(&error))?;
        let url = head.uri.to_string();
        let headers = head.headers.iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let body = SignableBody::Precomputed(self.body.clone());
        let signable = SignableRequest::new("POST", url, headers, body);
        let signable = signable.map_err(|error| invalid(&error))?;
        let output = sign(signable, &params.into()).map_err(|error| invalid(&error))?;
        let (instructions, _) = output.into_parts();
        for (name, value) in instructions.headers() {
            let name = http::HeaderName::from_bytes(name.as_bytes());
            let value = http::HeaderValue::from_str(value);
            head.headers.insert(
                name.map_err(|error| invalid(&error))?,
                value.map_err(|error| invalid(&error))?,
            );
        }
        Ok(())
    }
}

/// Stands for the signature until a request exists.
#[derive(Debug)]
struct Unsigned;

impl SignRequest for Unsigned {
    type Credential = Credential;

    async fn sign_request(
        &self,
        _: &Context,
        _: &mut Parts,
        _: Option<&Credential>,
        _: Option<Duration>,
    ) -> Result<()> {
        Err(Error::unexpected("the request has no signature"))
    }
}

fn invalid(error: &dyn fmt::Display) -> Error {
    Error::request_invalid(format!("the request cannot be signed: {error}"))
}

fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let digits = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}
