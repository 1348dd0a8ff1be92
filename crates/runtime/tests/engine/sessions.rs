//! Several sessions in one host.

use futures::future::join_all;
use opencode_runtime::{Order, SessionFilter};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact};

#[tokio::test]
async fn sessions_run_independently_and_active_lists_the_running_ones() {
    let f = Fixture::open().await;
    let (one, other) = (f.session().await, f.session().await);
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("Wait.").hold(&gate).stop())
        .reply(Reply::says("Quick."));
    f.prompt(&one, "Slow").await;
    f.reached(&gate).await;
    f.ask(&other, "Quick").await;
    assert_eq!(f.runtime().active(), std::slice::from_ref(&one));
    assert_eq!(f.events(&other).await.last().unwrap(), "step.ended stop");
    assert_eq!(compact::messages(&f.model.last_request()), ["user: Quick"]);
    gate.release();
    f.wait(&one).await;
    assert_eq!(f.runtime().active(), []);
    assert_eq!(f.events(&one).await.last().unwrap(), "step.ended stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_concurrent_sessions_all_settle() {
    let f = Fixture::open().await;
    f.model.otherwise(|request| {
        let asked = compact::messages(request);
        Reply::says(&format!("You said {}.", asked[0]))
    });
    let sessions = join_all((0..100).map(|_| f.session())).await;
    let prompts = sessions.iter().enumerate();
    join_all(prompts.map(|(n, session)| {
        let text = format!("number {n}");
        let f = &f;
        async move { f.ask(session, &text).await }
    }))
    .await;
    assert_eq!(f.runtime().active(), []);
    for (n, session) in sessions.iter().enumerate() {
        assert_eq!(
            f.events(session).await,
            [
                &format!("prompt.admitted number {n}"),
                &format!("prompted number {n}"),
                "step.started",
                "text.started",
                &format!("text.ended You said user: number {n}."),
                "step.ended stop",
            ]
        );
    }
}

#[tokio::test]
async fn a_record_has_the_time_of_its_last_choice_or_move_and_not_of_its_last_turn() {
    let f = Fixture::open().await;
    f.project.write("sub/a.txt", "a");
    let session = f.session().await;
    let created = f.info(&session).await.time.created;
    let (mut now, mut updated) = (created, created);
    f.model.otherwise(|_| Reply::says("Hello."));
    for (step, is_newer) in [
        ("a turn", false),
        ("a prompt", false),
        ("another delivery", false),
        ("a withdrawal", false),
        ("an agent", true),
        ("the same agent", true),
        ("a model", true),
        ("the same model", false),
        ("a move", true),
        ("the same place", false),
    ] {
        f.clock.advance(1000);
        now += 1000;
        match step {
            "a turn" => drop(f.ask(&session, "Hi").await),
            "a prompt" => drop(f.leave(&session, "Later", Delivery::Queue).await),
            "another delivery" => {
                let input = f.leave(&session, "Sooner", Delivery::Queue).await;
                f.set_delivery(&input, Delivery::Steer).await;
                f.wait(&session).await;
            }
            "a withdrawal" => {
                let input = f.leave(&session, "Never", Delivery::Queue).await;
                f.withdraw(&input).await;
            }
            "an agent" | "the same agent" => {
                let switched = f.runtime().switch_agent(&session, "plan".into()).await;
                switched.unwrap();
            }
            "a model" | "the same model" => f.switch_model(&session, "m2").await,
            _ => {
                let sub = f.project.path("sub");
                f.move_to(&session, sub.to_string_lossy()).await;
            }
        }
        if is_newer {
            updated = now;
        }
        let time = f.info(&session).await.time;
        assert_eq!((time.created, time.updated), (created, updated), "{step}");
    }
}

#[tokio::test]
async fn sessions_are_listed_at_their_current_location() {
    let f = Fixture::open().await;
    f.project.write("sub/a.txt", "a");
    f.project.git();
    let (moved, stays) = (f.session().await, f.session().await);
    let sub = f.project.path("sub").to_string_lossy().into_owned();
    f.move_to(&moved, &sub).await;
    let project = f.info(&stays).await.project_id;
    let none = SessionFilter::default;
    for (filter, expected) in [
        (none(), &[&moved, &stays][..]),
        (
            SessionFilter {
                directory: Some(f.project.directory()),
                ..none()
            },
            &[&stays],
        ),
        (
            SessionFilter {
                directory: Some(sub),
                ..none()
            },
            &[&moved],
        ),
        (
            SessionFilter {
                project: Some(project.clone()),
                ..none()
            },
            &[&moved, &stays],
        ),
        (
            SessionFilter {
                project: Some(project),
                subpath: Some("sub".into()),
                ..none()
            },
            &[&moved],
        ),
        (
            SessionFilter {
                search: Some("new SESSION".into()),
                ..none()
            },
            &[&moved, &stays],
        ),
        (
            SessionFilter {
                search: Some("nothing".into()),
                ..none()
            },
            &[],
        ),
    ] {
        let order = Order::Ascending;
        let listed = f.runtime().sessions(filter.clone(), order, None, 10).await;
        let mut listed: Vec<_> = listed.unwrap().into_iter().map(|it| it.id).collect();
        let mut expected: Vec<_> = expected.iter().map(|it| (*it).clone()).collect();
        // Both sessions were created at the same time, so their ids determine the order.
        listed.sort();
        expected.sort();
        assert_eq!(listed, expected, "{filter:?}");
    }
}
