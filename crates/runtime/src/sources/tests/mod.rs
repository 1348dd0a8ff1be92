//! Texts that a session is told at successive boundaries.

mod files;
mod guidance;
mod remote;

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observed, Reconciled, Replaced, Snapshot};
use opencode_location::location::{Locations, Trust};
use opencode_net::DownloadError;
use opencode_schema::id::{IdSource, SessionID};
use opencode_testkit::{FakeClock, Gate, TempProject};
use serde_json::{Value, json};
use url::Url;

use super::*;

/// A session at a Location, without a Session Drain.
struct World {
    project: TempProject,
    clock: Arc<FakeClock>,
    web: Web,
    closing: CancellationToken,
    sources: Sources,
    location: Arc<Location>,
    agent: String,
    model: ModelRef,
    nested: Vec<PathBuf>,
    /// The knowledge of the model. `None` before the first boundary.
    known: Option<Snapshot>,
}

impl World {
    /// Creates a session in the project's folder. The `.git` folder makes it a separate project.
    async fn new(config: Value) -> Self {
        let project = TempProject::new();
        project.write(".git/HEAD", "");
        std::fs::create_dir_all(project.environment().config).unwrap();
        let (clock, web) = (Arc::new(FakeClock::default()), Web::default());
        let environment = Arc::new(project.environment());
        let closing = CancellationToken::new();
        let sources = Sources::new(
            Arc::clone(&environment),
            Arc::clone(&clock) as Arc<dyn Clock>,
            Arc::new(web.clone()),
            Arc::new(Announcer::new(
                Arc::new(IdSource::new(Arc::clone(&clock) as Arc<dyn Clock>)),
                Arc::clone(&clock) as Arc<dyn Clock>,
                crate::redaction::Redaction::default(),
            )),
            closing.clone(),
        );
        let location = open(&project, config).await;
        Self {
            project,
            clock,
            web,
            closing,
            sources,
            location,
            agent: "build".to_owned(),
            model: model("m1"),
            nested: Vec::new(),
            known: None,
        }
    }

    /// Opens the Location again with another configuration.
    async fn configure(&mut self, config: Value) {
        self.location = open(&self.project, config).await;
    }

    fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.project.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn remove(&self, below: &str) {
        std::fs::remove_file(self.project.path(below)).unwrap();
    }

    async fn observe(&self) -> Observed {
        let session = SessionID::parse("ses_1").unwrap();
        let turn = Turn {
            location: &self.location,
            session: ObservedSession {
                id: &session,
                agent: &self.agent,
                directory: &self.location.directory,
                snapshot: None,
            },
            agent: self.location.agents.get(&self.agent),
            permission: &[],
            model: &self.model,
            nested: &self.nested,
            mcp_instructions: BTreeMap::new(),
        };
        self.sources.compose(turn).unwrap().observe().await
    }

    /// Returns the text that the model is told at the next boundary: first the baseline, then changes.
    /// Empty if there is none.
    async fn update(&mut self) -> String {
        let observed = self.observe().await;
        let text = match &self.known {
            None => match observed.initialize() {
                Ok(baseline) => {
                    self.known = Some(baseline.snapshot);
                    baseline.text
                }
                Err(blocked) => format!("blocked: {blocked}"),
            },
            Some(known) => match observed.reconcile(known) {
                Reconciled::Unchanged => String::new(),
                Reconciled::Updated { text, snapshot } => {
                    self.known = Some(snapshot);
                    text
                }
                other => panic!("nothing here replaces a baseline: {other:?}"),
            },
        };
        self.shown(&text)
    }

    /// Returns the baseline after a compaction.
    async fn replaced(&self) -> String {
        let observed = self.observe().await;
        match observed.replace(self.known.as_ref().unwrap()) {
            Replaced::Ready(baseline) => self.shown(&baseline.text),
            Replaced::Blocked { unavailable } => {
                let each: Vec<_> = unavailable.iter().map(ToString::to_string).collect();
                self.shown(&format!("blocked: {}", each.join("; ")))
            }
        }
    }

    /// Returns the text with `~` for the folder around the project.
    fn shown(&self, text: &str) -> String {
        text.replace(self.project.root().to_str().unwrap(), "~")
    }
}

async fn open(project: &TempProject, config: Value) -> Arc<Location> {
    let locations =
        Locations::new(Arc::new(project.environment()), Some(config)).with_trust(Trust::Always);
    locations.get(&project.directory()).await.unwrap()
}

fn model(id: &str) -> ModelRef {
    ModelRef {
        id: id.to_owned(),
        provider_id: "mock".to_owned(),
        variant: None,
    }
}

/// Returns a baseline with the parts that every test has.
fn always(between: &str) -> String {
    let platform = environment::platform();
    format!(
        "Facts about the environment you work in:\n<env>\n  Working directory: ~/project\n  Workspace root folder: ~/project\n  Is a git repository: yes\n  Platform: {platform}\n</env>\n\nToday is Fri Nov 20 2026.\n\n{between}{NO_SKILLS}\n\nYou are the model m1 of the provider mock."
    )
}

const NO_SKILLS: &str = "Skills are instructions for certain kinds of work. When the task at hand is one that a skill describes, load it with the skill tool before you begin.\nNo skill is available at the moment.";

/// The answers of addresses.
#[derive(Clone, Default)]
struct Web(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    answers: HashMap<String, Result<Vec<u8>, DownloadError>>,
    gates: HashMap<String, Gate>,
    asked: Vec<String>,
}

impl Web {
    fn say(&self, address: &str, text: &str) {
        self.answer(address, Ok(text.into()));
    }

    fn answer(&self, address: &str, answer: Result<Vec<u8>, &str>) {
        let answer = answer.map_err(|message| DownloadError(message.to_owned()));
        self.pages().answers.insert(address.to_owned(), answer);
    }

    /// Holds the answer of an address until the gate is open.
    fn hold(&self, address: &str) -> Gate {
        let gate = Gate::new();
        self.pages().gates.insert(address.to_owned(), gate.clone());
        gate
    }

    fn asked(&self) -> Vec<String> {
        self.pages().asked.clone()
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for Web {
    fn fetch(&self, address: Url, _: usize) -> BoxFuture<'static, Result<Vec<u8>, DownloadError>> {
        let (web, address) = (self.clone(), String::from(address));
        async move {
            let gate = {
                let mut pages = web.pages();
                pages.asked.push(address.clone());
                pages.gates.get(&address).cloned()
            };
            if let Some(gate) = gate {
                gate.pass().await;
            }
            web.pages().answers[&address].clone()
        }
        .boxed()
    }
}

#[tokio::test]
async fn all_sources_are_reported_in_order() {
    let mut world = World::new(json!({
        "instructions": ["rules/*.md", "https://example.com/rules.md?token=secret"],
        "references": { "docs": { "path": "~/docs", "description": "How <it> works" } },
    }))
    .await;
    let environment = world.project.environment();
    std::fs::write(environment.config.join("AGENTS.md"), "Be brief.").unwrap();
    world.write("AGENTS.md", "Use tabs.\n");
    world.write("rules/a.md", "Test first.");
    world.write("src/AGENTS.md", "No globals.");
    world.write(
        ".opencode/skills/release/SKILL.md",
        "---\nname: release\ndescription: Cut & publish\n---\nbody",
    );
    world.nested = vec![world.project.path("src")];
    let address = "https://example.com/rules.md?token=secret";
    world.web.say(address, "Sign your commits.");
    world
        .configure(json!({
            "instructions": [world.project.path("rules/*.md"), address],
            "references": { "docs": { "path": "~/docs", "description": "How <it> works" } },
        }))
        .await;
    let skills = "Skills are instructions for certain kinds of work. When the task at hand is one that a skill describes, load it with the skill tool before you begin.\n<available_skills>\n  <skill>\n    <name>release</name>\n    <description>Cut &amp; publish</description>\n  </skill>\n</available_skills>";
    let references = "Besides the workspace there are other directories. Look into one when what it holds matters to the task.\n<available_references>\n  <reference>\n    <name>docs</name>\n    <path>~/home/docs</path>\n    <description>How &lt;it&gt; works</description>\n  </reference>\n</available_references>";
    let files = "General instructions (~/config/AGENTS.md):\nBe brief.\n\nGeneral instructions (~/project/AGENTS.md):\nUse tabs.\n\n\nConfigured instructions (~/project/rules/a.md):\nTest first.\n\nRemote instructions (https://example.com/rules.md):\nSign your commits.\n\nInstructions for a directory and what lies below it (~/project/src/AGENTS.md):\nNo globals.\n\n";
    let expected = always(files).replace(NO_SKILLS, &format!("{skills}\n\n{references}"));
    assert_eq!(world.update().await, expected);
    assert_eq!(world.update().await, "");
}
