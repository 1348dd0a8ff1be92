//! The Context Sources `core/instructions-remote/<hash>`: instructions behind an address, one source
//! for each.
//!
//! The first boundary that needs an address waits for it. From then on a boundary takes the last
//! text that could be had and, once a minute, asks for a newer one in the background, which a later
//! boundary finds.
//! A failure changes nothing: the last text holds. An address that this host never had a text of is
//! unavailable; it is not required, so nobody waits for it to come up, but a session that was told of
//! it, by an earlier host, keeps what it was told.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_location::config::{Diagnostic, DiagnosticKind, InstructionEntry};
use opencode_location::secret::shown_address;
use opencode_schema::clock::{Clock, Millis};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::fetch::Fetch;

/// How long an address may take to answer completely.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long an address is left alone once it was asked, however it answered: a drain has a boundary
/// every few seconds, and the servers of others are not there to be asked each time.
const ASK_INTERVAL: Duration = Duration::from_secs(60);

/// Largest text, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Addresses of one Location. Those beyond are not asked.
const MAX_ADDRESSES: usize = 32;

/// Addresses that a host remembers. Beyond that it forgets those that nobody uses at the moment.
const MAX_TEXTS: usize = 256;

const NAME: &str = "Remote instructions";

/// The texts of a host by address.
pub(super) struct RemoteTexts {
    access: Arc<Access>,
    texts: Mutex<HashMap<Url, Arc<RemoteText>>>,
}

/// What asking takes.
struct Access {
    fetch: Arc<dyn Fetch>,
    clock: Arc<dyn Clock>,
    /// Ends what runs in the background.
    closing: CancellationToken,
}

/// What is known of an address.
struct RemoteText {
    address: Url,
    access: Arc<Access>,
    /// Whether it was asked once. Whoever needs it before then waits.
    asked: OnceCell<()>,
    last: Mutex<Last>,
    /// Who asks in the background; one does.
    asking: Arc<Semaphore>,
}

/// How asking went.
#[derive(Default)]
struct Last {
    /// The last text that could be had.
    text: Option<Arc<str>>,
    /// Why the last attempt failed; none when it succeeded.
    failure: Option<String>,
    /// When the last attempt ended.
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

    /// The sources of the addresses among these entries, in their order, each once.
    pub(super) fn sources(&self, entries: &[InstructionEntry]) -> Vec<RemoteInstructions> {
        let asked = addresses(entries).take(MAX_ADDRESSES);
        let each = asked.map(|address| RemoteInstructions {
            key: key(&address),
            text: self.text(address),
        });
        each.collect()
    }

    /// What is wrong with the addresses among these entries: those that failed when they were asked,
    /// and the first one that never is.
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
    /// Asks once and notes how that went.
    async fn ask(&self) {
        let asking = self.access.fetch.fetch(self.address.clone(), MAX_BYTES);
        let answer = match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(body)) => text_of(body),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
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

    /// Asks in the background, unless that is under way or was done a moment ago.
    fn ask_again(self: &Arc<Self>) {
        if !self.is_due() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.asking).try_acquire_owned() else {
            return;
        };
        let text = Arc::clone(self);
        opencode_log::spawn(async move {
            let closing = &text.access.closing;
            closing.run_until_cancelled(text.ask()).await;
            drop(permit);
        });
    }

    /// A clock that was set back does not keep an address from being asked.
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

/// What is stored of them.
#[derive(Serialize, Deserialize)]
struct Told<'a> {
    url: String,
    content: &'a str,
}

impl RemoteInstructions {
    fn last(&self) -> Observation {
        let last = self.text.last.lock();
        match (&last.text, &last.failure) {
            (Some(content), _) => Observation::Present(json!(Told {
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
                self.text.ask_again();
            } else {
                self.text.asked.get_or_init(|| self.text.ask()).await;
            }
            self.last()
        }
        .boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        Told::deserialize(value).is_ok()
    }

    fn baseline(&self, value: &Value) -> String {
        let told = Told::deserialize(value);
        told.map(|told| format!("{NAME} ({}):\n{}", told.url, told.content))
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

/// The addresses among these entries, each once.
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

/// The address may hold a secret, so it is no part of the key.
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
