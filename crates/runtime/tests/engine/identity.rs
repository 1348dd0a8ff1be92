//! Identifiers from callers: an exact retry returns the first answer, and any other use conflicts.

use futures::future::join_all;
use opencode_runtime::{CreateSession, PromptRequest, RuntimeError};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::SessionMessage;
use opencode_schema::prompt::{Delivery, PromptInputFileAttachment, SessionInputAdmitted};
use opencode_testkit::{Fixture, Reply, prompt_request};

fn named(session: &SessionID, id: &str, text: &str) -> PromptRequest {
    PromptRequest {
        id: MessageID::parse(id).ok(),
        ..prompt_request(session, text)
    }
}

/// One prompt and one answer.
const ANSWERED: [&str; 6] = [
    "prompt.admitted Hi",
    "prompted Hi",
    "step.started",
    "text.started",
    "text.ended Hello.",
    "step.ended stop",
];

#[tokio::test]
async fn an_exact_retry_returns_the_receipt_and_records_nothing() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let request = PromptRequest {
        resume: false,
        ..named(&session, "msg_mine", "Hi")
    };
    let first = f.admit(request.clone()).await;
    assert_eq!(
        first,
        SessionInputAdmitted {
            admitted_seq: 1,
            id: MessageID::parse("msg_mine").unwrap(),
            session_id: session.clone(),
            prompt: request.prompt.clone().admit(),
            delivery: Delivery::Steer,
            time_created: first.time_created,
            promoted_seq: None,
        }
    );
    f.clock.advance(1000);
    assert_eq!(f.admit(request.clone()).await, first);
    f.model.reply(Reply::says("Hello."));
    f.run(&session).await;
    let promoted = SessionInputAdmitted {
        promoted_seq: Some(2),
        ..first
    };
    assert_eq!(f.admit(request).await, promoted);
    assert_eq!(f.events(&session).await, ANSWERED);
}

#[tokio::test]
async fn an_id_of_another_record_conflicts() {
    let f = Fixture::open().await;
    let (session, other) = (f.session().await, f.session().await);
    f.model.reply(Reply::says("Hello."));
    f.admit(named(&session, "msg_mine", "Hi")).await;
    f.wait(&session).await;
    let answer = match &f.messages(&session).await[1] {
        SessionMessage::Assistant(message) => message.id.to_string(),
        message => panic!("{message:?}"),
    };
    let mut with_files = named(&session, "msg_mine", "Hi");
    // No files and an empty list of files differ.
    with_files.prompt.files = Some(Vec::new());
    for request in [
        named(&session, "msg_mine", "Hi!"),
        with_files,
        PromptRequest {
            delivery: Delivery::Queue,
            ..named(&session, "msg_mine", "Hi")
        },
        named(&other, "msg_mine", "Hi"),
        named(&session, &answer, "Hi"),
        named(&other, &answer, "Hi"),
    ] {
        let id = request.id.clone();
        let refused = f.try_admit(request).await;
        assert!(
            matches!(&refused, Err(RuntimeError::PromptConflict(it)) if Some(it) == id.as_ref()),
            "{refused:?}"
        );
    }
    assert_eq!(f.events(&session).await, ANSWERED);
    assert_eq!(f.events(&other).await, [""; 0]);
    // A refused prompt does not wake the session.
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn equality_compares_the_admitted_form_of_files() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let request = |name: Option<&str>| {
        let mut request = PromptRequest {
            resume: false,
            ..named(&session, "msg_mine", "Look")
        };
        request.prompt.files = Some(vec![PromptInputFileAttachment {
            uri: "blob".into(),
            name: name.map(str::to_owned),
            description: None,
            source: None,
        }]);
        request
    };
    let first = f.admit(request(Some("a.png"))).await;
    let files = first.prompt.files.clone().unwrap();
    assert_eq!(files[0].mime, "image/png");
    assert_eq!(f.admit(request(Some("a.png"))).await, first);
    for name in [Some("a.txt"), None] {
        let refused = f.try_admit(request(name)).await;
        assert!(
            matches!(refused, Err(RuntimeError::PromptConflict(_))),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn repeating_a_prompt_does_not_repeat_a_failed_turn() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let failure = opencode_llm::LlmError::invalid_request("no");
    f.model.reply(Reply::fails(failure));
    f.admit(named(&session, "msg_mine", "Hi")).await;
    f.wait(&session).await;
    let receipt = f.admit(named(&session, "msg_mine", "Hi")).await;
    f.wait(&session).await;
    assert_eq!(receipt.promoted_seq, Some(2));
    assert_eq!(f.model.requests().len(), 1);
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi",
            "prompted Hi",
            "step.started",
            "step.failed no",
        ]
    );
}

#[tokio::test]
async fn identical_concurrent_prompts_are_admitted_once() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    let prompts = [(); 5].map(|()| f.admit(named(&session, "msg_mine", "Hi")));
    let receipts = join_all(prompts).await;
    f.wait(&session).await;
    for receipt in &receipts {
        let unpromoted = SessionInputAdmitted {
            promoted_seq: None,
            ..receipt.clone()
        };
        assert_eq!(unpromoted, receipts[0]);
    }
    assert_eq!(f.events(&session).await, ANSWERED);
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn concurrently_created_sessions_with_one_id_are_one() {
    let f = Fixture::open().await;
    let id = SessionID::parse("ses_mine").unwrap();
    let mut live = f.live();
    let creations = ["a", "b", "c", "d", "e"].map(|agent| {
        f.create(CreateSession {
            id: Some(id.clone()),
            agent: Some(agent.into()),
            ..f.new_session()
        })
    });
    let created = join_all(creations).await;
    for info in &created {
        assert_eq!(info, &created[0]);
    }
    // For an existing id all other fields are ignored, even if they are invalid.
    let nonsense = CreateSession {
        id: Some(id.clone()),
        location: LocationRef {
            directory: "nowhere".into(),
            workspace_id: None,
        },
        ..f.new_session()
    };
    assert_eq!(f.create(nonsense).await, created[0]);
    f.leave(&id, "Hi", Delivery::Steer).await;
    f.read_until(&mut live, "prompt.admitted Hi").await;
    assert_eq!(live.events(), ["session.created", "prompt.admitted Hi"]);
    assert_eq!(live.values()[0]["durable"]["seq"], 0);
    assert_eq!(f.info(&id).await, created[0]);
}

#[tokio::test]
async fn unknown_sessions_are_refused_by_every_operation() {
    let f = Fixture::open().await;
    let id = SessionID::parse("ses_nope").unwrap();
    let model = opencode_schema::model::ModelRef {
        id: "m1".into(),
        provider_id: "mock".into(),
        variant: None,
    };
    let message = MessageID::parse("msg_x").unwrap();
    let location = f.new_session().location;
    let runtime = f.runtime();
    let order = opencode_runtime::Order::Ascending;
    for refused in [
        f.try_admit(prompt_request(&id, "Hi")).await.err(),
        runtime.session(&id).await.err(),
        runtime.interrupt(&id).await.err(),
        runtime.wait(&id).await.err(),
        runtime.run(&id).await.err(),
        runtime.resume(&id).await.err(),
        runtime.inbox(&id).await.err(),
        runtime.withdraw(&id, &message).await.err(),
        runtime
            .set_delivery(&id, &message, Delivery::Queue)
            .await
            .err(),
        runtime.move_session(&id, location).await.err(),
        runtime.export(&id).await.err(),
        runtime.switch_agent(&id, "plan".into()).await.err(),
        runtime.switch_model(&id, model).await.err(),
        runtime.messages(&id, order, None, 1).await.err(),
        runtime.message(&id, &message).await.err(),
        runtime.context(&id).await.err(),
        runtime.history(&id, None, 1).await.err(),
        runtime.events(&id, None).await.err(),
    ] {
        assert!(
            matches!(&refused, Some(RuntimeError::SessionNotFound(it)) if *it == id),
            "{refused:?}"
        );
    }
    assert_eq!(runtime.active(), []);
}
