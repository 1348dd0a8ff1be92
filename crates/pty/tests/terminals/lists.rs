//! The list of terminals.

use opencode_pty::{Bounds, Cursor, TerminalError, UpdateTerminal};
use opencode_schema::id::{PtyID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::pty::Pty;

use crate::support::{Host, within};

fn ids(terminals: &[Pty]) -> Vec<&PtyID> {
    terminals.iter().map(|it| &it.id).collect()
}

#[tokio::test]
async fn a_terminal_belongs_to_its_location() {
    let host = Host::new();
    let here = host.place();
    let elsewhere = LocationRef {
        directory: "/".into(),
        workspace_id: None,
    };
    let in_workspace = LocationRef {
        workspace_id: Some(WorkspaceID::parse("wrk_a").unwrap()),
        ..here.clone()
    };
    let one = host.create(host.script("read x")).await;
    let two = host.create(host.script("read x")).await;
    let mut other = host.script("read x");
    other.place = elsewhere.clone();
    let other = host.create(other).await;
    assert_eq!(ids(&host.terminals.list(&here)), [&one.id, &two.id]);
    assert_eq!(ids(&host.terminals.list(&elsewhere)), [&other.id]);
    assert_eq!(ids(&host.terminals.list(&in_workspace)), [] as [&PtyID; 0]);
    for place in [&elsewhere, &in_workspace] {
        let missing = TerminalError::NotFound(one.id.clone());
        let terminals = &host.terminals;
        assert_eq!(terminals.get(place, &one.id), Err(missing.clone()));
        let updated = terminals.update(place, &one.id, UpdateTerminal::default());
        assert_eq!(updated, Err(missing.clone()));
        let removed = terminals.remove(place, &one.id).await;
        assert_eq!(removed, Err(missing.clone()));
        assert_eq!(terminals.issue_ticket(place, &one.id), Err(missing.clone()));
        let attached = terminals.attach(place, &one.id, Cursor::End).err();
        assert_eq!(attached, Some(missing));
        let ticket = terminals.issue_ticket(&here, &one.id).unwrap();
        assert!(!terminals.redeem_ticket(&ticket, place, &one.id));
    }
    host.terminals.close().await;
}

#[tokio::test]
async fn events_are_sent_in_order() {
    let host = Host::new();
    let place = host.place();
    let created = host.create(host.script("read x")).await;
    let id = &created.id;
    let change = UpdateTerminal {
        title: Some("Build".into()),
        size: Some((10, 20)),
    };
    let updated = host.terminals.update(&place, id, change).unwrap();
    let expected = Pty {
        title: "Build".into(),
        ..created.clone()
    };
    assert_eq!(updated, expected);
    assert_eq!(host.terminals.get(&place, id), Ok(expected));
    within("the end", host.terminals.remove(&place, id))
        .await
        .unwrap();
    let again = host.terminals.remove(&place, id).await;
    assert_eq!(again, Err(TerminalError::NotFound(id.clone())));
    let notices = [
        format!("created {id}"),
        format!("updated {id} \"Build\""),
        format!("deleted {id}"),
    ];
    assert_eq!(host.notices(), notices);
}

#[tokio::test]
async fn the_oldest_ended_terminals_are_removed() {
    let host = Host::with(Bounds {
        exited: 3,
        ..Bounds::default()
    });
    let place = host.place();
    let running = host.create(host.script("read x")).await;
    let mut ended = Vec::new();
    for _ in 0..5 {
        let created = host.create(host.script("true")).await;
        host.until(|notices| notices.contains(&format!("exited {} 0", created.id)))
            .await;
        ended.push(created.id);
    }
    let kept = [&running.id, &ended[2], &ended[3], &ended[4]];
    assert_eq!(ids(&host.terminals.list(&place)), kept);
    let notices = host
        .until(|notices| notices.contains(&format!("deleted {}", ended[1])))
        .await;
    let deleted: Vec<_> = notices
        .iter()
        .filter(|it| it.starts_with("deleted"))
        .collect();
    let expected = [&ended[0], &ended[1]].map(|id| format!("deleted {id}"));
    assert_eq!(deleted, expected.iter().collect::<Vec<_>>());
    let attached = host
        .terminals
        .attach(&place, &ended[4], Cursor::At(0))
        .err();
    assert_eq!(attached, Some(TerminalError::Exited(ended[4].clone())));
    assert_eq!(Bounds::default().exited, 25);
}

#[tokio::test]
async fn the_number_of_running_programs_is_bounded() {
    let host = Host::with(Bounds {
        running: 2,
        ..Bounds::default()
    });
    let place = host.place();
    let create = || within("an answer", host.terminals.create(host.script("read x")));
    let (one, two, three, four) = tokio::join!(create(), create(), create(), create());
    let (mut created, mut refused) = (Vec::new(), Vec::new());
    for answer in [one, two, three, four] {
        match answer {
            Ok(terminal) => created.push(terminal.id),
            Err(error) => refused.push(error),
        }
    }
    assert_eq!(created.len(), 2);
    assert_eq!(refused, vec![TerminalError::TooMany { limit: 2 }; 2]);
    // A failed start takes no slot.
    within("the end", host.terminals.remove(&place, &created[0]))
        .await
        .unwrap();
    for _ in 0..3 {
        let failed = host.terminals.create(host.program("/no/such", &[])).await;
        assert!(
            matches!(failed, Err(TerminalError::Command { .. })),
            "{failed:?}"
        );
    }
    host.create(host.script("read x")).await;
    let full = host.terminals.create(host.script("read x")).await;
    assert_eq!(full, Err(TerminalError::TooMany { limit: 2 }));
    // Ended terminals do not count.
    host.attach(&created[1], Cursor::End).send("\n").await;
    host.exited(&created[1]).await;
    host.create(host.script("read x")).await;
}
