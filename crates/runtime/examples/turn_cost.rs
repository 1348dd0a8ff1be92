//! What a Provider Turn costs in a short and in a long session, from the prompt to the settled
//! session: with a model that answers at once after its request was written, and through the real
//! HTTP client to a server on this machine that reads the request and answers at once.
//!
//! ```sh
//! cargo run --release -p opencode-runtime --example turn_cost
//! ```

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use futures::stream;
use opencode_llm::{
    EventStream, FinishReason, HttpModelClient, LlmEvent, LlmRequest, ModelClient, protocol,
};
use opencode_runtime::CreateSession;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_testkit::Fixture;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Messages before the measured turns.
const HISTORIES: [usize; 2] = [10, 5_000];
/// Measured turns of each session.
const TURNS: usize = 100;
/// Measured first turns after opening the database again.
const OPENINGS: usize = 5;

/// What the model does with a request: nothing, writing it, sending it.
const MAKE: u8 = 0;
const WRITE: u8 = 1;
const SEND: u8 = 2;

struct Model {
    http: HttpModelClient,
    mode: Arc<AtomicU8>,
}

impl ModelClient for Model {
    fn stream(&self, request: LlmRequest) -> EventStream {
        match self.mode.load(Ordering::Relaxed) {
            SEND => return self.http.stream(request),
            WRITE => {
                let written = protocol::adapter(request.model.protocol).encode(&request);
                written.expect("the request can be written");
            }
            _ => {}
        }
        Box::pin(stream::iter([Ok(answer())]))
    }
}

fn answer() -> Vec<LlmEvent> {
    let (index, provider_metadata) = (0, None);
    let text = "It is as it is and was. ".repeat(16);
    vec![
        LlmEvent::StepStart { index },
        LlmEvent::TextStart {
            id: "text-0".into(),
            provider_metadata: None,
        },
        LlmEvent::TextDelta {
            id: "text-0".into(),
            text,
            provider_metadata: None,
        },
        LlmEvent::StepFinish {
            index,
            reason: FinishReason::Stop,
            usage: None,
            provider_metadata,
        },
    ]
}

async fn serve(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.expect("the listener is ours");
        tokio::spawn(answer_all(stream));
    }
}

/// Answers the requests of one connection.
async fn answer_all(mut stream: TcpStream) {
    let body = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"It is.\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
    let mut bytes = vec![0; 1 << 20];
    let mut read = 0;
    loop {
        // The head, and how much follows it.
        let wanted = loop {
            let head = bytes[..read].windows(4).position(|it| it == b"\r\n\r\n");
            if let Some(end) = head {
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length = head
                    .lines()
                    .find_map(|it| it.strip_prefix("content-length: "));
                let length: usize = length.and_then(|it| it.parse().ok()).unwrap_or_default();
                break end + 4 + length;
            }
            match stream.read(&mut bytes[read..]).await {
                Ok(count) if count > 0 => read += count,
                _ => return,
            }
        };
        while read < wanted {
            let room = bytes.len();
            match stream.read(&mut bytes[..room.min(wanted - read)]).await {
                Ok(count) if count > 0 => read += count,
                _ => return,
            }
        }
        read = 0;
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn turn(f: &Fixture, session: &SessionID) -> Duration {
    let begun = Instant::now();
    f.ask(session, &"What about this one? ".repeat(10)).await;
    begun.elapsed()
}

fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort_unstable();
    samples[samples.len() / 2].as_secs_f64() * 1000.0
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base_url = format!("http://{}/v1", listener.local_addr()?);
    tokio::spawn(serve(listener));
    let config = json!({"provider": {"wire": {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": base_url},
        "models": {"m": {}},
    }}});
    for messages in HISTORIES {
        let mode = Arc::new(AtomicU8::new(MAKE));
        let chosen = Arc::clone(&mode);
        let mut f = Fixture::with(move |options| {
            options.model = Arc::new(Model {
                http: HttpModelClient::default(),
                mode: Arc::clone(&chosen),
            });
        })
        .await;
        f.project.write("opencode.json", &config.to_string());
        let model = ModelRef {
            id: "m".to_owned(),
            provider_id: "wire".to_owned(),
            variant: None,
        };
        let request = CreateSession {
            model: Some(model),
            ..f.new_session()
        };
        let session = f.create(request).await.id;
        for _ in 0..messages / 2 {
            turn(&f, &session).await;
        }
        let mut figures = Vec::new();
        for chosen in [WRITE, SEND] {
            mode.store(chosen, Ordering::Relaxed);
            turn(&f, &session).await;
            let mut samples = Vec::new();
            for _ in 0..TURNS {
                samples.push(turn(&f, &session).await);
            }
            figures.push(median(samples));
        }
        let mut cold = Vec::new();
        for _ in 0..OPENINGS {
            f.reopen().await;
            cold.push(turn(&f, &session).await);
        }
        let (written, sent, cold) = (figures[0], figures[1], median(cold));
        writeln!(
            std::io::stdout(),
            "{messages:>6} messages: {written:.2} ms a turn, {sent:.2} ms sent, {cold:.2} ms the first one after opening"
        )?;
    }
    Ok(())
}
