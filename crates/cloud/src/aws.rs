//! Credentials of AWS, and signatures of requests to Bedrock with them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use opencode_llm::{Authorizer, LlmError, OutgoingRequest};
use opencode_secrets::Secret;
use parking_lot::Mutex;
use reqsign_aws_core::{
    AssumeRoleWithWebIdentityCredentialProvider, Credential, ECSCredentialProvider,
    EnvCredentialProvider, IMDSv2CredentialProvider, ProfileCredentialProvider,
    SSOCredentialProvider, StaticCredentialProvider,
};
use reqsign_core::{Context, Error, Result, SignRequest, Signer};

use crate::chain::Chain;
use crate::environment::HostEnvironment;
use crate::failure::unauthorized;
use crate::signature;

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
        let found = Found::default();
        let signer = self.credentials.signer.clone();
        let signer = signer.with_request_signer(found.clone());
        let signer = match &self.credentials.place {
            Place::Keys(_) => signer,
            Place::Machine { environment, .. } => {
                signer.with_context(environment.context(request.clients))
            }
        };
        let head = http::Request::post(request.url.as_str()).body(());
        let (mut head, ()) = head.map_err(|error| invalid(&error))?.into_parts();
        signer.sign(&mut head, None).await?;
        let keys = found.0.lock().take();
        let keys = keys.ok_or_else(|| Error::credential_invalid("no credential was found"))?;
        let content_type = request.headers.get(CONTENT_TYPE);
        let unsigned = signature::Unsigned {
            method: "POST",
            url: request.url,
            content_type: content_type.and_then(|it| it.to_str().ok()),
            body: request.body,
        };
        let scope = signature::Scope {
            region: &self.region,
            service: SERVICE,
        };
        signature::sign(&unsigned, &scope, request.now, &keys).map_err(|error| invalid(&error))
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

/// Receives the credential with which a request is to be signed.
#[derive(Debug, Clone, Default)]
struct Found(Arc<Mutex<Option<Credential>>>);

impl SignRequest for Found {
    type Credential = Credential;

    async fn sign_request(
        &self,
        _: &Context,
        _: &mut Parts,
        credential: Option<&Credential>,
        _: Option<Duration>,
    ) -> Result<()> {
        *self.0.lock() = credential.cloned();
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
