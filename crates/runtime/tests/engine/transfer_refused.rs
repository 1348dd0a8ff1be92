//! Lines that are not an export, or that conflict with the stored data: no entry is imported.

use opencode_runtime::{ImportChoices, ImportError, ReplayConflict, RuntimeError};
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Reply};

use crate::transfer::elsewhere;

/// Replaces a part of one line.
fn with(lines: &[String], line: usize, from: &str, to: &str) -> Vec<String> {
    let mut lines = lines.to_vec();
    let changed = lines[line - 1].replace(from, to);
    assert_ne!(changed, lines[line - 1]);
    lines[line - 1] = changed;
    lines
}

#[tokio::test]
async fn an_invalid_export_is_refused_with_the_invalid_line() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let lines = f.export(&session).await;
    let without = |line: usize| [&lines[..line - 1], &lines[line..]].concat();
    let g = elsewhere().await;
    for (lines, expected) in [
        (vec![], "line 2: it is missing"),
        (vec![lines[0].clone()], "line 2: it is missing"),
        (
            without(1),
            "line 1: it does not describe an exported session",
        ),
        (
            with(&lines, 1, "opencode-session", "other"),
            "line 1: the format is \"other\"",
        ),
        (
            with(&lines, 1, "\"version\":1", "\"version\":2"),
            "line 1: version 2 of the format is not known",
        ),
        (
            with(&lines, 3, "{\"id\"", "id"),
            "line 3: it is no entry of a log",
        ),
        (
            with(&lines, 3, "\"seq\":1", "\"seq\":-1"),
            "line 3: it is no entry of a log",
        ),
        (
            with(&lines, 4, "prompted.1", "prompted.7"),
            "line 4: the type \"session.next.prompted.7\" is not known",
        ),
        (
            with(&lines, 4, "\"prompt\":", "\"other\":"),
            "line 4: the payload of session.next.prompted does not fit its type: missing field",
        ),
        (
            with(&lines, 8, "\"timestamp\":", "\"time\":"),
            "line 8: missing field `timestamp`",
        ),
    ] {
        match g.import(&lines).await {
            Err(RuntimeError::Import(error @ ImportError::Unreadable { .. })) => {
                let text = error.to_string();
                assert!(text.starts_with(expected), "{text}");
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
    let huge = with(&lines, 7, "Hello.", &"x".repeat(256 * 1024 * 1024));
    let too_long = g.import(&huge).await;
    assert!(
        matches!(
            too_long,
            Err(RuntimeError::Import(ImportError::LineTooLong { line: 7 }))
        ),
        "{too_long:?}"
    );
    let broken_off = lines[..3].iter().map(|line| Ok(line.clone()));
    let broken_off = broken_off.chain([Err("the network is gone")]);
    let broken_off = g
        .runtime()
        .import(futures::stream::iter(broken_off), ImportChoices::default())
        .await;
    let expected = ImportError::BrokenOff {
        line: 3,
        reason: "the network is gone".into(),
    };
    assert!(
        matches!(&broken_off, Err(RuntimeError::Import(it)) if *it == expected),
        "{broken_off:?}"
    );
    let missing = g.runtime().session(&session).await;
    assert!(
        matches!(missing, Err(RuntimeError::SessionNotFound(_))),
        "{missing:?}"
    );
}

#[tokio::test]
async fn an_export_that_contradicts_itself_or_the_store_is_a_conflict() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let half = f.export(&session).await;
    f.model.reply(Reply::says("Hello again."));
    f.ask(&session, "More").await;
    let lines = f.export(&session).await;
    let other = SessionID::parse("ses_other").unwrap();
    let (id, renamed) = (session.as_str(), other.as_str());
    let event = f.stored(&session).await[0].id.clone();
    let g = elsewhere().await;
    // Half of the log is imported already.
    g.import(&half).await.unwrap();
    let before = g.export(&session).await;
    let copy: Vec<_> = lines.iter().map(|it| it.replace(id, renamed)).collect();
    for (lines, line, conflict) in [
        (
            [&lines[..5], &lines[6..]].concat(),
            6,
            ReplayConflict::NotConsecutive {
                expected: 4,
                found: 5,
            },
        ),
        (
            [&lines[..1], &lines[9..]].concat(),
            2,
            ReplayConflict::Gap {
                session_id: session.clone(),
                expected: 7,
                found: 8,
            },
        ),
        (
            with(&lines, 6, id, renamed),
            6,
            ReplayConflict::ForeignSession {
                seq: 4,
                session_id: session.clone(),
                named: other.clone(),
            },
        ),
        (
            with(&lines, 3, "\"text\":\"Hi\"", "\"text\":\"Ho\""),
            3,
            ReplayConflict::Diverged {
                session_id: session.clone(),
                seq: 1,
            },
        ),
        (
            [&copy[..1], &copy[3..]].concat(),
            2,
            ReplayConflict::Gap {
                session_id: other.clone(),
                expected: 0,
                found: 2,
            },
        ),
        (
            with(&copy, 2, "evt_", "evt_new"),
            3,
            ReplayConflict::EventIdInUse { seq: 1, id: event },
        ),
    ] {
        let expected = ImportError::Conflict { line, conflict };
        let refused = g.import(&lines).await;
        assert!(
            matches!(&refused, Err(RuntimeError::Import(it)) if *it == expected),
            "{expected:?}: {refused:?}"
        );
    }
    assert_eq!(g.export(&session).await, before);
    let unknown = g.runtime().session(&other).await;
    assert!(
        matches!(unknown, Err(RuntimeError::SessionNotFound(_))),
        "{unknown:?}"
    );
}
