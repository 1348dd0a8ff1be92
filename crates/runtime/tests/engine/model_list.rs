//! Downloads of the list of models.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_net::{DownloadError, Fetch};
use opencode_schema::location::LocationRef;
use opencode_testkit::Fixture;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use url::Url;

const HOUR: i64 = 60 * 60 * 1000;

type Answer = Result<String, String>;

/// A download that waits for its answer.
struct Asked {
    address: String,
    answer: oneshot::Sender<Answer>,
}

/// A server whose answers the test gives one by one.
struct Server(mpsc::UnboundedSender<Asked>);

impl Fetch for Server {
    fn fetch(&self, address: Url, _: usize) -> BoxFuture<'static, Result<Vec<u8>, DownloadError>> {
        let (answer, answered) = oneshot::channel();
        let address = address.to_string();
        // A test that has ended takes no more downloads.
        let _ = self.0.send(Asked { address, answer });
        let answered = answered.map(|answer| answer.unwrap_or(Err("gone".to_owned())));
        answered
            .map(|it| it.map(String::into_bytes).map_err(DownloadError))
            .boxed()
    }
}

/// A list with one provider and one model.
fn list(model: &str) -> Answer {
    let described =
        json!({"name": model, "tool_call": true, "limit": {"context": 1_000, "output": 100}});
    let provider = json!({"id": "listed", "name": "Listed", "npm": "@ai-sdk/openai-compatible",
        "api": "http://localhost:1/v1", "env": [], "models": {model: described}});
    Ok(json!({ "listed": provider }).to_string())
}

/// A host that downloads the list, and the downloads.
async fn refreshing() -> (Fixture, mpsc::UnboundedReceiver<Asked>) {
    let (asked, downloads) = mpsc::unbounded_channel();
    let server = Arc::new(Server(asked));
    let f = Fixture::with(move |options| {
        options.refresh_models = true;
        options.fetch = Arc::<Server>::clone(&server);
    })
    .await;
    let config = json!({"provider": {"listed": {}}});
    f.project.write("opencode.json", &config.to_string());
    (f, downloads)
}

/// Advances the clock until the host downloads again.
async fn next(f: &Fixture, downloads: &mut mpsc::UnboundedReceiver<Asked>) -> Asked {
    let asked = async {
        loop {
            match downloads.try_recv() {
                Ok(asked) => return asked,
                Err(_) => {
                    f.clock.advance(HOUR);
                    tokio::task::yield_now().await;
                }
            }
        }
    };
    f.within("the next download", asked).await
}

/// The ids of the models of the list.
async fn models(f: &Fixture) -> Vec<String> {
    let location = LocationRef {
        directory: f.project.directory(),
        workspace_id: None,
    };
    let location = f.runtime().open_location(&location).await.unwrap();
    let models = location.catalogue.models().into_iter();
    let listed = models.filter(|it| it.provider_id == "listed");
    listed.map(|it| it.id).collect()
}

#[tokio::test]
async fn a_new_list_counts_at_once_and_a_failure_keeps_it() {
    let (f, mut downloads) = refreshing().await;
    let first = f.within("a download", downloads.recv()).await.unwrap();
    assert_eq!(first.address, "https://models.opencode.ai/api.json");
    let none: [&str; 0] = [];
    assert_eq!(models(&f).await, none);
    let mut live = f.live();
    first.answer.send(list("one")).unwrap();
    f.read_until(&mut live, "models-dev.refreshed").await;
    f.read_until(&mut live, "catalog.updated").await;
    assert_eq!(models(&f).await, ["one"]);

    // An attempt without an answer is repeated twice.
    for _ in 0..3 {
        let failing = next(&f, &mut downloads).await;
        failing.answer.send(Err("down".to_owned())).unwrap();
    }
    assert_eq!(models(&f).await, ["one"]);
    let wrong = next(&f, &mut downloads).await;
    wrong.answer.send(Ok("<html>".to_owned())).unwrap();
    let newer = next(&f, &mut downloads).await;
    assert_eq!(models(&f).await, ["one"]);
    newer.answer.send(list("two")).unwrap();
    f.read_until(&mut live, "models-dev.refreshed").await;
    assert_eq!(models(&f).await, ["two"]);
}

#[tokio::test]
async fn a_closing_host_waits_for_no_download() {
    let (f, mut downloads) = refreshing().await;
    let open = f.within("a download", downloads.recv()).await.unwrap();
    f.close().await;
    assert!(open.answer.is_closed());
}

#[tokio::test]
async fn a_list_is_not_downloaded_without_the_option() {
    let (asked, mut downloads) = mpsc::unbounded_channel();
    let server = Arc::new(Server(asked));
    let f = Fixture::with(move |options| options.fetch = Arc::<Server>::clone(&server)).await;
    f.clock.advance(HOUR);
    f.close().await;
    drop(f);
    assert!(downloads.recv().await.is_none());
}
