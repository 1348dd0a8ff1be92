//! The Context Sources `core/instructions-remote/<hash>`: instructions behind an address, one source
//! for each.
//!
//! The first boundary that needs an address waits for its answer. Later boundaries use the last text and request a
//! newer one in the background, at most once a minute. A later boundary finds the newer text. A failure changes
//! nothing: the last text stays valid. An address is unavailable if this host never got a text of it. It is not
//! required, so no session waits until it becomes available. A session that an earlier host told of it keeps that
//! text.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_location::config::{Diagnostic, DiagnosticKind, InstructionEntry};
use opencode_location::secret::shown_address;
use opencode_net::Fetch;
use opencode_schema::clock::{Clock, Millis};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;
use url::Url;

/// Time limit for the complete answer of an address.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Minimum interval between two requests to an address, whatever the result was: a drain has a boundary
/// every few seconds, and remote servers must not receive a request at each one.
const ASK_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum size of a text in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Maximum number of addresses of one Location. Further addresses are not requested.
const MAX_ADDRESSES: usize = 32;

/// Number of addresses above which a host forgets those that are not in use.
const MAX_TEXTS: usize = 256;

const NAME: &str = "Remote instructions";

/// The texts of a host by address.
pub(super) struct RemoteTexts {
    access: Arc<Access>,
    texts: Mutex<HashMap<Url, Arc<RemoteText>>>,
}

/// The shared dependencies of all requests.
struct Access {
    fetch: Arc<dyn Fetch>,
    clock: Arc<dyn Clock>,
    /// Cancels background requests.
    closing: CancellationToken,
}

/// The state of an address.
struct RemoteText {
    address: Url,
    access: Arc<Access>,
    /// Set once the first request has ended. Boundaries that need the address before then wait.
    asked: OnceCell<()>,
    last: Mutex<Last>,
    /// Has one permit, so that only one background request runs.
    asking: Arc<Semaphore>,
}

/// The result of the latest requests.
#[derive(Default)]
struct Last {
    /// The last text that was received.
    text: Option<Arc<str>>,
    /// The reason that the last attempt failed. `None` if it succeeded.
    failure: Option<String>,
    /// Time at which the last attempt ended.
    at: Millis,
}

impl RemoteTexts {
    pub(super) fn new(
        fetch: Arc<dyn Fetch>,
        clock: Arc<dyn Clock>,
        closing: CancellationToken,
    ) -> Self {
        let access = Access {
            fetch,
            clock,
            closing,
        };
        Self {
            access: Arc::new(access),
            texts: Mutex::default(),
        }
    }

    /// Returns the sources of the addresses in these entries, in their order and without duplicates.
    pub(super) fn sources(&self, entries: &[InstructionEntry]) -> Vec<RemoteInstructions> {
        let asked = addresses(entries).take(MAX_ADDRESSES);
        let each = asked.map(|address| RemoteInstructions {
            key: key(&address),
            text: self.text(address),
        });
        each.collect()
    }

    /// Returns the problems of the addresses in these entries: all that failed at their last request, and
    /// the first one beyond the limit.
    pub(super) fn diagnostics(&self, entries: &[InstructionEntry]) -> Vec<Diagnostic> {
        let texts = self.texts.lock();
        let failed = |address: Url| {
            let failure = texts.get(&address)?.last.lock().failure.clone()?;
            let message =
                format!("The instructions behind this address cannot be loaded: {failure}");
            Some(diagnostic(&address, DiagnosticKind::Io, message))
        };
        let beyond = |address: Url| {
            let message = format!(
                "This address has no effect, nor have those that follow: at most {MAX_ADDRESSES} of instructions are asked"
            );
            diagnostic(&address, DiagnosticKind::Ignored, message)
        };
        let mut addresses = addresses(entries);
        let asked = addresses.by_ref().take(MAX_ADDRESSES);
        let mut diagnostics: Vec<_> = asked.filter_map(failed).collect();
        diagnostics.extend(addresses.next().map(beyond));
        diagnostics
    }

    fn text(&self, address: Url) -> Arc<RemoteText> {
        let mut texts = self.texts.lock();
        if texts.len() >= MAX_TEXTS && !texts.contains_key(&address) {
            texts.retain(|_, text| Arc::strong_count(text) > 1);
        }
        let new = || {
            Arc::new(RemoteText {
                address: address.clone(),
                access: Arc::clone(&self.access),
                asked: OnceCell::new(),
                last: Mutex::default(),
                asking: Arc::new(Semaphore::new(1)),
            })
        };
        Arc::clone(texts.entry(address.clone()).or_insert_with(new))
    }
}

impl RemoteText {
    /// Requests the text and stores the result.
    async fn request(&self) {
        let asking = self.access.fetch.fetch(self.address.clone(), MAX_BYTES);
        let answer = match tokio::time::timeout(TIMEOUT, asking).await {
            Ok(Ok(body)) => text_of(body),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} seconds", TIMEOUT.as_secs())),
        };
        let mut last = self.last.lock();
        last.at = self.access.clock.now();
        match answer {
            Ok(text) => {
                last.text = Some(text);
                last.failure = None;
            }
            Err(failure) => {
                let address = shown_address(&self.address);
                tracing::warn!(address, "remote instructions cannot be loaded: {failure}");
                last.failure = Some(failure);
            }
        }
    }

    /// Starts a background request, unless one is running or ended within the last minute.
    fn refresh(self: &Arc<Self>) {
        if !self.is_due() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.asking).try_acquire_owned() else {
            return;
        };
        let text = Arc::clone(self);
        opencode_log::spawn(async move {
            let closing = &text.access.closing;
            closing.run_until_cancelled(text.request()).await;
            drop(permit);
        });
    }

    /// True if the interval has passed. The absolute difference also works if the clock was set back.
    fn is_due(&self) -> bool {
        let since = self.access.clock.now().abs_diff(self.last.lock().at);
        Duration::from_millis(since) >= ASK_INTERVAL
    }
}

/// The instructions behind one address.
pub(super) struct RemoteInstructions {
    key: String,
    text: Arc<RemoteText>,
}

/// The stored value.
#[derive(Serialize, Deserialize)]
struct StoredText<'a> {
    url: String,
    content: &'a str,
}

impl RemoteInstructions {
    fn last(&self) -> Observation {
        let last = self.text.last.lock();
        match (&last.text, &last.failure) {
            (Some(content), _) => Observation::Present(json!(StoredText {
                url: shown_address(&self.text.address),
                content,
            })),
            (None, failure) => Observation::Unavailable(failure.clone().unwrap_or_default()),
        }
    }
}

impl Source for RemoteInstructions {
    fn key(&self) -> &str {
        &self.key
    }

    fn is_required(&self) -> bool {
        false
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        async {
            if self.text.asked.initialized() {
                self.text.refresh();
            } else {
                self.text.asked.get_or_init(|| self.text.request()).await;
            }
            self.last()
        }
        .boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        StoredText::deserialize(value).is_ok()
    }

    fn baseline(&self, value: &Value) -> String {
        let stored = StoredText::deserialize(value);
        stored
            .map(|stored| format!("{NAME} ({}):\n{}", stored.url, stored.content))
            .unwrap_or_default()
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        let shown = shown_address(&self.text.address);
        format!(
            "{NAME} ({shown}): what follows replaces everything told under this title before.\n\n{}",
            self.baseline(current)
        )
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        let shown = shown_address(&self.text.address);
        Some(format!(
            "{NAME} ({shown}): nothing told under this title before applies any more."
        ))
    }
}

/// Returns the addresses in these entries, without duplicates.
fn addresses(entries: &[InstructionEntry]) -> impl Iterator<Item = Url> {
    let mut seen = HashSet::new();
    let addresses = entries.iter().filter_map(InstructionEntry::address);
    addresses.filter(move |address| seen.insert(address.clone()))
}

fn diagnostic(address: &Url, kind: DiagnosticKind, message: String) -> Diagnostic {
    Diagnostic {
        path: shown_address(address),
        kind,
        message,
        line: None,
        column: None,
    }
}

/// Returns the source key. It contains a hash, because the address may contain a secret.
fn key(address: &Url) -> String {
    let hash = Sha1::digest(address.as_str());
    format!("core/instructions-remote/{hash:x}")
}

fn text_of(body: Vec<u8>) -> Result<Arc<str>, String> {
    if body.len() > MAX_BYTES {
        return Err(format!("the text is larger than {MAX_BYTES} bytes"));
    }
    let text = String::from_utf8(body).map_err(|_| "the answer is not UTF-8 text".to_owned())?;
    Ok(text.into())
}
