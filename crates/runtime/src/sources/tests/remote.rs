//! Instructions behind addresses.

use std::time::Duration;

use opencode_location::config::DiagnosticKind;

use super::*;

const ADDRESS: &str = "https://user:secret@example.com/rules.md?token=secret";

/// Minimum interval between two requests in milliseconds.
const INTERVAL: i64 = 60_000;

const TITLE: &str = "Remote instructions (https://example.com/rules.md)";

async fn world() -> World {
    World::new(json!({ "instructions": [ADDRESS] })).await
}

fn stated(text: &str) -> String {
    format!("{TITLE}:\n{text}")
}

fn replaced(text: &str) -> String {
    let text = stated(text);
    format!("{TITLE}: what follows replaces everything told under this title before.\n\n{text}")
}

/// Fails the test if the future takes too long.
async fn within<T>(wait: impl Future<Output = T>) -> T {
    let deadline = Duration::from_secs(30);
    tokio::time::timeout(deadline, wait).await.unwrap()
}

/// Returns the next text that the model is told after a background request.
async fn update_after_request(world: &mut World) -> String {
    world.clock.advance(INTERVAL);
    let waiting = async {
        loop {
            let update = world.update().await;
            if !update.is_empty() {
                return update;
            }
            tokio::task::yield_now().await;
        }
    };
    within(waiting).await
}

/// Runs boundaries until a background request for the address starts. The gate holds the answer.
async fn until_requested(world: &mut World, gate: &Gate) {
    world.clock.advance(INTERVAL);
    let asking = async {
        while gate.reached().now_or_never().is_none() {
            assert_eq!(world.update().await, "", "no turn waits for the answer");
            tokio::task::yield_now().await;
        }
    };
    within(asking).await;
    assert_eq!(world.update().await, "", "no turn waits for the answer");
}

/// Runs boundaries until a background request has failed. The model is told nothing.
async fn fails(world: &mut World) {
    world.clock.advance(INTERVAL);
    let failing = async {
        while failures(world).is_empty() {
            assert_eq!(world.update().await, "");
            tokio::task::yield_now().await;
        }
    };
    within(failing).await;
}

/// Returns the diagnostics without the address.
fn failures(world: &World) -> Vec<String> {
    let diagnostics = world.sources.diagnostics(&world.location).into_iter();
    let each = diagnostics.map(|it| {
        assert_eq!(
            (it.path.as_str(), it.kind, it.line, it.column),
            (
                "https://example.com/rules.md",
                DiagnosticKind::Io,
                None,
                None
            )
        );
        let update = "The instructions behind this address cannot be loaded: ";
        it.message.strip_prefix(update).unwrap().to_owned()
    });
    each.collect()
}

#[tokio::test]
async fn the_first_boundary_waits_and_later_ones_use_the_available_texts() {
    let mut world = world().await;
    world.web.say(ADDRESS, "one");
    let gate = world.web.hold(ADDRESS);
    let began = always(&format!("{}\n\n", stated("one")));
    let answer = async {
        gate.reached().await;
        gate.release();
    };
    let (update, ()) = within(futures::future::join(world.update(), answer)).await;
    assert_eq!(update, began);
    assert_eq!(world.update().await, "");

    world.web.say(ADDRESS, "two");
    let gate = world.web.hold(ADDRESS);
    until_requested(&mut world, &gate).await;
    gate.release();
    assert_eq!(update_after_request(&mut world).await, replaced("two"));
    assert_eq!(failures(&world), [""; 0]);
}

/// A drain has many boundaries in a minute.
#[tokio::test]
async fn an_address_is_not_requested_again_for_a_minute_after_an_answer() {
    let mut world = world().await;
    world.web.say(ADDRESS, "one");
    world.update().await;
    left_alone(&mut world).await;
    world.web.answer(ADDRESS, Err("gone"));
    fails(&mut world).await;
    left_alone(&mut world).await;
    let gate = world.web.hold(ADDRESS);
    until_requested(&mut world, &gate).await;
    assert_eq!(world.web.asked(), [ADDRESS; 3]);
}

/// Runs some boundaries within the minute.
async fn left_alone(world: &mut World) {
    world.clock.advance(INTERVAL - 1);
    for _ in 0..3 {
        assert_eq!(world.update().await, "");
    }
}

#[tokio::test]
async fn an_unresponsive_address_delays_no_turn() {
    let mut world = world().await;
    world
        .web
        .answer(ADDRESS, Err("the server answers 404 Not Found"));
    assert_eq!(world.update().await, always(""));
    assert_eq!(failures(&world), ["the server answers 404 Not Found"]);
    assert_eq!(world.update().await, "");

    let gate = world.web.hold(ADDRESS);
    until_requested(&mut world, &gate).await;
    world.web.say(ADDRESS, "one");
    gate.release();
    assert_eq!(update_after_request(&mut world).await, stated("one"));
    assert_eq!(failures(&world), [""; 0]);
}

#[tokio::test]
async fn a_text_is_kept_while_its_address_fails() {
    let mut world = world().await;
    world.web.say(ADDRESS, "one");
    let began = always(&format!("{}\n\n", stated("one")));
    assert_eq!(world.update().await, began);
    world.web.answer(ADDRESS, Err("gone"));
    fails(&mut world).await;
    assert_eq!(failures(&world), ["gone"]);
    assert_eq!(world.update().await, "");
    assert_eq!(world.replaced().await, began);
    world.known = None;
    assert_eq!(world.update().await, began, "a new session");
}

/// A session keeps the text of an earlier host, and its model gets no removal text.
#[tokio::test]
async fn a_text_of_an_earlier_host_is_kept_while_the_address_fails() {
    let mut before = world().await;
    before.web.say(ADDRESS, "one");
    before.update().await;
    let mut world = World {
        known: before.known.clone(),
        project: before.project,
        ..world().await
    };
    world.configure(json!({ "instructions": [ADDRESS] })).await;
    world.web.answer(ADDRESS, Err("gone"));
    assert_eq!(world.update().await, "");
    let key = before
        .known
        .unwrap()
        .into_keys()
        .find(|it| it.contains("remote"));
    assert_eq!(
        world.replaced().await,
        format!("blocked: {}: gone", key.unwrap())
    );
    world.web.say(ADDRESS, "two");
    assert_eq!(update_after_request(&mut world).await, replaced("two"));
}

#[tokio::test]
async fn an_address_that_is_no_longer_configured_is_revoked() {
    let mut world = world().await;
    world.web.say(ADDRESS, "one");
    world.update().await;
    world.configure(json!({})).await;
    let gone = format!("{TITLE}: nothing told under this title before applies any more.");
    assert_eq!(world.update().await, gone);
}

#[tokio::test]
async fn binary_and_large_answers_are_failures() {
    for (body, failure) in [
        (b"caf\xe9".to_vec(), "the answer is not UTF-8 text"),
        (
            vec![b'a'; 1024 * 1024 + 1],
            "the text is larger than 1048576 bytes",
        ),
    ] {
        let mut world = world().await;
        world.web.answer(ADDRESS, Ok(body));
        assert_eq!(world.update().await, always(""));
        assert_eq!(failures(&world), [failure]);
    }
}

#[tokio::test]
async fn a_request_to_an_unresponsive_server_times_out() {
    let mut world = world().await;
    let gate = world.web.hold(ADDRESS);
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    assert_eq!(world.update().await, always(""));
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(failures(&world), ["no answer within 5 seconds"]);
    gate.dropped().await;
}

#[tokio::test]
async fn sessions_share_requests() {
    let other = "https://example.com/other.md";
    let twice = json!({ "instructions": [ADDRESS, other, ADDRESS] });
    let world = World::new(twice).await;
    world.web.say(ADDRESS, "one");
    world.web.say(other, "two");
    let gates = [ADDRESS, other].map(|it| world.web.hold(it));
    let answer = async {
        for gate in &gates {
            gate.reached().await;
        }
        gates.iter().for_each(Gate::release);
    };
    let both = futures::future::join3(world.observe(), world.observe(), answer);
    let (one, two, ()) = within(both).await;
    assert_eq!(one.initialize(), two.initialize());
    let text = one.initialize().unwrap().text;
    let update = format!("{}\n\nRemote instructions ({other}):\ntwo", stated("one"));
    assert_eq!(world.shown(&text), always(&format!("{update}\n\n")));
    assert_eq!(world.web.asked(), [ADDRESS, other]);
}

#[tokio::test]
async fn closing_ends_background_requests() {
    let mut world = world().await;
    world.web.say(ADDRESS, "one");
    world.update().await;
    let gate = world.web.hold(ADDRESS);
    until_requested(&mut world, &gate).await;
    world.closing.cancel();
    within(gate.dropped()).await;
}

#[tokio::test]
async fn addresses_beyond_the_limit_are_reported_and_not_requested() {
    let address = |number| format!("https://example.com/{number}.md");
    let addresses: Vec<_> = (0..40).map(address).collect();
    let mut world = World::new(json!({ "instructions": addresses })).await;
    for address in &addresses {
        world.web.say(address, "text");
    }
    world.update().await;
    assert_eq!(world.web.asked(), addresses[..32]);
    let update = world.sources.diagnostics(&world.location);
    let update: Vec<_> = update.iter().map(ToString::to_string).collect();
    assert_eq!(
        update,
        [
            "https://example.com/32.md: This address has no effect, nor have those that follow: at most 32 of instructions are asked"
        ]
    );
}
