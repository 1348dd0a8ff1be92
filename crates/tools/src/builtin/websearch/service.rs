//! The requests to the services and their answers: one call of a remote tool, as JSON-RPC.

use std::time::Duration;

use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use opencode_net::{HttpRequest, HttpResponse};
use opencode_schema::id::SessionID;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{WebSearch, WebSearchInput, members};
use crate::ports::search::SearchProvider;

const TIMEOUT: Duration = Duration::from_secs(25);

/// Maximum size of an answer in bytes.
const MAX_BODY: usize = 256 * 1024;

impl WebSearch {
    /// Returns the text that the service found, if any. An error is a part of a sentence. It never contains
    /// the error text of the service, which could repeat the key.
    pub(super) async fn search(
        &self,
        provider: SearchProvider,
        input: &WebSearchInput,
        session: &SessionID,
    ) -> Result<Option<String>, String> {
        let name = provider.name();
        let request = self.request(provider, input, session)?;
        let answer = tokio::time::timeout(TIMEOUT, self.web.send(request)).await;
        let answer = answer
            .map_err(|_| format!("{name} takes longer than {} seconds", TIMEOUT.as_secs()))?
            .map_err(|error| format!("{name} cannot be asked, {error}"))?;
        if !answer.status.is_success() {
            return Err(format!("{name} answers {}", answer.status));
        }
        found(&answer).ok_or_else(|| format!("{name} does not answer as it should"))
    }

    fn request(
        &self,
        provider: SearchProvider,
        input: &WebSearchInput,
        session: &SessionID,
    ) -> Result<HttpRequest, String> {
        let service = self.services.get(provider);
        let mut address = service.address.clone();
        let mut headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (
                ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            ),
        ]);
        let (tool, arguments) = match provider {
            SearchProvider::Exa => ("web_search_exa", for_exa(input)),
            SearchProvider::Parallel => (
                "web_search",
                json!({
                    "objective": input.query,
                    "search_queries": [input.query],
                    "session_id": session,
                }),
            ),
        };
        match (provider, &service.key) {
            (SearchProvider::Exa, Some(key)) => {
                address.query_pairs_mut().append_pair("exaApiKey", key);
            }
            (SearchProvider::Parallel, Some(key)) => {
                let value = HeaderValue::from_str(&format!("Bearer {key}"));
                let mut value =
                    value.map_err(|_| "PARALLEL_API_KEY is no text that can be sent".to_owned())?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            (_, None) => {}
        }
        let call = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        });
        Ok(HttpRequest {
            address,
            headers,
            post: Some(call.to_string().into_bytes()),
            limit: MAX_BODY,
        })
    }
}

fn for_exa(input: &WebSearchInput) -> Value {
    let mut arguments = json!({
        "query": input.query,
        "type": "auto",
        "numResults": 8,
        "livecrawl": "fallback",
    });
    for (name, value) in members(input) {
        arguments[name] = value;
    }
    arguments
}

/// The answer to a call.
#[derive(Deserialize)]
struct Reply {
    result: Outcome,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    #[serde(default)]
    content: Vec<Part>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Part {
    r#type: String,
    text: Option<String>,
}

/// Returns the first text of an answer, which is JSON or an event stream. Returns the outer `None` if
/// the answer is neither or reports an error.
fn found(answer: &HttpResponse) -> Option<Option<String>> {
    let body = String::from_utf8_lossy(&answer.body);
    let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let reply = std::iter::once(&*body)
        .chain(events)
        .find_map(|text| serde_json::from_str::<Reply>(text).ok())?;
    if reply.result.is_error {
        return None;
    }
    let texts = reply.result.content.into_iter().filter_map(|part| {
        let text = part.text.filter(|_| part.r#type == "text");
        text.filter(|text| !text.trim().is_empty())
    });
    Some(texts.into_iter().next())
}
