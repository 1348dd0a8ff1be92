//! Fetches a page: asks the user for permission and then the servers for the page.

use std::time::Duration;

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, USER_AGENT},
};
use opencode_schema::Record;
use serde_json::json;
use tokio::time::Instant;
use url::Url;

use super::{Format, media};
use crate::contract::tool::ToolContext;
use crate::failure::ToolFailure;
use opencode_net::{HttpRequest, HttpResponse, Web};

/// Maximum size of an answer in bytes.
const MAX_BODY: usize = 5 * 1024 * 1024;

const MAX_REDIRECTS: usize = 10;

/// Many servers answer only browsers.
const BROWSER: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
(KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36";

/// User agent for a server that rejects the browser's with a challenge.
const OWN_USER_AGENT: &str = "opencode";

/// One call in progress.
pub(super) struct Visit<'a> {
    pub(super) web: &'a dyn Web,
    pub(super) context: &'a ToolContext,
    /// The generic error text.
    pub(super) refused: &'a str,
    pub(super) format: Format,
    /// Data that the user sees besides the address.
    pub(super) metadata: Record,
    /// Time left for the answers of servers. It does not run while the user is asked.
    pub(super) time: Duration,
}

/// The content at an address.
pub(super) struct Page {
    /// The content type from the server; empty if the server sends none.
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

impl Visit<'_> {
    /// Returns the page at an address. `url` is the address as the model wrote it.
    pub(super) async fn page(&mut self, url: &str, address: Url) -> Result<Page, ToolFailure> {
        self.ask(url, &address).await?;
        let request = self.context.permission_request("webfetch", Vec::new());
        let rules = self.context.permissions.rules(request).await;
        let effect = |url: &str, address: &Url| {
            let [given, plain] = [url, &plain(address)].map(|it| rules.effect(it, &[]));
            given.stricter(plain)
        };
        let allowed = effect(url, &address);
        let mut address = address;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.exchange(&address).await?;
            let Some(next) = redirect(&response) else {
                return self.accepted(response);
            };
            let next = next
                .and_then(|location| address.join(location).ok())
                .filter(|next| matches!(next.scheme(), "http" | "https"))
                .ok_or_else(|| self.failed("the server redirects to no address of the web"))?;
            // The permission was for the named address. On the same server it counts for addresses about which the
            // rules are no stricter.
            let found = effect(next.as_str(), &next);
            if !is_same_site(&address, &next) || allowed.stricter(found) != allowed {
                self.ask(next.as_str(), &next).await?;
            }
            address = next;
        }
        Err(self.failed(&format!("it redirects more than {MAX_REDIRECTS} times")))
    }

    async fn ask(&self, url: &str, address: &Url) -> Result<(), ToolFailure> {
        let mut resources = vec![url.to_owned()];
        // Rules also check the normalized address, so an unusual spelling does not bypass them.
        resources.extend(Some(plain(address)).filter(|plain| plain != url));
        let mut request = self.context.permission_request("webfetch", resources);
        request.save.push("*".to_owned());
        request.metadata.insert("url".to_owned(), json!(url));
        request.metadata.extend(self.metadata.clone());
        self.context.assert(request, self.refused).await
    }

    /// Returns the answer of one address. It may be a redirect.
    async fn exchange(&mut self, address: &Url) -> Result<HttpResponse, ToolFailure> {
        let response = self.send(address, BROWSER).await?;
        let challenge = response.headers.get("cf-mitigated");
        if response.status == StatusCode::FORBIDDEN
            && challenge.is_some_and(|value| value == "challenge")
        {
            return self.send(address, OWN_USER_AGENT).await;
        }
        Ok(response)
    }

    async fn send(
        &mut self,
        address: &Url,
        agent: &'static str,
    ) -> Result<HttpResponse, ToolFailure> {
        let request = HttpRequest {
            address: address.clone(),
            headers: headers(self.format, agent),
            post: None,
            limit: MAX_BODY,
        };
        let begun = Instant::now();
        let answer = tokio::time::timeout(self.time, self.web.send(request)).await;
        self.time = self.time.saturating_sub(begun.elapsed());
        let answer = answer.map_err(|_| self.failed("it takes too long; try a larger timeout"))?;
        answer.map_err(|error| self.failed(&error.to_string()))
    }

    /// Returns the page of an answer. Fails if it cannot be read.
    fn accepted(&self, response: HttpResponse) -> Result<Page, ToolFailure> {
        if !response.status.is_success() {
            return Err(self.failed(&format!("the server answers {}", response.status)));
        }
        let content_type = response.headers.get(CONTENT_TYPE);
        let content_type = content_type.map(|value| String::from_utf8_lossy(value.as_bytes()));
        let content_type = content_type.unwrap_or_default().into_owned();
        if !media::is_text(&content_type) {
            let kind = media::essence(&content_type);
            return Err(self.failed(&format!("it is {kind}, which is no text")));
        }
        if response.headers.contains_key(CONTENT_ENCODING) {
            return Err(self.failed("it is compressed in a way that was not asked for"));
        }
        Ok(Page {
            content_type,
            body: response.body,
        })
    }

    fn failed(&self, reason: &str) -> ToolFailure {
        ToolFailure::new(format!("{}: {reason}", self.refused))
    }
}

/// Returns the target if the answer is a redirect. The inner `None` means that the target is not text.
fn redirect(response: &HttpResponse) -> Option<Option<&str>> {
    let is_redirect = matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let target = response.headers.get(LOCATION)?;
    is_redirect.then(|| target.to_str().ok())
}

/// True if the other address is on the same server. A change from HTTP to HTTPS is allowed.
fn is_same_site(one: &Url, other: &Url) -> bool {
    let way = |url: &Url| (url.scheme() == "https", url.port_or_known_default());
    let (from, to) = (way(one), way(other));
    let is_moved = (from, to) == ((false, Some(80)), (true, Some(443)));
    one.host() == other.host() && (from == to || is_moved)
}

/// Returns an address without the parts that do not change its destination: user name and password, the
/// fragment, and the dot after a full host name.
fn plain(address: &Url) -> String {
    let mut plain = address.clone();
    plain.set_fragment(None);
    // These calls do not fail for an address with a host. After a failure the part would stay
    // unchanged.
    let _ = plain.set_username("");
    let _ = plain.set_password(None);
    let name = address.domain().and_then(|name| name.strip_suffix('.'));
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        let _ = plain.set_host(Some(name));
    }
    with_plain_characters(plain.as_str())
}

/// Decodes the characters that mean the same with and without percent-encoding (RFC 3986, section 2.3).
fn with_plain_characters(address: &str) -> String {
    let mut parts = address.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        let is_unreserved = |code: &u8| code.is_ascii_alphanumeric() || b"-._~".contains(code);
        match code.filter(is_unreserved) {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[2..]);
            }
            None => {
                plain.push('%');
                plain.push_str(part);
            }
        }
    }
    plain
}

fn headers(format: Format, agent: &'static str) -> HeaderMap {
    let accept = match format {
        Format::Markdown => {
            "text/markdown, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1"
        }
        Format::Text => "text/plain, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
        Format::Html => {
            "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1"
        }
    };
    let headers = [
        (USER_AGENT, agent),
        (ACCEPT, accept),
        (ACCEPT_LANGUAGE, "en-US,en;q=0.9"),
    ];
    HeaderMap::from_iter(headers.map(|(name, value)| (name, HeaderValue::from_static(value))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_plain_form() {
        for (address, expected) in [
            ("http://u:p@a.example./%65vil#x", "http://a.example/evil"),
            ("http://a.example/%2e%2E/%7Ea", "http://a.example/~a"),
            ("http://a.example/a%2Fb%20c", "http://a.example/a%2Fb%20c"),
            ("http://a.example/?q=%41%", "http://a.example/?q=A%"),
            ("http://a.example/%e4%b8", "http://a.example/%e4%b8"),
        ] {
            assert_eq!(plain(&Url::parse(address).unwrap()), expected);
        }
    }
}
