//! The Context Sources `core/instructions-remote/<hash>`: instructions behind an address, one source
//! for each.
//!
//! The first boundary that needs an address waits for it. From then on a boundary takes the last
//! text that could be had and asks for a newer one in the background, which a later boundary finds.
//! A failure changes nothing: the last text holds. An address that this host never had a text of is
//! unavailable; it is not required, so nobody waits for it to come up, but a session that was told of
//! it, by an earlier host, keeps what it was told.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_location::config::{Diagnostic, DiagnosticKind, InstructionEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use tokio::sync::{OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::fetch::Fetch;

/// How long an address may take to answer completely.
const PATIENCE: Duration = Duration::from_secs(5);

/// Largest text, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Addresses of one Location. Those beyond are not asked.
const MAX_ADDRESSES: usize = 32;

/// Addresses that a host remembers. Beyond that it forgets those that nobody uses at the moment.
const MAX_TEXTS: usize = 256;

const NAME: &str = "Remote instructions";

/// The texts of a host by address.
pub(super) struct RemoteTexts {
    fetch: Arc<dyn Fetch>,
    texts: Mutex<HashMap<Url, Arc<RemoteText>>>,
    /// Ends what runs in the background.
    closing: CancellationToken,
}

/// What is known of an address.
struct RemoteText {
    address: Url,
    fetch: Arc<dyn Fetch>,
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
}

impl RemoteTexts {
    pub(super) fn new(fetch: Arc<dyn Fetch>, closing: CancellationToken) -> Self {
        Self {
            fetch,
            texts: Mutex::default(),
            closing,
        }
    }

    /// The sources of the addresses among these entries, in their order, each once.
    pub(super) fn sources(
        &self,
        entries: &[InstructionEntry],
        with_project: bool,
    ) -> Vec<RemoteInstructions> {
        let each = addresses(entries, with_project).map(|address| RemoteInstructions {
            key: key(&address),
            text: self.text(address),
            closing: self.closing.clone(),
        });
        each.collect()
    }

    /// What is wrong with the addresses among these entries that were asked.
    pub(super) fn diagnostics(
        &self,
        entries: &[InstructionEntry],
        with_project: bool,
    ) -> Vec<Diagnostic> {
        let texts = self.lock();
        let failed = addresses(entries, with_project).filter_map(|address| {
            let failure = texts.get(&address)?.lock().failure.clone()?;
            Some(Diagnostic {
                path: shown(&address),
                kind: DiagnosticKind::Io,
                message: format!(
                    "The instructions behind this address cannot be loaded: {failure}"
                ),
                line: None,
                column: None,
            })
        });
        failed.collect()
    }

    fn text(&self, address: Url) -> Arc<RemoteText> {
        let mut texts = self.lock();
        if texts.len() >= MAX_TEXTS && !texts.contains_key(&address) {
            texts.retain(|_, text| Arc::strong_count(text) > 1);
        }
        let new = || {
            Arc::new(RemoteText {
                address: address.clone(),
                fetch: Arc::clone(&self.fetch),
                asked: OnceCell::new(),
                last: Mutex::default(),
                asking: Arc::new(Semaphore::new(1)),
            })
        };
        Arc::clone(texts.entry(address.clone()).or_insert_with(new))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Url, Arc<RemoteText>>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteText {
    /// Asks once and notes how that went.
    async fn ask(&self) {
        let asking = self.fetch.fetch(self.address.clone(), MAX_BYTES);
        let answer = match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(body)) => text_of(body),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
        };
        let mut last = self.lock();
        match answer {
            Ok(text) => {
                *last = Last {
                    text: Some(text),
                    failure: None,
                };
            }
            Err(failure) => {
                let address = shown(&self.address);
                tracing::warn!(address, "remote instructions cannot be loaded: {failure}");
                last.failure = Some(failure);
            }
        }
    }

    /// Asks in the background, unless that is under way.
    fn ask_again(self: &Arc<Self>, closing: &CancellationToken) {
        let Ok(permit) = Arc::clone(&self.asking).try_acquire_owned() else {
            return;
        };
        let (text, closing) = (Arc::clone(self), closing.clone());
        tokio::spawn(async move {
            closing.run_until_cancelled(text.ask()).await;
            drop(permit);
        });
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The instructions behind one address.
pub(super) struct RemoteInstructions {
    key: String,
    text: Arc<RemoteText>,
    closing: CancellationToken,
}

/// What is stored of them.
#[derive(Serialize, Deserialize)]
struct Told<'a> {
    url: String,
    content: &'a str,
}

impl RemoteInstructions {
    fn last(&self) -> Observation {
        let last = self.text.lock();
        match (&last.text, &last.failure) {
            (Some(content), _) => Observation::Present(json!(Told {
                url: shown(&self.text.address),
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
                self.text.ask_again(&self.closing);
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
        let shown = shown(&self.text.address);
        format!(
            "{NAME} ({shown}): what follows replaces everything told under this title before.\n\n{}",
            self.baseline(current)
        )
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        let shown = shown(&self.text.address);
        Some(format!(
            "{NAME} ({shown}): nothing told under this title before applies any more."
        ))
    }
}

/// The addresses that count, each once.
fn addresses(entries: &[InstructionEntry], with_project: bool) -> impl Iterator<Item = Url> {
    let mut seen = HashSet::new();
    let counting = entries
        .iter()
        .filter(move |it| with_project || !it.from_project);
    let addresses = counting.filter_map(InstructionEntry::address);
    addresses
        .filter(move |address| seen.insert(address.clone()))
        .take(MAX_ADDRESSES)
}

/// The address may hold a secret, so it is no part of the key.
fn key(address: &Url) -> String {
    let hash = Sha1::digest(address.as_str());
    format!("core/instructions-remote/{hash:x}")
}

/// The address without what may be secret in it.
fn shown(address: &Url) -> String {
    let mut shown = address.clone();
    // Addresses of the web have a host and take both.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

fn text_of(body: Vec<u8>) -> Result<Arc<str>, String> {
    if body.len() > MAX_BYTES {
        return Err(format!("the text is larger than {MAX_BYTES} bytes"));
    }
    let text = String::from_utf8(body).map_err(|_| "the answer is not UTF-8 text".to_owned())?;
    Ok(text.into())
}
