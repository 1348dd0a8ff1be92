//! The time of promotions: steers join the running activity, queued inputs wait for an activity of
//! their own.

use futures::future::join_all;
use opencode_runtime::{DrainOutcome, PromptRequest};
use opencode_schema::prompt::{Delivery, PromptAgentAttachment};
use opencode_testkit::{Fixture, Gate, Reply, compact, output, prompt_request};
use serde_json::json;

/// A session whose first answer is held at the gate, after its text and before its finish.
async fn held(f: &Fixture, gate: &Gate, calls: bool) -> opencode_schema::id::SessionID {
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    let reply = Reply::new().text("Working.").hold(gate);
    f.model.reply(if calls {
        reply.call("c1", "echo", json!({})).tool_calls()
    } else {
        reply.stop()
    });
    f.prompt(&session, "Go").await;
    f.reached(gate).await;
    session
}

#[tokio::test]
async fn steers_during_a_tool_turn_join_the_next_turn_together() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate, true).await;
    f.prompt(&session, "One").await;
    f.prompt(&session, "Two").await;
    f.model.reply(Reply::says("Both."));
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "text.started",
            "text.ended Working.",
            "prompt.admitted One",
            "prompt.admitted Two",
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.success c1 {}",
            "step.ended tool-calls",
            "prompted One",
            "prompted Two",
            "step.started",
            "text.started",
            "text.ended Both.",
            "step.ended stop",
        ]
    );
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: Go",
            "assistant: Working. | c1 echo{}",
            "tool: c1 = {}",
            "user: One",
            "user: Two",
        ]
    );
}

#[tokio::test]
async fn a_steer_during_the_final_answer_gets_another_turn() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate, false).await;
    f.prompt(&session, "Shorter").await;
    f.model.reply(Reply::says("Ok."));
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "text.started",
            "text.ended Working.",
            "prompt.admitted Shorter",
            "step.ended stop",
            "prompted Shorter",
            "step.started",
            "text.started",
            "text.ended Ok.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn each_queued_input_gets_its_own_activity() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate, true).await;
    f.queue(&session, "One").await;
    f.queue(&session, "Two").await;
    for text in ["Done.", "One done.", "Two done."] {
        f.model.reply(Reply::says(text));
    }
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "text.started",
            "text.ended Working.",
            "prompt.admitted One (queue)",
            "prompt.admitted Two (queue)",
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.success c1 {}",
            "step.ended tool-calls",
            // The first activity makes its second turn before any queued input is considered.
            "step.started",
            "text.started",
            "text.ended Done.",
            "step.ended stop",
            "prompted One (queue)",
            "step.started",
            "text.started",
            "text.ended One done.",
            "step.ended stop",
            "prompted Two (queue)",
            "step.started",
            "text.started",
            "text.ended Two done.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn a_steer_precedes_queued_inputs() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let session = held(&f, &gate, false).await;
    f.queue(&session, "One").await;
    f.prompt(&session, "Now").await;
    f.queue(&session, "Two").await;
    for text in ["Now done.", "One done.", "Two done."] {
        f.model.reply(Reply::says(text));
    }
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "text.started",
            "text.ended Working.",
            "prompt.admitted One (queue)",
            "prompt.admitted Now",
            "prompt.admitted Two (queue)",
            "step.ended stop",
            "prompted Now",
            "step.started",
            "text.started",
            "text.ended Now done.",
            "step.ended stop",
            "prompted One (queue)",
            "step.started",
            "text.started",
            "text.ended One done.",
            "step.ended stop",
            "prompted Two (queue)",
            "step.started",
            "text.started",
            "text.ended Two done.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn concurrent_prompts_on_an_idle_session_share_one_turn() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("All five."));
    // While the writer is held in the first admission, the others wait behind it.
    let hold = f.clock.hold_writer(0);
    let texts = ["1", "2", "3", "4", "5"];
    let prompts = join_all(texts.map(|text| f.prompt(&session, text)));
    let release = async {
        f.writer_held(&hold).await;
        drop(hold);
    };
    let (receipts, ()) = tokio::join!(prompts, release);
    f.wait(&session).await;
    let seqs: Vec<_> = receipts
        .iter()
        .map(|receipt| receipt.admitted_seq)
        .collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted 1",
            "prompt.admitted 2",
            "prompt.admitted 3",
            "prompt.admitted 4",
            "prompt.admitted 5",
            "prompted 1",
            "prompted 2",
            "prompted 3",
            "prompted 4",
            "prompted 5",
            "step.started",
            "text.started",
            "text.ended All five.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn inputs_without_a_wake_wait_for_the_next_one_of_any_kind() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "First", Delivery::Steer).await;
    f.leave(&session, "Queued", Delivery::Queue).await;
    f.leave(&session, "Second", Delivery::Steer).await;
    assert_eq!(f.runtime().active(), []);
    f.model
        .reply(Reply::says("Three."))
        .reply(Reply::says("Queued."));
    f.ask(&session, "Third").await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted First",
            "prompt.admitted Queued (queue)",
            "prompt.admitted Second",
            "prompt.admitted Third",
            "prompted First",
            "prompted Second",
            "prompted Third",
            "step.started",
            "text.started",
            "text.ended Three.",
            "step.ended stop",
            "prompted Queued (queue)",
            "step.started",
            "text.started",
            "text.ended Queued.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn a_queued_input_starts_an_idle_session() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.queue(&session, "Hi").await;
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi (queue)",
            "prompted Hi (queue)",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn after_a_failure_a_woken_input_continues_and_one_without_a_wake_waits() {
    for wakes in [true, false] {
        let f = Fixture::open().await;
        let session = f.session().await;
        let gate = Gate::new();
        let failure = opencode_llm::LlmError::invalid_request("no");
        f.model.reply(Reply::nothing().hold(&gate).fail(failure));
        f.prompt(&session, "Go").await;
        f.reached(&gate).await;
        if wakes {
            f.model.reply(Reply::says("Later done."));
            f.queue(&session, "Later").await;
        } else {
            f.leave(&session, "Later", Delivery::Queue).await;
        }
        gate.release();
        f.wait(&session).await;
        let mut expected = vec![
            "prompt.admitted Go",
            "prompted Go",
            "prompt.admitted Later (queue)",
            "step.started",
            "step.failed no",
        ];
        if wakes {
            expected.extend([
                "prompted Later (queue)",
                "step.started",
                "text.started",
                "text.ended Later done.",
                "step.ended stop",
            ]);
        }
        assert_eq!(f.events(&session).await, expected);
        let waiting: &[&str] = if wakes { &[] } else { &["Later (queue)"] };
        assert_eq!(f.inbox(&session).await, waiting);
    }
}

#[tokio::test]
async fn a_run_without_input_sends_one_request_and_a_wake_does_not() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    let receipt = f.ask(&session, "Hi").await;
    // An exact retry wakes the session, but there is no work.
    let retry = opencode_runtime::PromptRequest {
        id: Some(receipt.id),
        ..opencode_testkit::prompt_request(&session, "Hi")
    };
    f.admit(retry).await;
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
    f.model.reply(Reply::says("Still here."));
    let outcome = f.run(&session).await;
    assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi", "assistant: Hello."]
    );
}

#[tokio::test]
async fn concurrent_runs_share_one_drain() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.leave(&session, "Hi", Delivery::Steer).await;
    f.model
        .reply(Reply::new().text("Hello.").hold(&gate).stop());
    let runs = join_all([f.run(&session), f.run(&session)]);
    let release = async {
        f.reached(&gate).await;
        // Each read goes to the disk and back. Together they take longer than the second run needs to join.
        for _ in 0..20 {
            f.events(&session).await;
        }
        gate.release();
    };
    let (outcomes, ()) = tokio::join!(runs, release);
    for outcome in outcomes {
        assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
    }
    assert_eq!(f.model.requests().len(), 1);
}

#[tokio::test]
async fn a_mentioned_agent_adds_guidance_before_the_prompt() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let mut request = prompt_request(&session, "Hi");
    let mention = |name: &str| PromptAgentAttachment {
        name: name.to_owned(),
        source: None,
    };
    let agents = ["general", "general", "plan", "nothing\nof"].map(mention);
    request.prompt.agents = Some(agents.to_vec());
    f.model.reply(Reply::says("Hello"));
    let first = f.admit(request.clone()).await;
    f.wait(&session).await;
    let texts = f.payloads(&session, "synthetic").await;
    assert_eq!(texts.len(), 1);
    let expected = [
        "The user mentions the agent \"general\". Give it the work that the prompt asks of it, with the tool task.",
        "The user mentions the agent \"plan\", but no agent of that name takes tasks.",
        "The user mentions the agent \"nothing\\nof\", but no agent of that name takes tasks.",
    ];
    assert_eq!(texts[0]["text"], expected.join("\n\n"));
    let again = f
        .admit(PromptRequest {
            id: Some(first.id.clone()),
            ..request
        })
        .await;
    assert_eq!(again.id, first.id);
    f.wait(&session).await;
    assert_eq!(f.payloads(&session, "synthetic").await.len(), 1);
    assert_eq!(f.model.requests().len(), 1);
}
