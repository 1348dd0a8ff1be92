//! Commands: prompts from templates, with arguments and the output of shell commands.

use opencode_runtime::{CommandRequest, RuntimeError};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::json;

fn request(session: &SessionID, command: &str, arguments: &str) -> CommandRequest {
    CommandRequest {
        session_id: session.clone(),
        id: None,
        command: command.to_owned(),
        arguments: arguments.to_owned(),
        agent: None,
        model: None,
        files: None,
        delivery: Delivery::Steer,
        resume: true,
    }
}

/// A fixture with these commands and rules.
async fn fixture(commands: &[(&str, serde_json::Value)], permission: serde_json::Value) -> Fixture {
    let f = Fixture::open().await;
    let commands: serde_json::Map<_, _> = commands
        .iter()
        .map(|(name, command)| ((*name).to_owned(), command.clone()))
        .collect();
    let config = json!({"command": commands, "permission": permission});
    f.project.write("opencode.json", &config.to_string());
    f.model.otherwise(|_| Reply::says("Done."));
    f
}

async fn run(f: &Fixture, request: CommandRequest) -> SessionInputAdmitted {
    let admitted = f.runtime().run_command(request).await;
    admitted.expect("the command is admitted")
}

/// Runs a command in a new session and returns the messages of the request.
async fn sent(f: &Fixture, command: &str, arguments: &str) -> Vec<String> {
    let session = f.session().await;
    run(f, request(&session, command, arguments)).await;
    f.wait(&session).await;
    compact::messages(&f.model.last_request())
}

#[tokio::test]
async fn a_command_is_a_prompt_from_its_template() {
    let template = |text: &str| json!({"template": text});
    let commands = [
        ("greet", template("  Greet $1 from $2.\n")),
        ("plain", template("Say hello")),
        ("files", template("Fix @a.txt and $ARGUMENTS")),
        (
            "shell",
            template("Now: !`printf 'one\\n\\n'` !`exit 3` !`printf '@a.txt'` end"),
        ),
        (
            "search",
            template("!`printf '%s|' \"$1\" $2 \"$ARGUMENTS\"`"),
        ),
    ];
    let f = fixture(&commands, json!({})).await;
    f.project.write("a.txt", "alpha");
    assert_eq!(
        sent(&f, "greet", "Ann Bob Carl").await,
        ["user: Greet Ann from Bob Carl."]
    );
    assert_eq!(sent(&f, "plain", "").await, ["user: Say hello"]);
    assert_eq!(
        sent(&f, "plain", "to Ann").await,
        ["user: Say hello\n\nto Ann"]
    );
    let messages = sent(&f, "files", "@missing.txt").await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("alpha"));
    assert_eq!(messages[1], "user: Fix @a.txt and @missing.txt");
    // A path that a program prints is no mention.
    assert_eq!(
        sent(&f, "shell", "").await,
        ["user: Now: one [The command exited with code 3.] @a.txt end"]
    );
    // Arguments are words for the shell and never commands.
    assert_eq!(
        sent(&f, "search", "\"$(touch bad);\" `touch bad` !`touch bad`").await,
        [
            "user: $(touch bad);|`touch|bad`|!`touch|bad`|\"$(touch bad);\" `touch bad` !`touch bad`|"
        ]
    );
    assert!(!f.project.path("bad").exists());
}

#[tokio::test]
async fn a_shell_command_that_is_not_allowed_is_named_in_the_text() {
    let commands = [(
        "look",
        json!({"template": "A !`touch made` B !`echo yes` C"}),
    )];
    let permission = json!({"bash": {"*": "allow", "touch *": "deny"}});
    let f = fixture(&commands, permission).await;
    let expected = "user: A [The command \"touch made\" was not run: the permission rules do not allow it.] B yes C";
    assert_eq!(sent(&f, "look", "").await, [expected]);
    assert!(!f.project.path("made").exists());
    let shown = [("log", json!({"template": "!`$1`"}))];
    let f = fixture(&shown, json!({"bash": {"*": "allow", "touch *": "deny"}})).await;
    let messages = sent(&f, "log", "touch").await;
    assert!(messages[0].starts_with("user: "), "{messages:?}");
    assert!(!f.project.path("made").exists());
}

#[tokio::test]
async fn a_retry_of_a_command_runs_nothing_again() {
    let commands = [
        (
            "count",
            json!({"template": "Count !`echo x >> log; wc -l < log`"}),
        ),
        ("other", json!({"template": "Other"})),
    ];
    let f = fixture(&commands, json!({})).await;
    let session = f.session().await;
    let id = MessageID::parse("msg_commanded").unwrap();
    let first = CommandRequest {
        id: Some(id.clone()),
        ..request(&session, "count", "")
    };
    let receipt = run(&f, first.clone()).await;
    f.wait(&session).await;
    let again = run(&f, first.clone()).await;
    assert_eq!(
        (again.admitted_seq, &again.prompt),
        (receipt.admitted_seq, &receipt.prompt)
    );
    assert_eq!(
        std::fs::read_to_string(f.project.path("log")).unwrap(),
        "x\n"
    );
    let command = receipt.prompt.command.clone().unwrap();
    assert_eq!(
        (command.name.as_str(), command.arguments.as_str()),
        ("count", "")
    );
    for different in [
        CommandRequest {
            arguments: "1".to_owned(),
            ..first.clone()
        },
        CommandRequest {
            command: "other".to_owned(),
            ..first.clone()
        },
        CommandRequest {
            delivery: Delivery::Queue,
            ..first.clone()
        },
    ] {
        let refused = f.runtime().run_command(different).await.unwrap_err();
        assert!(
            matches!(refused, RuntimeError::PromptConflict(_)),
            "{refused}"
        );
    }
    let mut prompt = opencode_testkit::prompt_request(&session, "Count 1");
    prompt.id = Some(id);
    let refused = f.try_admit(prompt).await.unwrap_err();
    assert!(
        matches!(refused, RuntimeError::PromptConflict(_)),
        "{refused}"
    );
    assert_eq!(
        std::fs::read_to_string(f.project.path("log")).unwrap(),
        "x\n"
    );
}

#[tokio::test]
async fn wrong_requests_are_refused_and_store_nothing() {
    let f = fixture(&[], json!({})).await;
    let session = f.session().await;
    let before = f.events(&session).await;
    let base = request(&session, "init", "");
    for (wrong, message) in [
        (
            request(&session, "iint", ""),
            "Command not found: iint. Did you mean init?",
        ),
        (
            request(&session, "nothing-like-it", ""),
            "Command not found: nothing-like-it. List the commands with commands.list",
        ),
        (
            request(&session, "init", "a\0b"),
            "The arguments contain a NUL character",
        ),
        (
            request(&session, "init", &"x".repeat(70_000)),
            "The arguments have 70000 bytes",
        ),
        (
            CommandRequest {
                agent: Some("biuld".to_owned()),
                ..base.clone()
            },
            "biuld",
        ),
        (
            CommandRequest {
                model: Some(opencode_schema::model::ModelRef {
                    id: "none".to_owned(),
                    provider_id: "none".to_owned(),
                    variant: None,
                }),
                ..base.clone()
            },
            "none",
        ),
        (
            request(&SessionID::parse("ses_none").unwrap(), "init", ""),
            "Session not found",
        ),
    ] {
        let refused = f
            .runtime()
            .run_command(wrong)
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains(message), "{refused}");
    }
    assert_eq!(f.events(&session).await, before);
    let messages = sent(&f, "init", "Mention the tests.").await;
    assert!(messages[0].contains("AGENTS.md") && messages[0].contains("Mention the tests."));
}

#[tokio::test]
async fn a_subtask_is_given_to_its_agent() {
    let commands = [
        (
            "dig",
            json!({"template": "Find it", "agent": "explore", "subtask": true}),
        ),
        ("do", json!({"template": "Do it", "subtask": true})),
    ];
    let f = fixture(&commands, json!({})).await;
    for (command, agent) in [("dig", "explore"), ("do", "general")] {
        let messages = sent(&f, command, "").await;
        let guidance = format!("mentions the agent {agent:?}. Give it the work");
        assert!(messages[0].contains(&guidance), "{messages:?}");
    }
}

#[tokio::test]
async fn agent_and_model_of_a_command_are_settings_of_its_prompt() {
    let commands = [
        (
            "plan",
            json!({"template": "Plan it", "agent": "plan", "model": "mock/m1"}),
        ),
        (
            "dig",
            json!({"template": "Dig", "agent": "explore", "subtask": true}),
        ),
    ];
    let f = fixture(&commands, json!({})).await;
    let session = f.session().await;
    let chosen = |admitted: &SessionInputAdmitted| {
        let settings = admitted.prompt.settings.clone().unwrap_or_default();
        (settings.agent, settings.model.map(|model| model.id))
    };
    let named = |name: &str| Some(name.to_owned());
    let admitted = run(&f, request(&session, "plan", "")).await;
    assert_eq!(chosen(&admitted), (named("plan"), named("m1")));
    f.wait(&session).await;
    assert_eq!(
        f.payloads(&session, "step.started").await[0]["agent"],
        "plan"
    );
    let request = CommandRequest {
        agent: named("build"),
        ..request(&session, "plan", "")
    };
    assert_eq!(
        chosen(&run(&f, request).await),
        (named("build"), named("m1"))
    );
    let task = self::request(&session, "dig", "");
    assert_eq!(chosen(&run(&f, task).await), (None, None));
    f.wait(&session).await;
}

#[cfg(unix)]
#[tokio::test]
async fn an_interruption_and_a_removal_stop_the_commands_of_a_template() {
    let template = "Wait !`touch begun; sleep 600; touch ended`";
    let f = fixture(&[("wait", json!({"template": template}))], json!({})).await;
    for removes in [false, true] {
        let session = f.session().await;
        let stop = async {
            while !f.project.path("begun").exists() {
                tokio::task::yield_now().await;
            }
            if !removes {
                return f.runtime().interrupt(&session).await.unwrap();
            }
            let busy = f.runtime().remove_session(&session, false).await;
            assert!(
                matches!(busy, Err(RuntimeError::SessionBusy(_))),
                "{busy:?}"
            );
            f.runtime().remove_session(&session, true).await.unwrap();
        };
        let command = f.runtime().run_command(request(&session, "wait", ""));
        let (stopped, ()) = tokio::join!(command, stop);
        let said = stopped.unwrap_err().to_string();
        let expected = format!(
            "The session {session} was interrupted before the command made its prompt; run the command again"
        );
        assert_eq!(said, expected);
        assert!(!f.project.path("ended").exists());
        std::fs::remove_file(f.project.path("begun")).unwrap();
    }
    assert_eq!(f.model.requests().len(), 0);
}
