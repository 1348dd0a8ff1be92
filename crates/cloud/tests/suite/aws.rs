//! Signatures of requests to Bedrock, and the places of their keys.

use std::sync::Arc;

use futures::future::join_all;
use opencode_cloud::{AccessKeys, AwsCredentials, BedrockSigner, HostEnvironment};
use opencode_llm::ErrorKind;
use opencode_secrets::Secret;

use super::service::Service;
use super::{environment, header, headers};

const NO_INSTANCE: (&str, &str) = ("AWS_EC2_METADATA_DISABLED", "true");

fn keys(session_token: Option<&str>) -> AccessKeys {
    AccessKeys {
        id: "AKIDEXAMPLE".into(),
        secret: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        session_token: session_token.map(Secret::new),
    }
}

fn signer(credentials: AwsCredentials) -> BedrockSigner {
    BedrockSigner::new(Arc::new(credentials), "us-east-1")
}

fn machine(environment: HostEnvironment) -> BedrockSigner {
    signer(AwsCredentials::of_machine(environment, None))
}

/// Returns the id of the key with which an authorizer signs.
async fn key_of(signer: &BedrockSigner) -> String {
    let headers = headers(signer, "{}").await.unwrap();
    let authorization = header(&headers, "authorization");
    let (_, rest) = authorization.split_once("Credential=").unwrap();
    rest.split('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_signature_covers_the_address_the_time_and_the_body() {
    let signer = signer(AwsCredentials::of_keys(keys(None)));
    let signed = headers(&signer, "{}").await.unwrap();
    assert_eq!(header(&signed, "x-amz-date"), "20150830T123600Z");
    let authorization = header(&signed, "authorization");
    let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=";
    let signature = authorization
        .strip_prefix(scope)
        .unwrap_or_else(|| panic!("{authorization}"));
    // Computed by another implementation of the algorithm.
    let expected = "260f9f4059322f69af45a44f87359d2ddd53df87913c591d614069b85cd83fc0";
    assert_eq!(signature, expected);
    let other = headers(&signer, "{ }").await.unwrap();
    assert_ne!(header(&other, "authorization"), authorization);
}

#[tokio::test]
async fn temporary_keys_send_their_token_and_nothing_shows_a_secret() {
    let credentials = AwsCredentials::of_keys(keys(Some("session-token")));
    assert_eq!(format!("{credentials:?}"), "AwsCredentials { .. }");
    assert_eq!(format!("{:?}", keys(Some("t"))), "AccessKeys { .. }");
    let headers = headers(&signer(credentials), "{}").await.unwrap();
    assert_eq!(header(&headers, "x-amz-security-token"), "session-token");
    assert!(headers.iter().all(|(_, value)| !value.contains("wJalr")));
}

#[tokio::test]
async fn a_profile_of_the_shared_file_has_keys() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let file = "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = one\n\n[work]\naws_access_key_id = AKWORK\naws_secret_access_key = two\n";
    std::fs::write(home.path().join(".aws/credentials"), file).unwrap();
    let at = |variables: &[(&str, &str)]| environment(home.path(), variables);
    assert_eq!(key_of(&machine(at(&[]))).await, "AKDEFAULT");
    let work = machine(at(&[("AWS_PROFILE", "work")]));
    assert_eq!(key_of(&work).await, "AKWORK");
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKVARIABLE"),
        ("AWS_SECRET_ACCESS_KEY", "three"),
    ];
    assert_eq!(key_of(&machine(at(&keys))).await, "AKVARIABLE");
    let named = AwsCredentials::of_machine(at(&keys), Some("work".into()));
    assert_eq!(key_of(&signer(named)).await, "AKWORK");
}

#[tokio::test]
async fn a_container_gives_keys_once_for_all_requests_that_wait() {
    let service = Service::start(|_| {
        let keys = r#"{"AccessKeyId":"AKCONTAINER","SecretAccessKey":"s","Token":"t","Expiration":"2999-01-01T00:00:00Z"}"#;
        (200, keys.to_owned())
    });
    let service = service.await;
    let home = tempfile::tempdir().unwrap();
    let address = format!("http://{}/keys", service.address);
    let container = machine(environment(
        home.path(),
        &[
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &address),
            (
                "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                "token-of-the-container",
            ),
        ],
    ));
    let found = join_all((0..8).map(|_| key_of(&container))).await;
    assert!(found.iter().all(|id| id == "AKCONTAINER"), "{found:?}");
    let seen = service.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].contains("token-of-the-container"), "{}", seen[0]);
}

#[tokio::test]
async fn an_instance_gives_the_keys_of_its_role() {
    let service = Service::start(|line| match line {
        line if line.starts_with("PUT /latest/api/token") => (200, "session".to_owned()),
        line if line.contains("/security-credentials/role") => {
            let keys = r#"{"Code":"Success","AccessKeyId":"AKINSTANCE","SecretAccessKey":"s","Token":"t","Expiration":"2999-01-01T00:00:00Z"}"#;
            (200, keys.to_owned())
        }
        _ => (200, "role".to_owned()),
    });
    let service = service.await;
    let home = tempfile::tempdir().unwrap();
    let address = format!("http://{}", service.address);
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", address.as_str())];
    let instance = machine(environment(home.path(), &variables));
    assert_eq!(key_of(&instance).await, "AKINSTANCE");
}

#[tokio::test]
async fn a_machine_without_credentials_fails_with_advice() {
    let home = tempfile::tempdir().unwrap();
    let nothing = machine(environment(home.path(), &[NO_INSTANCE]));
    let error = headers(&nothing, "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    let message = error.to_string();
    assert!(message.contains("AWS_ACCESS_KEY_ID"), "{message}");
}

#[tokio::test]
async fn no_program_of_a_profile_runs() {
    let home = tempfile::tempdir().unwrap();
    let mark = home.path().join("ran");
    let program = format!("[default]\ncredential_process = touch {}\n", mark.display());
    let file = home.path().join("config");
    std::fs::write(&file, program).unwrap();
    let file = file.to_str().unwrap();
    let variables = [("AWS_CONFIG_FILE", file), NO_INSTANCE];
    let profile = machine(environment(home.path(), &variables));
    let error = headers(&profile, "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert!(!mark.exists());
}
