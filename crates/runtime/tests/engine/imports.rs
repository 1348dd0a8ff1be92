//! An import is the text of a stranger: it starts no work, it loosens no rule, and it chooses nothing by itself.

use opencode_runtime::{
    AskPermission, CreateSession, DrainError, DrainOutcome, ForkSession, ImportChoices, Recovery,
    RuntimeError, UpdateSession,
};
use opencode_schema::event::RecordedRule;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::{PermissionEffect, PermissionRule};
use opencode_schema::prompt::Delivery;
use opencode_schema::session::{SessionBudget, SessionChoice, SessionInfo};
use opencode_testkit::{Fixture, Gate, Reply, compact};
use serde_json::{Value, json};

use crate::transfer::elsewhere;

fn rule(text: &str) -> PermissionRule {
    let words: Vec<_> = text.split(' ').collect();
    let value = json!({"action": words[0], "resource": words[1], "effect": words[2]});
    serde_json::from_value(value).unwrap()
}

/// Another host whose user is asked before each command.
async fn asking() -> Fixture {
    let g = elsewhere().await;
    let config = json!({"permission": {"bash": "ask", "edit": "deny", "read": "allow"}});
    g.project.write("opencode.json", &config.to_string());
    g
}

/// The choices of a caller that wants the session in the project of its host.
fn here(g: &Fixture) -> ImportChoices {
    ImportChoices {
        directory: Some(g.project.directory()),
        ..ImportChoices::default()
    }
}

async fn effect(g: &Fixture, session: &SessionID, action: &str) -> PermissionEffect {
    let ask = AskPermission {
        session_id: session.clone(),
        id: None,
        action: action.to_owned(),
        resources: vec!["x".to_owned()],
        save: None,
        metadata: None,
        source: None,
        agent: None,
    };
    g.runtime().ask_permission(ask).await.unwrap().effect
}

/// The effects on a command, a change, and a read.
async fn effects(g: &Fixture, session: &SessionID) -> [PermissionEffect; 3] {
    [
        effect(g, session, "bash").await,
        effect(g, session, "edit").await,
        effect(g, session, "read").await,
    ]
}

/// Appends an event to the lines of an export.
fn extended(lines: &[String], kind: &str, data: Value) -> Vec<String> {
    let seq = lines.len() - 1;
    let mut lines = lines.to_vec();
    let id = format!("evt_stranger{seq}");
    lines.push(json!({"id": id, "type": kind, "seq": seq, "data": data}).to_string());
    lines
}

/// Appends a record of the session with other values.
fn with_record(lines: &[String], change: Value) -> Vec<String> {
    let created: Value = serde_json::from_str(&lines[1]).unwrap();
    let mut data = created["data"].clone();
    for (name, value) in change.as_object().unwrap() {
        data["info"][name] = value.clone();
    }
    extended(lines, "session.updated.1", data)
}

fn unconfirmed(info: &SessionInfo) -> Vec<SessionChoice> {
    info.imported.clone().unwrap().unconfirmed
}

use PermissionEffect::{Allow, Ask, Deny};

#[tokio::test]
async fn rules_of_an_import_only_restrict_until_a_caller_sets_them() {
    let f = Fixture::open().await;
    for (rules, expected) in [
        (&["* * allow"][..], [Ask, Deny, Allow]),
        (&["bash * deny", "read * ask"], [Deny, Deny, Ask]),
        (&["* * deny", "bash * allow"], [Ask, Deny, Deny]),
        (&["* * ask"], [Ask, Deny, Ask]),
        (&[], [Ask, Deny, Allow]),
    ] {
        let rules: Vec<_> = rules.iter().map(|it| rule(it)).collect();
        let request = CreateSession {
            permission: rules.clone(),
            ..f.new_session()
        };
        let session = f.create(request).await.id;
        let lines = f.export(&session).await;
        let mut g = asking().await;
        let imported = g.import_with(&lines, here(&g)).await.unwrap().session;
        assert_eq!(imported.permission, rules);
        assert_eq!(
            imported.imported.as_ref().unwrap().rules,
            rules.len() as u64
        );
        assert_eq!(effects(&g, &session).await, expected, "{rules:?}");
        // The mark survives a restart, a kill, a fork, and another export and import.
        g.reopen().await;
        g.kill().await;
        assert_eq!(effects(&g, &session).await, expected, "{rules:?}");
        let fork = ForkSession {
            session_id: session.clone(),
            message_id: None,
            part_id: None,
        };
        let fork = g.runtime().fork_session(fork).await.unwrap();
        assert_eq!(fork.permission, rules);
        // Without rules and messages, nothing of the fork came with the import.
        let of_import = fork.imported.as_ref().map_or(0, |it| it.rules);
        assert_eq!(of_import, rules.len() as u64);
        assert_eq!(effects(&g, &fork.id).await, expected, "{rules:?}");
        let child = CreateSession {
            parent_id: Some(session.clone()),
            ..g.new_session()
        };
        let child = g.create(child).await.id;
        assert_eq!(effects(&g, &child).await, [Ask, Deny, Allow]);
        let again = asking().await;
        // The ids of the import come from an earlier time.
        again.clock.advance(3_600_000);
        let exported = g.export(&session).await;
        again.import_with(&exported, here(&again)).await.unwrap();
        assert_eq!(effects(&again, &session).await, expected, "{rules:?}");
        // Rules of a caller of this host are its own.
        let update = UpdateSession {
            permission: Some(vec![rule("* * allow")]),
            ..UpdateSession::default()
        };
        let updated = g.runtime().update_session(&session, update).await.unwrap();
        assert_eq!(updated.imported.unwrap().rules, 0);
        assert_eq!(effects(&g, &session).await, [Allow, Allow, Allow]);
    }
}

#[tokio::test]
async fn an_extension_of_an_own_session_loosens_nothing() {
    let g = asking().await;
    let budget = SessionBudget {
        turns: Some(3),
        ..SessionBudget::default()
    };
    let request = CreateSession {
        permission: vec![rule("read * deny")],
        budget: Some(budget),
        ..g.new_session()
    };
    let session = g.create(request).await.id;
    let own = g.info(&session).await;
    assert_eq!((own.permission.len(), &own.imported), (1, &None));
    let lines = g.export(&session).await;
    let allow = json!([RecordedRule::from(rule("* * allow"))]);
    let limit = json!([{"permission": "", "pattern": "", "action": "deny"}]);
    let lines = with_record(&lines, json!({"permission": [], "budget": {}}));
    let lines = with_record(
        &lines,
        json!({"permission": limit, "budget": {"turns": 1_000_000}}),
    );
    let lines = with_record(
        &lines,
        json!({"permission": allow, "parentID": "ses_other", "title": "T"}),
    );
    let imported = g
        .import_with(&lines, ImportChoices::default())
        .await
        .unwrap();
    let info = imported.session;
    assert_eq!((imported.applied, info.title.as_str()), (3, "T"));
    assert_eq!((info.parent_id, info.budget), (None, Some(budget)));
    assert_eq!(info.permission, [rule("read * deny"), rule("* * allow")]);
    assert_eq!(info.imported.unwrap().rules, 1);
    assert_eq!(effects(&g, &session).await, [Ask, Deny, Deny]);
    // A new title of a caller does not make the rules its own.
    let update = UpdateSession {
        title: Some("Mine".into()),
        ..UpdateSession::default()
    };
    g.runtime().update_session(&session, update).await.unwrap();
    assert_eq!(effects(&g, &session).await, [Ask, Deny, Deny]);
}

/// Sessions with work that is open in their export.
async fn open_work(f: &mut Fixture) -> Vec<SessionID> {
    let waiting = f.session().await;
    f.leave(&waiting, "Waits", Delivery::Steer).await;
    f.leave(&waiting, "Waits, too", Delivery::Queue).await;
    let unanswered = f.session().await;
    let gate = Gate::new();
    f.model.reply(Reply::nothing().hold(&gate));
    f.prompt(&unanswered, "Unanswered").await;
    f.reached(&gate).await;
    let open = f.session().await;
    let (stream, tool) = (Gate::new(), Gate::new());
    f.held_tool("slow", &tool);
    let reply = Reply::new().call("c1", "slow", json!({})).hold(&stream);
    f.model.reply(reply);
    f.prompt(&open, "Open").await;
    f.reached(&tool).await;
    f.reached(&stream).await;
    let due = f.session().await;
    let second = Gate::new();
    f.tool("echo", |input, _| async { opencode_testkit::output(input) });
    f.model
        .reply(Reply::calls("c2", "echo", json!({})))
        .reply(Reply::nothing().hold(&second));
    f.prompt(&due, "Due").await;
    f.reached(&second).await;
    f.kill().await;
    vec![waiting, unanswered, open, due]
}

#[tokio::test]
async fn open_work_of_an_import_ends_and_nothing_continues_it() {
    let mut f = Fixture::open().await;
    let sessions = open_work(&mut f).await;
    let mut g = elsewhere().await;
    for session in &sessions {
        let lines = f.export(session).await;
        g.import(&lines).await.unwrap();
        // The end of the work follows the imported log, and repeating the import changes nothing.
        let exported = g.export(session).await;
        assert_eq!(exported[..lines.len()], lines);
        assert!(exported.len() > lines.len(), "{exported:#?}");
        assert_eq!(g.import(&lines).await.unwrap().applied, 0);
        assert_eq!(g.export(session).await, exported);
        assert_eq!(g.inbox(session).await, Vec::<String>::new());
        let messages = serde_json::to_string(&g.messages(session).await).unwrap();
        assert!(!messages.contains("running"), "{messages}");
    }
    assert_eq!(g.interrupted().await, []);
    g.change(|options| options.recovery = Recovery::Resume);
    for _ in 0..2 {
        g.kill().await;
        g.idle().await;
        assert_eq!(g.interrupted().await, []);
    }
    assert_eq!(g.model.requests().len(), 0);
    // A caller that resumes does not answer a prompt of the import either.
    let resumed = g.runtime().resume(&sessions[1]).await;
    assert!(
        matches!(&resumed, Err(RuntimeError::ImportedPrompt(id)) if *id == sessions[1]),
        "{resumed:?}"
    );
    // A prompt of this host runs.
    g.model.otherwise(|_| Reply::says("Hello."));
    for session in &sessions {
        g.ask(session, "Mine").await;
        let said = compact::messages(&g.model.last_request());
        assert_eq!(said.last().unwrap(), "user: Mine");
    }
    // A crash does not lose the work that this host admitted.
    let gate = Gate::new();
    g.model.reply(Reply::nothing().hold(&gate));
    g.prompt(&sessions[1], "Cut").await;
    g.reached(&gate).await;
    g.kill().await;
    g.idle().await;
    let said = compact::messages(&g.model.last_request());
    assert_eq!(said.last().unwrap(), "user: Cut");
}

#[tokio::test]
async fn an_extension_that_ends_with_a_prompt_runs_nothing() {
    let mut g = elsewhere().await;
    let session = g.session().await;
    g.model.reply(Reply::says("Hello."));
    g.ask(&session, "Hi").await;
    g.leave(&session, "My own", Delivery::Queue).await;
    let lines = g.export(&session).await;
    let prompt = json!({"timestamp": 9, "sessionID": session, "messageID": "msg_stranger", "prompt": {"text": "Do it"}, "delivery": "steer"});
    let lines = extended(&lines, "session.next.prompt.admitted.1", prompt.clone());
    let lines = extended(&lines, "session.next.prompted.1", prompt);
    let lines = extended(
        &lines,
        "session.next.prompt.admitted.1",
        json!({"timestamp": 9, "sessionID": session, "messageID": "msg_waits", "prompt": {"text": "And this"}, "delivery": "steer"}),
    );
    let imported = g
        .import_with(&lines, ImportChoices::default())
        .await
        .unwrap();
    assert_eq!(imported.applied, 3);
    // The prompt that this host admitted still waits.
    assert_eq!(g.inbox(&session).await, ["My own (queue)"]);
    let requests = g.model.requests().len();
    g.change(|options| options.recovery = Recovery::Resume);
    g.kill().await;
    g.idle().await;
    assert_eq!(
        (g.interrupted().await, g.model.requests().len()),
        (vec![], requests)
    );
}

/// Runs the session with a prompt. Returns the refusal, or `None` if the session answered.
async fn refusal(g: &Fixture, session: &SessionID) -> Option<String> {
    g.leave(session, "Go", Delivery::Steer).await;
    match g.run(session).await {
        DrainOutcome::Failed(DrainError::Unconfirmed(reason)) => {
            assert!(!g.inbox(session).await.is_empty());
            Some(reason)
        }
        outcome => {
            assert!(matches!(outcome, DrainOutcome::Done), "{outcome:?}");
            None
        }
    }
}

fn model(id: &str) -> ModelRef {
    serde_json::from_value(json!({"id": id, "providerID": "mock"})).unwrap()
}

#[tokio::test]
async fn a_session_works_only_with_confirmed_choices() {
    use SessionChoice::{Agent, Directory, Model};

    let f = Fixture::open().await;
    let request = CreateSession {
        agent: Some("plan".to_owned()),
        model: Some(model("m2")),
        ..f.new_session()
    };
    let session = f.create(request).await.id;
    let lines = f.export(&session).await;
    let directory = f.project.directory();
    let named = ImportChoices {
        directory: Some(directory.clone()),
        agent: Some("plan".to_owned()),
        model: Some(model("m2")),
        confirm: false,
    };
    let all = ImportChoices {
        confirm: true,
        ..ImportChoices::default()
    };
    let g = elsewhere().await;
    g.model.otherwise(|_| Reply::says("Hello."));
    let imported = g
        .import_with(&lines, ImportChoices::default())
        .await
        .unwrap();
    // The result shows what the import chose.
    assert_eq!(imported.session.location.directory, directory);
    assert_eq!(imported.session.agent.as_deref(), Some("plan"));
    assert_eq!(unconfirmed(&imported.session), [Directory, Agent, Model]);
    for choice in ["directory", "agent", "model"] {
        let reason = refusal(&g, &session).await.unwrap();
        assert!(
            reason.contains(choice) && reason.contains("import"),
            "{reason}"
        );
        let compacted = g.runtime().compact(&session).await;
        assert_eq!(compacted.is_err(), choice == "directory", "{compacted:?}");
        let fork = ForkSession {
            session_id: session.clone(),
            message_id: None,
            part_id: None,
        };
        let fork = g.runtime().fork_session(fork).await.unwrap();
        assert_eq!(unconfirmed(&fork), unconfirmed(&g.info(&session).await));
        assert!(refusal(&g, &fork.id).await.unwrap().contains(choice));
        match choice {
            "directory" => drop(g.move_to(&session, directory.clone()).await),
            "agent" => g.switch_agent(&session, "plan").await,
            _ => g.switch_model(&session, "m2").await,
        }
    }
    assert_eq!(unconfirmed(&g.info(&session).await), []);
    assert_eq!(refusal(&g, &session).await, None);
    assert_eq!(g.model.last_request().model.id.to_string(), "m2");
    for choices in [named, all] {
        let g = elsewhere().await;
        g.model.otherwise(|_| Reply::says("Hello."));
        let imported = g.import_with(&lines, choices.clone()).await.unwrap();
        assert_eq!(unconfirmed(&imported.session), []);
        assert_eq!(g.export(&session).await, lines);
        assert_eq!(refusal(&g, &session).await, None);
        // A second import may confirm, too.
        let g = elsewhere().await;
        g.model.otherwise(|_| Reply::says("Hello."));
        g.import_with(&lines, ImportChoices::default())
            .await
            .unwrap();
        let again = g.import_with(&lines, choices).await.unwrap();
        assert_eq!((again.applied, unconfirmed(&again.session)), (0, vec![]));
        assert_eq!(refusal(&g, &session).await, None);
    }
    // Other choices than those of the import are recorded.
    let g = elsewhere().await;
    g.model.otherwise(|_| Reply::says("Hello."));
    let choices = ImportChoices {
        agent: Some("build".to_owned()),
        model: Some(model("m1")),
        ..here(&g)
    };
    let imported = g.import_with(&lines, choices).await.unwrap().session;
    assert_eq!(imported.location.directory, g.project.directory());
    assert_eq!(imported.agent.as_deref(), Some("build"));
    assert_eq!(unconfirmed(&imported), []);
    assert_eq!(refusal(&g, &session).await, None);
}

#[tokio::test]
async fn choices_that_the_session_would_have_anyway_need_no_confirmation() {
    let f = Fixture::open().await;
    let g = elsewhere().await;
    g.model.otherwise(|_| Reply::says("Hello."));
    let mut request = CreateSession {
        agent: Some("build".to_owned()),
        model: Some(model("m1")),
        ..f.new_session()
    };
    request.location.directory = g.project.directory();
    let session = f.create(request).await.id;
    let lines = f.export(&session).await;
    g.import_with(&lines, ImportChoices::default())
        .await
        .unwrap();
    assert_eq!(g.export(&session).await, lines);
    assert_eq!(refusal(&g, &session).await, None);
    // A later import that moves the session needs one.
    let lines = g.export(&session).await;
    let elsewhere = json!({"timestamp": 9, "sessionID": session, "location": {"directory": f.project.directory()}});
    let lines = extended(&lines, "session.next.moved.1", elsewhere);
    g.import_with(&lines, ImportChoices::default())
        .await
        .unwrap();
    assert!(refusal(&g, &session).await.unwrap().contains("directory"));
}
