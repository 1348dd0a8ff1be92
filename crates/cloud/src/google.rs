//! Access tokens of Google Cloud (Application Default Credentials).

use std::fmt;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use opencode_llm::{Authorizer, LlmError, OutgoingRequest};
use opencode_secrets::Secret;
use reqsign_core::{Context, Error, ProvideCredential, Result, Signer};
use reqsign_google::{
    Credential, EnvCredentialProvider, RequestSigner, ServiceAccountTokenCredentialProvider,
    StaticCredentialProvider, VmMetadataCredentialProvider, WellKnownCredentialProvider,
};

use crate::chain::Chain;
use crate::environment::HostEnvironment;
use crate::failure::unauthorized;

/// The name of Vertex in signatures. Requests with a token do not contain it.
const SERVICE: &str = "aiplatform";

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

const ADVICE: &str = "Set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or run `gcloud auth application-default login`.";

/// Credentials of Google Cloud. A token is renewed before it expires, once for all requests that wait for it.
#[derive(Clone)]
pub struct GoogleCredentials {
    environment: HostEnvironment,
    /// The content of a file with credentials, if it is given.
    given: Option<Secret>,
    signer: Signer<Credential>,
}

impl GoogleCredentials {
    /// The credentials in `given`, the content of a JSON file with credentials. Without it, those of the machine: the
    /// file that `GOOGLE_APPLICATION_CREDENTIALS` names, the file of the Google Cloud command line, and the metadata
    /// service of an instance.
    #[must_use]
    pub fn new(environment: HostEnvironment, given: Option<Secret>) -> Self {
        let places = match &given {
            Some(content) => Chain::new().then(StaticCredentialProvider::new(content.expose())),
            None => Chain::new()
                .then(EnvCredentialProvider::new())
                .then(WellKnownCredentialProvider::new())
                .then(VmMetadataCredentialProvider::new()),
        };
        let signer = RequestSigner::new(SERVICE).with_scope(SCOPE);
        Self {
            environment,
            given,
            signer: Signer::new(Context::new(), Tokens(places), signer),
        }
    }

    async fn header(&self, request: OutgoingRequest<'_>) -> Result<Vec<(String, Secret)>> {
        let head = http::Request::post(request.url.as_str()).body(());
        let head = head.map_err(|error| Error::request_invalid(error.to_string()))?;
        let (mut head, ()) = head.into_parts();
        let context = self.environment.context(request.clients);
        let signer = self.signer.clone().with_context(context);
        signer.sign(&mut head, None).await?;
        let token = head.headers.get(AUTHORIZATION);
        let token = token.and_then(|value| value.to_str().ok());
        let token = token.ok_or_else(|| Error::credential_invalid("no token was found"))?;
        Ok(vec![(
            AUTHORIZATION.as_str().to_owned(),
            Secret::new(token),
        )])
    }
}

impl PartialEq for GoogleCredentials {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given && self.environment == other.environment
    }
}

impl fmt::Debug for GoogleCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoogleCredentials").finish_non_exhaustive()
    }
}

impl Authorizer for GoogleCredentials {
    fn authorize<'a>(
        &'a self,
        request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, std::result::Result<Vec<(String, Secret)>, LlmError>> {
        let header = self.header(request);
        async move {
            let header = header.await;
            header.map_err(|error| unauthorized("Google Cloud", ADVICE, &error))
        }
        .boxed()
    }
}

/// Exchanges the key of a service account for a token, which is kept until it expires.
#[derive(Debug)]
struct Tokens(Chain<Credential>);

impl ProvideCredential for Tokens {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
        let found = self.0.provide_credential(context).await?;
        match found {
            Some(Credential {
                service_account: Some(account),
                ..
            }) => {
                let exchange = ServiceAccountTokenCredentialProvider::new(account);
                exchange.with_scope(SCOPE).provide_credential(context).await
            }
            other => Ok(other),
        }
    }
}
