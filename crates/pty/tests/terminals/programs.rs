//! The environment and the output of programs.

use std::collections::BTreeMap;
use std::time::Duration;

use opencode_pty::{
    Bounds, CreateTerminal, Cursor, OutputBounds, OutputItem, TerminalError, UpdateTerminal,
};
use opencode_schema::pty::{Pty, PtyStatus};

use crate::support::{Host, lives, within};

#[tokio::test]
async fn a_terminal_is_described_from_start_to_end() {
    let host = Host::new();
    let created = host
        .create(host.script("read line; echo you said $line"))
        .await;
    let id = created.id.as_str().to_owned();
    let running = Pty {
        id: created.id.clone(),
        title: format!("Terminal {}", &id[id.len() - 4..]),
        command: "/bin/sh".into(),
        args: ["-c", "read line; echo you said $line", "-l"]
            .map(String::from)
            .to_vec(),
        cwd: host.place().directory,
        status: PtyStatus::Running,
        pid: created.pid,
        exit_code: None,
    };
    assert_eq!(created, running);
    assert!(lives(created.pid));
    let mut client = host.attach(&created.id, Cursor::At(0));
    client.send("hello\n").await;
    assert_eq!(client.rest().await, "hello\r\nyou said hello\r\n");
    let exited = host.exited(&created.id).await;
    let expected = Pty {
        status: PtyStatus::Exited,
        exit_code: Some(0),
        ..running
    };
    assert_eq!(exited, expected);
    assert!(!lives(created.pid));
    assert_eq!(
        host.notices(),
        [format!("created {id}"), format!("exited {id} 0")]
    );
}

#[tokio::test]
async fn exit_codes_are_reported_as_shells_do() {
    let host = Host::new();
    for (script, code) in [
        ("read x; exit 0", 0),
        ("read x; exit 3", 3),
        ("read x; exit 255", 255),
        ("read x; kill -TERM $$", 128 + 15),
        ("read x; kill -KILL $$", 128 + 9),
    ] {
        let (_, ended) = host.run(host.script(script)).await;
        assert_eq!(ended, code, "{script}");
    }
}

#[tokio::test]
async fn programs_get_the_given_variables_and_those_of_a_terminal() {
    let host = Host::new();
    let given = [
        ("A", "one=1"),
        ("TERM", "dumb"),
        ("OPENCODE_TERMINAL", "0"),
        ("EMPTY", ""),
    ];
    let request = CreateTerminal {
        environment: given
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        // The shell adds these variables itself.
        ..host.script("read x; exec /usr/bin/env -u PWD -u OLDPWD -u SHLVL -u _")
    };
    let (text, _) = host.run(request).await;
    let mut lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "A=one=1",
            "EMPTY=",
            "OPENCODE_TERMINAL=1",
            "TERM=xterm-256color"
        ]
    );
}

#[tokio::test]
async fn a_program_starts_in_its_directory_and_terminal() {
    let host = Host::new();
    std::fs::create_dir(host.folder.path().join("inner")).unwrap();
    let request = CreateTerminal {
        directory: Some("inner".into()),
        title: Some("Mine".into()),
        ..host.script("read x; stty size; pwd; test -t 0 && test -t 1 && test -t 2 && echo all")
    };
    let created = host.create(request).await;
    let inner = format!("{}/inner", host.place().directory);
    assert_eq!(
        (created.title.as_str(), created.cwd.as_str()),
        ("Mine", inner.as_str())
    );
    let mut client = host.attach(&created.id, Cursor::At(0));
    client.send("\n").await;
    assert_eq!(
        client.rest().await,
        format!("\r\n24 80\r\n{inner}\r\nall\r\n")
    );
}

#[tokio::test]
async fn a_terminal_is_resized_and_its_program_is_notified() {
    let host = Host::new();
    let script = "trap 'stty size; exit 9' WINCH; echo ready; sleep 600 & wait";
    let created = host
        .create(host.program("/bin/bash", &["-c", script]))
        .await;
    let mut client = host.attach(&created.id, Cursor::At(0));
    client.until("ready\r\n").await;
    let change = UpdateTerminal {
        title: None,
        size: Some((50, 132)),
    };
    let same = host
        .terminals
        .update(&host.place(), &created.id, change.clone())
        .unwrap();
    assert_eq!(same, created);
    assert_eq!(client.rest().await, "50 132\r\n");
    let exited = host.exited(&created.id).await;
    let after = host
        .terminals
        .update(&host.place(), &created.id, change)
        .unwrap();
    assert_eq!(after, exited, "one that ended has no size");
}

#[tokio::test]
async fn a_failed_start_has_a_reason() {
    let host = Host::new();
    let file = host.folder.path().join("file");
    std::fs::write(&file, "no program").unwrap();
    let file = file.to_str().unwrap();
    let message = |code| std::io::Error::from_raw_os_error(code).to_string();
    let command = |command: &str, code| TerminalError::Command {
        command: command.into(),
        message: message(code),
    };
    let nowhere = format!("{}/nowhere", host.place().directory);
    let variable = |name: &str, value: &str| CreateTerminal {
        environment: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..host.script("true")
    };
    let unfit = |name: &str| TerminalError::Variable { name: name.into() };
    let in_directory = |directory: &str| CreateTerminal {
        directory: Some(directory.into()),
        ..host.script("true")
    };
    for (request, error) in [
        (
            host.program("/no/such/program", &[]),
            command("/no/such/program", 2),
        ),
        (
            host.program("no-such-program-anywhere", &[]),
            command("no-such-program-anywhere", 2),
        ),
        (host.program("", &[]), command("", 2)),
        (host.program(file, &[]), command(file, 13)),
        (
            in_directory("nowhere"),
            TerminalError::Directory { directory: nowhere },
        ),
        (
            in_directory(file),
            TerminalError::Directory {
                directory: file.into(),
            },
        ),
        (variable("", "x"), unfit("")),
        (variable("A=B", "x"), unfit("A=B")),
        (variable("A\0", "x"), unfit("A\0")),
        (variable("A", "\0"), unfit("A")),
    ] {
        let refused = within("an answer", host.terminals.create(request)).await;
        assert_eq!(refused, Err(error));
    }
    let refused = host.terminals.create(host.program("a\0b", &[])).await;
    assert!(
        matches!(refused, Err(TerminalError::Command { .. })),
        "{refused:?}"
    );
    assert_eq!(host.notices(), Vec::<String>::new());
    assert_eq!(host.terminals.list(&host.place()), []);
}

#[tokio::test]
async fn a_late_client_gets_earlier_output_from_its_cursor() {
    let host = Host::new();
    let created = host
        .create(host.script("printf 'a\u{e4}\u{1f600}b'; read x; printf c"))
        .await;
    let mut first = host.attach(&created.id, Cursor::At(0));
    assert_eq!(first.until("b").await, "aä😀b");
    for (from, replay) in [
        (Cursor::At(0), Some("aä😀b")),
        (Cursor::At(4), Some("b")),
        (Cursor::At(5), None),
        (Cursor::At(1 << 60), None),
        (Cursor::End, None),
    ] {
        let mut client = host.attach(&created.id, from);
        if let Some(replay) = replay {
            assert_eq!(
                client.next().await,
                OutputItem::Text(replay.into()),
                "{from:?}"
            );
        }
        assert_eq!(client.next().await, OutputItem::CaughtUp(5), "{from:?}");
    }
    let mut last = host.attach(&created.id, Cursor::End);
    assert_eq!(last.next().await, OutputItem::CaughtUp(5));
    first.send("\n").await;
    assert_eq!(
        (first.rest().await, last.rest().await),
        ("\r\nc".into(), "\r\nc".into())
    );
}

#[tokio::test]
async fn large_output_is_complete() {
    let host = Host::new();
    let lines = 200_000;
    let script = format!("stty -opost; read x; seq 1 {lines}");
    let created = host.create(host.script(&script)).await;
    let mut client = host.attach(&created.id, Cursor::At(0));
    client.send("\n").await;
    let text = client.rest().await;
    let expected: String = (1..=lines).map(|number| format!("{number}\n")).collect();
    let (_, numbers) = text.split_once('\n').unwrap();
    assert_eq!(numbers.len(), expected.len());
    assert!(numbers == expected);
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_stop_the_program() {
    let output = OutputBounds {
        kept: 100_000,
        behind: 10_000,
        max_wait: Duration::from_millis(20),
    };
    let bounds = Bounds {
        output,
        ..Bounds::default()
    };
    let host = Host::with(bounds);
    let created = host.create(host.script("read x; seq 1 100000")).await;
    let (mut stuck, working) = (
        host.attach(&created.id, Cursor::At(0)),
        host.attach(&created.id, Cursor::End),
    );
    working.send("\n").await;
    drop(working);
    assert_eq!(host.exited(&created.id).await.exit_code, Some(0));
    assert_eq!(stuck.next().await, OutputItem::Cut);
}

#[tokio::test]
async fn input_waits_for_a_program_that_does_not_read() {
    let host = Host::new();
    let created = host
        .create(host.script("stty raw -echo; echo ready; sleep 600"))
        .await;
    let mut client = host.attach(&created.id, Cursor::At(0));
    client.until("ready").await;
    let input = client.0.input();
    // More than the system and the queue take.
    let mut taken = 0;
    while input.try_send(vec![b'x'; 64 * 1024].into()).is_ok() || taken == 0 {
        taken += 1;
        tokio::task::yield_now().await;
        assert!(taken < 1000, "input without end");
    }
    within("the end", host.terminals.remove(&host.place(), &created.id))
        .await
        .unwrap();
    assert_eq!(client.rest().await, "");
}

#[tokio::test]
async fn tickets_are_only_for_existing_terminals() {
    let host = Host::new();
    let created = host.create(host.script("read x")).await;
    let (place, id) = (host.place(), &created.id);
    let ticket = host.terminals.issue_ticket(&place, id).unwrap();
    *host.clock.0.lock().unwrap() += 59_999;
    assert!(host.terminals.redeem_ticket(&ticket, &place, id));
    assert!(!host.terminals.redeem_ticket(&ticket, &place, id));
    let late = host.terminals.issue_ticket(&place, id).unwrap();
    *host.clock.0.lock().unwrap() += 60_000;
    assert!(!host.terminals.redeem_ticket(&late, &place, id));
    within("the end", host.terminals.remove(&place, id))
        .await
        .unwrap();
    let refused = host.terminals.issue_ticket(&place, id);
    assert_eq!(refused, Err(TerminalError::NotFound(id.clone())));
}
