//! Access tokens of Google Cloud.

use futures::future::join_all;
use opencode_cloud::GoogleCredentials;
use opencode_llm::ErrorKind;
use opencode_net::Proxies;
use opencode_secrets::Secret;
use serde_json::json;

use super::service::Service;
use super::{environment, header, headers, headers_through};

/// A key that was made for this test.
const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBALqjeAXdtlKB/ktq
fHiTxIx11A5HIjBxczrI1Xb9AtBvQXYR63XlHu5NxtHAOtp8vYKNuTi6Gc98jtHl
lV43BrEaiL56F3uHLSvRqmSeou0B2FvHIqE41qIoOgYTsuZtA1ZZMePX97eBzw8A
YA8HS8Th1hADtNo+2HXQ4VwrnuBrAgMBAAECgYBVSjCmFZyk9cy8sAvzmit+uLXQ
VId2NdIfsfmC57pqf/0dNLEybiMFabuKzNrYT5rW12cmWj1DSTuHBfCNXn4Klwu3
o8tlNG/IRgcwG7AJPYGBSLlc3ED4KPjF5E/6wriWfbsHckng82wli1uq6w1qMAx+
Oa0ASQwdEKUKDGemaQJBAOQqxRdElQqY7Oyvk8Si4x0T85HoPOIJt9w7OY6Ndtnc
LB+aeo95zxUOEnkyLvyJLkWXAqO/a4yjLjzW0k2K0E0CQQDRZ9dRg5w/916DvmyL
HoVc5q1gErDPwRKpDnWy3q8961P8s1gbmH1eaOJF8tmMTNblFduVA2zzss3VRw9f
b4+XAkEAzyDchsDlpBcrjbneJTXRgwYnqR7wlipIVI8XMwfNCv1KuO3dsP3dNbnu
n0MlUG+gJ+BsrwYItkU0plpF08reSQJADeB6xV0aYqbK7aIV4VZBcjmbLa2vZ+Uc
jnV12Uemh0zsAOgFo7aEQFhk/kusnP6OkxnStlpGwxOLTmHqI+HpuwJBANgulsdx
dyRKi482aJczJqV1q8RWyqp/9+ywJAKYL+FHYDUaV8qzmOGsDR7vxS1SdifYRsoO
KddRGkv5BEpBgT0=
-----END PRIVATE KEY-----
";

#[tokio::test]
async fn an_instance_gives_a_token_once_for_all_requests_that_wait() {
    let service = Service::start(|_| {
        let token = json!({"access_token": "token-of-the-instance", "expires_in": 3600, "token_type": "Bearer"});
        (200, token.to_string())
    });
    let service = service.await;
    let home = tempfile::tempdir().unwrap();
    let variables = [("GCE_METADATA_HOST", service.address.as_str())];
    let credentials = GoogleCredentials::new(environment(home.path(), &variables), None);
    let found = join_all((0..8).map(|_| headers(&credentials, "{}"))).await;
    for headers in found {
        let headers = headers.unwrap();
        let expected = "Bearer token-of-the-instance";
        assert_eq!(header(&headers, "authorization"), expected);
        assert_eq!(headers.len(), 1);
    }
    let seen = service.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].to_lowercase().contains("metadata-flavor: google"));
}

/// The service of Google has a fixed, encrypted address, so this test only sees the request at the proxy.
#[tokio::test]
async fn the_key_of_a_service_account_is_exchanged_at_google() {
    let proxy = Service::start(|_| (502, String::new())).await;
    let address = format!("http://{}", proxy.address);
    let through = |name: &str| (name == "HTTPS_PROXY").then_some(address.as_str());
    let home = tempfile::tempdir().unwrap();
    let account =
        json!({"type": "service_account", "client_email": "a@b", "private_key": PRIVATE_KEY})
            .to_string();
    let file = home.path().join("account.json");
    std::fs::write(&file, &account).unwrap();
    let variables = [
        ("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap()),
        ("GCE_METADATA_HOST", "127.0.0.1:1"),
    ];
    let of_file = GoogleCredentials::new(environment(home.path(), &variables), None);
    let given = Some(Secret::new(account));
    let of_content = GoogleCredentials::new(environment(home.path(), &[]), given);
    for credentials in [of_file, of_content] {
        let before = proxy.seen().len();
        let proxies = Proxies::from_variables(through);
        let error = headers_through(&credentials, "{}", proxies)
            .await
            .unwrap_err();
        let message = error.to_string();
        assert!(message.contains("service account"), "{message}");
        assert!(!message.contains("MIICdw"), "{message}");
        let seen = proxy.seen();
        let connect = "CONNECT oauth2.googleapis.com:443";
        assert!(seen[before].starts_with(connect), "{seen:?}");
    }
}

#[tokio::test]
async fn a_machine_without_credentials_fails_with_advice() {
    let home = tempfile::tempdir().unwrap();
    let variables = [("GCE_METADATA_HOST", "127.0.0.1:1")];
    let credentials = GoogleCredentials::new(environment(home.path(), &variables), None);
    let error = headers(&credentials, "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    let message = error.to_string();
    let advice = "GOOGLE_APPLICATION_CREDENTIALS";
    assert!(message.contains(advice), "{message}");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named() {
    let home = tempfile::tempdir().unwrap();
    let missing = home.path().join("missing.json");
    let missing = missing.to_str().unwrap();
    for (path, problem) in [(missing, "does not exist"), ("relative.json", "relative")] {
        let variables = [
            ("GOOGLE_APPLICATION_CREDENTIALS", path),
            ("GCE_METADATA_HOST", "127.0.0.1:1"),
        ];
        let credentials = GoogleCredentials::new(environment(home.path(), &variables), None);
        let message = headers(&credentials, "{}").await.unwrap_err().to_string();
        assert!(message.contains(path), "{message}");
        assert!(message.contains(problem), "{message}");
    }
}
