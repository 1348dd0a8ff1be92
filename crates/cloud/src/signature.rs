//! Signature Version 4 of AWS (AWS General Reference, "Create a signed AWS API request").

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use opencode_secrets::Secret;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqsign_aws_core::Credential;
use ring::digest::{SHA256, digest};
use ring::hmac;
use url::{Position, Url};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The characters that a signature encodes: all but the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The same, for a path with its slashes.
const ENCODED_PATH: &AsciiSet = &ENCODED.remove(b'/');

/// The service that receives a request.
pub(crate) struct Scope<'a> {
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
}

/// A request without its signature.
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a Url,
    pub(crate) content_type: Option<&'a str>,
    pub(crate) body: &'a [u8],
}

/// Returns the headers that sign a request: its time, the token of temporary keys, and the signature. It covers these,
/// the address, the type of the content and the body, but no other header, because proxies may change them.
pub(crate) fn sign(
    request: &Unsigned<'_>,
    scope: &Scope<'_>,
    now: SystemTime,
    keys: &Credential,
) -> Result<Vec<(String, Secret)>, jiff::Error> {
    let now = Timestamp::try_from(now)?.to_zoned(TimeZone::UTC);
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let (day, _) = time.split_at("YYYYMMDD".len());
    let host = &request.url[Position::BeforeHost..Position::AfterPort];
    let mut headers = vec![("host", host), ("x-amz-date", time.as_str())];
    headers.extend(request.content_type.map(|it| ("content-type", it)));
    let token = keys.session_token.as_deref();
    headers.extend(token.map(|it| ("x-amz-security-token", it)));
    headers.sort_unstable();

    let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let body = hex(digest(&SHA256, request.body).as_ref());
    let canonical = [
        request.method,
        // A service other than S3 encodes the path of the address once more.
        &utf8_percent_encode(request.url.path(), ENCODED_PATH).to_string(),
        &query(request.url),
        &headers.iter().map(line).collect::<String>(),
        &names,
        &body,
    ];
    let canonical = hex(digest(&SHA256, canonical.join("\n").as_bytes()).as_ref());
    let Scope { region, service } = scope;
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let text = [ALGORITHM, &time, &scope, &canonical].join("\n");

    let secret = format!("AWS4{}", keys.secret_access_key);
    let parts = [day, region, service, "aws4_request"];
    let key = parts.iter().fold(secret.into_bytes(), |key, part| {
        code(&key, part).as_ref().to_vec()
    });
    let signature = hex(code(&key, &text).as_ref());
    let id = &keys.access_key_id;
    let authorization = format!(
        "{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}"
    );
    let mut signed = vec![
        ("authorization".to_owned(), Secret::new(authorization)),
        ("x-amz-date".to_owned(), Secret::new(time.as_str())),
    ];
    signed.extend(token.map(|it| ("x-amz-security-token".to_owned(), Secret::new(it))));
    Ok(signed)
}

/// Returns the query with encoded names and values, in order.
fn query(url: &Url) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    let mut pairs: Vec<_> = url
        .query_pairs()
        .map(|(name, value)| (encoded(&name), encoded(&value)))
        .collect();
    pairs.sort_unstable();
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&")
}

/// Returns a header with single spaces.
fn line((name, value): &(&str, &str)) -> String {
    let words: Vec<_> = value.split_ascii_whitespace().collect();
    format!("{name}:{}\n", words.join(" "))
}

fn code(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn signature_of(method: &str, path: &str, token: Option<&str>) -> (String, String) {
        let url = Url::parse(&format!("https://example.amazonaws.com{path}")).unwrap();
        let keys = Credential {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: token.map(str::to_owned),
            expires_in: None,
        };
        let request = Unsigned {
            method,
            url: &url,
            content_type: None,
            body: b"",
        };
        let scope = Scope {
            region: "us-east-1",
            service: "service",
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let signed = sign(&request, &scope, now, &keys).unwrap();
        let authorization = signed[0].1.expose();
        let (head, signature) = authorization.rsplit_once("Signature=").unwrap();
        (head.to_owned(), signature.to_owned())
    }

    /// The requests and signatures that AWS publishes as a test suite of the algorithm.
    #[test]
    fn published_signatures_are_computed() {
        for (method, path, expected) in [
            (
                "GET",
                "/",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "POST",
                "/",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "GET",
                "/?Param2=value2&Param1=value1",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
        ] {
            let (head, signature) = signature_of(method, path, None);
            assert_eq!(signature, expected, "{method} {path}");
            let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ";
            assert_eq!(head, scope);
        }
    }

    #[test]
    fn the_token_of_temporary_keys_and_the_path_are_signed() {
        let (head, with_token) = signature_of("POST", "/", Some("token"));
        assert!(head.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"));
        let plain = signature_of("POST", "/", None).1;
        assert_ne!(with_token, plain);
        let encoded = signature_of("POST", "/model/a%3A1/converse", None).1;
        assert_ne!(signature_of("POST", "/model/a:1/converse", None).1, encoded);
    }

    #[test]
    fn paths_are_encoded_once_more_and_queries_are_in_order() {
        let url = Url::parse("https://a.b/model/a%3A1/x?b=2&a=%20/&a=1").unwrap();
        let path = utf8_percent_encode(url.path(), ENCODED_PATH).to_string();
        assert_eq!(path, "/model/a%253A1/x");
        assert_eq!(query(&url), "a=%20%2F&a=1&b=2");
        assert_eq!(line(&("a", " b  c ")), "a:b c\n");
    }
}
