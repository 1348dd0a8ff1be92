//! Addresses whose answers a test decides.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::{Fetch, FetchError};
use url::Url;

use crate::gate::Gate;

/// What stands behind an address.
type Answer = Result<Vec<u8>, FetchError>;

/// Answers as a test says; nothing is behind any other address. Clones share what they say.
#[derive(Clone, Default)]
pub struct ScriptedFetch {
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    answers: HashMap<String, Answer>,
    gates: HashMap<String, Gate>,
    asked: Vec<String>,
}

impl ScriptedFetch {
    /// From now on the address answers with this text.
    pub fn answer(&self, address: &str, body: impl Into<Vec<u8>>) {
        self.lock().answers.insert(address.into(), Ok(body.into()));
    }

    /// From now on the address fails like this.
    pub fn fail(&self, address: &str, message: &str) {
        let failure = Err(FetchError(message.to_owned()));
        self.lock().answers.insert(address.into(), failure);
    }

    /// From now on the address answers when the gate is open.
    pub fn hold(&self, address: &str, gate: &Gate) {
        self.lock().gates.insert(address.into(), gate.clone());
    }

    /// Every address that was asked, in order.
    pub fn asked(&self) -> Vec<String> {
        self.lock().asked.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for ScriptedFetch {
    fn fetch(&self, address: Url, _limit: usize) -> BoxFuture<'static, Answer> {
        let (script, address) = (self.clone(), String::from(address));
        async move {
            let gate = {
                let mut script = script.lock();
                script.asked.push(address.clone());
                script.gates.get(&address).cloned()
            };
            if let Some(gate) = gate {
                gate.pass().await;
            }
            let answer = script.lock().answers.get(&address).cloned();
            answer.unwrap_or_else(|| Err(FetchError("there is nothing".to_owned())))
        }
        .boxed()
    }
}
