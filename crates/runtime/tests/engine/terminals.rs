//! Terminals, and the variables that the embedding program gives to them.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::location::{Locations, Trust};
use opencode_runtime::pty::{Environment, TerminalError};
use opencode_runtime::{AskEnvironment, RuntimeError, TerminalRequest};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::Pty;
use opencode_testkit::{Fixture, LiveLog};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

type Creation = JoinHandle<Result<Pty, RuntimeError>>;

type Answer = Result<Environment, String>;

/// The request of a terminal for its variables.
struct Request {
    directory: String,
    cwd: String,
    answer: oneshot::Sender<Answer>,
}

type Requests = mpsc::UnboundedReceiver<Request>;

/// A program that a test answers for.
struct Program(mpsc::UnboundedSender<Request>);

impl AskEnvironment for Program {
    fn ask(&self, directory: &str, cwd: &str) -> BoxFuture<'static, Answer> {
        let (answer, answered) = oneshot::channel();
        let request = Request {
            directory: directory.to_owned(),
            cwd: cwd.to_owned(),
            answer,
        };
        self.0.send(request).expect("the test reads the requests");
        answered
            .map(|answer| answer.expect("the test answers"))
            .boxed()
    }
}

fn variables(pairs: &[(&str, &str)]) -> Environment {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

/// A host with its own variables, and the requests of its terminals.
async fn open() -> (Fixture, Requests) {
    let (sender, requests) = mpsc::unbounded_channel();
    let fixture = Fixture::with(move |options| {
        options.pty_environment = Arc::new(Program(sender.clone()));
        let mut environment = options.locations.environment().as_ref().clone();
        let own = [
            ("A", "host"),
            ("B", "host"),
            ("C", "host"),
            ("TERM", "host"),
        ];
        environment.variables.extend(variables(&own));
        options.locations =
            Arc::new(Locations::new(Arc::new(environment), None).with_trust(Trust::Always));
    });
    (fixture.await, requests)
}

/// A request for a program that writes its variables to a file.
fn telling(caller: &[(&str, &str)]) -> TerminalRequest {
    let script = r#"echo "$A $B $C $D $TERM $OPENCODE_TERMINAL" > said"#;
    TerminalRequest {
        command: Some("/bin/sh".into()),
        args: vec!["-c".into(), script.into()],
        environment: variables(caller),
        ..TerminalRequest::default()
    }
}

fn create(f: &Fixture, request: TerminalRequest) -> Creation {
    let runtime = f.runtime().clone();
    let place = LocationRef {
        directory: f.project.directory(),
        workspace_id: None,
    };
    tokio::spawn(async move {
        let location = runtime.open_location(&place).await.unwrap();
        runtime.create_terminal(&location, None, request).await
    })
}

async fn ended(f: &Fixture, creation: Creation) -> Result<Pty, RuntimeError> {
    f.within("the creation of a terminal", creation)
        .await
        .unwrap()
}

async fn next(f: &Fixture, requests: &mut Requests) -> Request {
    let request = f.within("a request for variables", requests.recv()).await;
    request.expect("the host is open")
}

/// The output of the program after its end.
async fn output_of(f: &Fixture, live: &mut LiveLog) -> String {
    f.read_until(live, "pty.exited").await;
    std::fs::read_to_string(f.project.path("said")).unwrap()
}

/// The error of a terminal that could not get its variables.
async fn refusal(f: &Fixture, creation: Creation) -> String {
    match ended(f, creation).await {
        Err(RuntimeError::Unavailable { service, message }) => format!("{service}: {message}"),
        other => panic!("{other:?}"),
    }
}

fn failed(reason: &str) -> String {
    format!(
        "pty.environment: The terminal has not begun, because the program's function for its variables failed: {reason}"
    )
}

#[tokio::test]
async fn variables_of_terminal_program_caller_and_host_override_in_this_order() {
    let (f, mut requests) = open().await;
    let mut live = f.live();
    let caller = [
        ("B", "caller"),
        ("C", "caller"),
        ("OPENCODE_TERMINAL", "caller"),
    ];
    let creation = create(&f, telling(&caller));
    let request = next(&f, &mut requests).await;
    let directory = f.project.directory();
    assert_eq!((&request.directory, &request.cwd), (&directory, &directory));
    let given = [
        ("C", "program"),
        ("D", "program"),
        ("TERM", "program"),
        ("OPENCODE_TERMINAL", "0"),
    ];
    request.answer.send(Ok(variables(&given))).unwrap();
    ended(&f, creation).await.unwrap();
    assert_eq!(
        output_of(&f, &mut live).await,
        "host caller program program xterm-256color 1\n"
    );
}

#[tokio::test]
async fn terminals_that_wait_together_get_their_own_variables() {
    let (f, mut requests) = open().await;
    std::fs::create_dir(f.project.path("below")).unwrap();
    let below = TerminalRequest {
        directory: Some("below".into()),
        ..telling(&[])
    };
    let creations = [create(&f, telling(&[])), create(&f, below)];
    let (first, second) = (next(&f, &mut requests).await, next(&f, &mut requests).await);
    let mut live = f.live();
    for request in [second, first] {
        let given = variables(&[("D", request.cwd.as_str())]);
        request.answer.send(Ok(given)).unwrap();
    }
    for (creation, folder) in creations.into_iter().zip(["", "below"]) {
        let terminal = ended(&f, creation).await.unwrap();
        assert_eq!(
            terminal.cwd.trim_end_matches('/'),
            f.project
                .path(folder)
                .to_string_lossy()
                .trim_end_matches('/')
        );
        f.read_until(&mut live, "pty.exited").await;
    }
    for folder in ["", "below"] {
        let path = f.project.path(folder);
        let said = std::fs::read_to_string(path.join("said")).unwrap();
        let path = path.to_string_lossy();
        let path = path.trim_end_matches('/');
        assert_eq!(said, format!("host host host {path} xterm-256color 1\n"));
    }
}

#[tokio::test]
async fn a_terminal_without_its_variables_does_not_start() {
    let (f, mut requests) = open().await;
    let name = |number| format!("V{number}");
    let many = (0..1_001).map(|number| (name(number), String::new()));
    let large = |count: usize, size: usize| {
        let one = |number| (name(number), "x".repeat(size - name(number).len() - 2));
        (0..count).map(one).collect()
    };
    let unfit = |name: &str| {
        format!(
            "{name:?} cannot be a variable: a name is not empty and holds no '=', and neither name nor value holds a NUL"
        )
    };
    for (answer, reason) in [
        (Err("no token".to_owned()), "no token".to_owned()),
        (Err("x".repeat(2_000)), "x".repeat(1_000)),
        (
            Ok(many.collect()),
            "it gave 1001 variables, and 1000 are the most".into(),
        ),
        (
            Ok(large(1, 131_073)),
            "the variable \"V0\" has more than 131072 bytes".into(),
        ),
        (
            Ok(large(9, 131_072)),
            "its variables have more than 1048576 bytes".into(),
        ),
        (Ok(variables(&[("", "x")])), unfit("")),
        (Ok(variables(&[("A=B", "x")])), unfit("A=B")),
        (Ok(variables(&[("A", "x\0")])), unfit("A")),
    ] {
        let creation = create(&f, telling(&[]));
        let request = next(&f, &mut requests).await;
        request.answer.send(answer).unwrap();
        assert_eq!(refusal(&f, creation).await, failed(&reason));
    }
    // A program can take the maximum size.
    let creation = create(&f, telling(&[]));
    let request = next(&f, &mut requests).await;
    request.answer.send(Ok(large(8, 131_072))).unwrap();
    let begun = ended(&f, creation).await.unwrap();
    let terminals = f.runtime().terminals().list(&place(&f));
    assert_eq!(
        terminals.iter().map(|it| &it.id).collect::<Vec<_>>(),
        [&begun.id]
    );
}

fn place(f: &Fixture) -> LocationRef {
    LocationRef {
        directory: f.project.directory(),
        workspace_id: None,
    }
}

#[tokio::test]
async fn a_terminal_waits_ten_seconds_for_its_variables() {
    let (f, mut requests) = open().await;
    let creation = create(&f, telling(&[]));
    let request = next(&f, &mut requests).await;
    f.clock.advance(9_999);
    tokio::task::yield_now().await;
    assert!(!creation.is_finished());
    f.clock.advance(1);
    assert_eq!(
        refusal(&f, creation).await,
        failed("it has not answered within 10 seconds")
    );
    assert!(request.answer.is_closed());
    assert_eq!(f.runtime().terminals().list(&place(&f)), []);
}

#[tokio::test]
async fn the_number_of_waiting_terminals_is_bounded_and_they_end_with_the_host() {
    let (f, mut requests) = open().await;
    let creations: Vec<_> = (0..64).map(|_| create(&f, telling(&[]))).collect();
    let mut waiting = Vec::new();
    for _ in 0..64 {
        waiting.push(next(&f, &mut requests).await);
    }
    let more = ended(&f, create(&f, telling(&[]))).await;
    let limit = 64;
    assert_eq!(
        more.unwrap_err().to_string(),
        TerminalError::TooMany { limit }.to_string()
    );
    f.close().await;
    for creation in creations {
        let refused = ended(&f, creation).await.unwrap_err();
        assert!(matches!(refused, RuntimeError::Closed), "{refused:?}");
    }
    assert!(waiting.iter().all(|request| request.answer.is_closed()));
}

#[tokio::test]
async fn a_terminal_that_is_not_needed_any_more_ends_its_request() {
    let (f, mut requests) = open().await;
    let first = create(&f, telling(&[]));
    let mut asked = next(&f, &mut requests).await;
    let second = create(&f, telling(&[]));
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    f.within("the end of the request", asked.answer.closed())
        .await;
    let other = next(&f, &mut requests).await;
    other
        .answer
        .send(Ok(variables(&[("D", "second")])))
        .unwrap();
    ended(&f, second).await.unwrap();
}
