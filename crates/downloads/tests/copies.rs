//! Copies of repositories and skills, with a real Git server and scripted addresses.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test needs no log, and a test that cannot go on has failed"
)]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_downloads::{Copy, Downloads, Origin};
use opencode_net::{DownloadError, Fetch};
use opencode_schema::clock::Clock;
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Clocks of tests stand still until the test moves them.
#[derive(Default)]
struct Still(AtomicI64);

impl Clock for Still {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Serves texts by address, and reports each request.
struct Web {
    texts: Mutex<HashMap<String, String>>,
    requests: Mutex<Vec<String>>,
}

impl Fetch for Web {
    fn fetch(&self, address: Url, _: usize) -> BoxFuture<'static, Result<Vec<u8>, DownloadError>> {
        self.requests.lock().push(address.to_string());
        let text = self.texts.lock().get(address.as_str()).cloned();
        let answer = text.map(String::into_bytes);
        futures::future::ready(answer.ok_or_else(|| DownloadError("there is nothing".to_owned())))
            .boxed()
    }
}

struct Setup {
    folder: TempDir,
    clock: Arc<Still>,
    web: Arc<Web>,
    /// Number of directories that were replaced.
    changes: Arc<Mutex<usize>>,
    downloads: Downloads,
}

impl Setup {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Still::default());
        let web = Arc::new(Web {
            texts: Mutex::default(),
            requests: Mutex::default(),
        });
        let changes = Arc::new(Mutex::new(0));
        let path = std::env::var("PATH").unwrap();
        let home = folder.path().display().to_string();
        let variables = [("PATH", path), ("HOME", home)];
        let downloads = Downloads::new(
            Arc::clone(&web) as Arc<dyn Fetch>,
            Arc::clone(&clock) as Arc<dyn Clock>,
            BTreeMap::from(variables.map(|(name, value)| (name.to_owned(), value))),
            {
                let changes = Arc::clone(&changes);
                move |_| *changes.lock() += 1
            },
            CancellationToken::new(),
        );
        Self {
            folder,
            clock,
            web,
            changes,
            downloads,
        }
    }

    /// Requests a copy, and waits until its attempt has ended.
    async fn attempt(&self, copy: &Copy) -> Option<String> {
        self.clock.0.fetch_add(60 * 60 * 1000, Ordering::SeqCst);
        let mut ended = self.downloads.ended();
        self.downloads.keep(copy);
        ended.changed().await.unwrap();
        self.downloads.failure(copy)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.path(file)).ok()
    }

    /// The names in the folder of unfinished copies.
    fn unfinished(&self) -> usize {
        let entries = std::fs::read_dir(self.path("work")).into_iter().flatten();
        let names = entries.map(|it| it.unwrap().file_name());
        names
            .filter(|it| it.to_string_lossy().starts_with(".part-"))
            .count()
    }
}

fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "git {arguments:?}");
}

fn commit(directory: &Path, content: &str) {
    std::fs::write(directory.join("a.txt"), content).unwrap();
    git(directory, &["add", "."]);
    git(directory, &["commit", "-m", content]);
}

/// A repository with one commit.
fn repository(setup: &Setup) -> PathBuf {
    let directory = setup.path("origin");
    std::fs::create_dir(&directory).unwrap();
    git(&directory, &["init"]);
    commit(&directory, "one");
    directory
}

/// Serves a repository with the protocol of `git://`. Reports each connection.
async fn serve(repository: PathBuf) -> (String, mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("git://{}/owner/name", listener.local_addr().unwrap());
    let (connected, connections) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = connected.send(());
            tokio::spawn(upload(stream, repository.clone()));
        }
    });
    (address, connections)
}

async fn upload(mut stream: TcpStream, repository: PathBuf) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.unwrap();
    let length = usize::from_str_radix(std::str::from_utf8(&length).unwrap(), 16).unwrap();
    stream.read_exact(&mut vec![0; length - 4]).await.unwrap();
    let child = tokio::process::Command::new("git")
        .arg("upload-pack")
        .arg(repository)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let mut child = child.unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut from, mut to) = stream.into_split();
    let sending = tokio::io::copy(&mut output, &mut to);
    let receiving = tokio::io::copy(&mut from, &mut input);
    tokio::select! {
        _ = sending => {}
        _ = async { let _ = receiving.await; std::future::pending::<()>().await } => {}
    }
    let _ = to.shutdown().await;
}

fn clone_of(setup: &Setup, address: &str, branch: Option<&str>) -> Copy {
    Copy {
        origin: Origin::Repository {
            address: address.to_owned(),
            branch: branch.map(str::to_owned),
        },
        directory: setup.path("repos/h/owner/name"),
        work: setup.path("work"),
    }
}

#[tokio::test]
async fn a_repository_is_cloned_and_follows_its_branch() {
    let setup = Setup::new();
    let origin = repository(&setup);
    let (address, mut connections) = serve(origin.clone()).await;
    let copy = clone_of(&setup, &address, None);
    assert_eq!(setup.attempt(&copy).await, None);
    let file = "repos/h/owner/name/a.txt";
    assert_eq!(setup.read(file).as_deref(), Some("one"));
    // Without a new commit, only the list of references is read.
    while connections.try_recv().is_ok() {}
    assert_eq!(setup.attempt(&copy).await, None);
    assert!(connections.try_recv().is_ok() && connections.try_recv().is_err());
    commit(&origin, "two");
    assert_eq!(setup.attempt(&copy).await, None);
    assert_eq!(setup.read(file).as_deref(), Some("two"));
    assert_eq!(*setup.changes.lock(), 2);
    assert_eq!(setup.unfinished(), 0);
}

#[tokio::test]
async fn a_failed_update_keeps_the_clone() {
    let setup = Setup::new();
    let origin = repository(&setup);
    let (address, _connections) = serve(origin.clone()).await;
    let copy = clone_of(&setup, &address, None);
    assert_eq!(setup.attempt(&copy).await, None);
    std::fs::rename(&origin, setup.path("moved")).unwrap();
    assert!(setup.attempt(&copy).await.is_some());
    assert_eq!(
        setup.read("repos/h/owner/name/a.txt").as_deref(),
        Some("one")
    );
}

#[tokio::test]
async fn a_branch_that_does_not_exist_is_a_failure() {
    let setup = Setup::new();
    let (address, _connections) = serve(repository(&setup)).await;
    let copy = clone_of(&setup, &address, Some("absent"));
    assert!(setup.attempt(&copy).await.is_some());
    assert!(!copy.directory.exists());
    assert_eq!(setup.unfinished(), 0);
}

#[tokio::test]
async fn a_directory_that_the_host_did_not_clone_stays() {
    let setup = Setup::new();
    let (address, mut connections) = serve(repository(&setup)).await;
    let copy = clone_of(&setup, &address, None);
    std::fs::create_dir_all(&copy.directory).unwrap();
    std::fs::write(copy.directory.join("mine"), "x").unwrap();
    assert_eq!(setup.attempt(&copy).await, None);
    assert_eq!(setup.read("repos/h/owner/name/mine").as_deref(), Some("x"));
    assert!(connections.try_recv().is_err());
}

#[tokio::test]
async fn local_repositories_and_helpers_are_not_cloned() {
    let setup = Setup::new();
    let origin = repository(&setup);
    for address in [
        format!("file://{}", origin.display()),
        origin.display().to_string(),
        "ext::sh -c 'touch hacked'".to_owned(),
        "--upload-pack=touch hacked".to_owned(),
    ] {
        let copy = clone_of(&setup, &address, None);
        assert!(setup.attempt(&copy).await.is_some(), "{address}");
        assert!(!copy.directory.exists(), "{address}");
    }
}

#[tokio::test]
async fn an_attempt_is_made_once_an_hour() {
    let setup = Setup::new();
    let copy = Copy {
        origin: Origin::Skills {
            address: Url::parse("http://h.test/skills").unwrap(),
        },
        directory: setup.path("skills"),
        work: setup.path("work"),
    };
    assert_eq!(
        setup.attempt(&copy).await.as_deref(),
        Some("index.json: there is nothing")
    );
    setup.downloads.keep(&copy);
    assert_eq!(setup.web.requests.lock().len(), 1);
    setup.clock.0.fetch_add(5 * 60 * 1000, Ordering::SeqCst);
    let mut ended = setup.downloads.ended();
    setup.downloads.keep(&copy);
    ended.changed().await.unwrap();
    assert_eq!(setup.web.requests.lock().len(), 2);
}

#[tokio::test]
async fn skills_are_fetched_and_replaced_with_a_new_version() {
    let setup = Setup::new();
    let put = |path: &str, text: &str| {
        let address = format!("http://h.test/skills/{path}");
        setup.web.texts.lock().insert(address, text.to_owned());
    };
    let index = |version: &str| {
        put(
            "index.json",
            &format!(
                r#"{{"skills":[{{"name":"review","version":"{version}","files":["SKILL.md","x/y.md"]}}]}}"#
            ),
        );
    };
    let copy = Copy {
        origin: Origin::Skills {
            address: Url::parse("http://h.test/skills").unwrap(),
        },
        directory: setup.path("skills"),
        work: setup.path("work"),
    };
    index("1");
    put("review/SKILL.md", "one");
    put("review/x/y.md", "more");
    assert_eq!(setup.attempt(&copy).await, None);
    assert_eq!(setup.read("skills/review/SKILL.md").as_deref(), Some("one"));
    assert_eq!(setup.read("skills/review/x/y.md").as_deref(), Some("more"));
    // The same version is not read again.
    put("review/SKILL.md", "two");
    assert_eq!(setup.attempt(&copy).await, None);
    assert_eq!(setup.web.requests.lock().len(), 4);
    index("2");
    assert_eq!(setup.attempt(&copy).await, None);
    assert_eq!(setup.read("skills/review/SKILL.md").as_deref(), Some("two"));
    // A file that is missing keeps all former files.
    index("3");
    setup
        .web
        .texts
        .lock()
        .remove("http://h.test/skills/review/x/y.md");
    assert_eq!(
        setup.attempt(&copy).await.as_deref(),
        Some("review/x/y.md: there is nothing")
    );
    assert_eq!(setup.read("skills/review/x/y.md").as_deref(), Some("more"));
    assert_eq!(setup.unfinished(), 0);
}
