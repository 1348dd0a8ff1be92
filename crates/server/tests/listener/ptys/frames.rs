//! The frames of a connection to a terminal.

use super::{Shown, caught, closed};
use crate::websocket::Message;

fn text(text: &str) -> Message {
    Message::Text(text.to_owned())
}

#[tokio::test]
async fn earlier_output_is_first_then_its_cursor_then_new_output() {
    let script = "stty -echo; printf 'aä😀b'; read x; echo got $x; read y";
    let shown = Shown::open(script).await;
    let mut first = shown.connect("").await;
    first.until("b").await;
    for (query, replay) in [
        ("", Some("aä😀b")),
        ("?cursor=0", Some("aä😀b")),
        ("?cursor=x", Some("aä😀b")),
        ("?cursor=2", Some("😀b")),
        ("?cursor=4", Some("b")),
        ("?cursor=5", None),
        ("?cursor=500", None),
        ("?cursor=-1", None),
    ] {
        let mut client = shown.connect(query).await;
        if let Some(replay) = replay {
            assert_eq!(client.next().await, text(replay), "{query}");
        }
        assert_eq!(client.next().await, caught(5), "{query}");
    }
    let mut last = shown.connect("?cursor=-1").await;
    assert_eq!(last.next().await, caught(5));
    first.text("one\n").await;
    assert_eq!(last.until("\n").await, "got one\r\n");
    assert_eq!(first.until("\n").await, "got one\r\n");
    last.send(2, "ä\n".as_bytes()).await;
    for client in [&mut first, &mut last] {
        assert_eq!(client.next().await, closed(1000, ""));
        client.send(8, &1000_u16.to_be_bytes()).await;
        assert_eq!(client.next().await, Message::Broken);
    }
}

#[tokio::test]
async fn a_long_replay_is_sent_in_pieces() {
    let script = "stty -opost; i=0; while [ $i -lt 70 ]; do printf '%02000d' 7; i=$((i+1)); done; echo end; read x";
    let shown = Shown::open(script).await;
    shown.connect("").await.until("end\n").await;
    let mut client = shown.connect("").await;
    let mut lengths = Vec::new();
    let cursor = loop {
        match client.next().await {
            Message::Text(piece) => lengths.push(piece.len()),
            other => break other,
        }
    };
    assert_eq!(lengths, [65_536, 65_536, 140_004 - 2 * 65_536]);
    assert_eq!(cursor, caught(140_004));
}

#[tokio::test]
async fn invalid_text_is_not_typed() {
    let shown = Shown::open("stty -echo; echo ready; read x; echo \"<$x>\"").await;
    let mut client = shown.connect("").await;
    client.until("ready\r\n").await;
    // Output from before the connection is not sent again.
    client.send(2, b"\xff\xfe").await;
    client.send(2, b"\xc3").await;
    client.send(2, b"fine\n").await;
    let (seen, end) = client.rest().await;
    assert_eq!((seen.as_str(), end), ("<fine>\r\n", closed(1000, "")));
}

#[tokio::test]
async fn a_ping_is_answered() {
    let shown = Shown::open("sleep 600").await;
    let mut client = shown.connect("?cursor=-1").await;
    assert_eq!(client.next().await, caught(0));
    client.send(9, b"are you there").await;
    assert_eq!(client.frame_of(10).await, b"are you there");
}

#[tokio::test]
async fn too_much_input_at_once_closes_the_connection() {
    let shown = Shown::open("stty raw -echo; echo ready; cat >/dev/null").await;
    let largest = vec![b'x'; 1024 * 1024];
    let unreadable = "what came is no message, or far too large";
    for (opcode, payload, code, reason) in [
        (
            1,
            [&largest[..], b"x"].concat(),
            1009,
            "at most 1 MiB can be typed at once",
        ),
        (2, largest.repeat(3), 1002, unreadable),
        (1, b"\xff".to_vec(), 1002, unreadable),
        (3, b"".to_vec(), 1002, unreadable),
    ] {
        let mut client = shown.connect("").await;
        client.until("ready\n").await;
        client.send(1, &largest).await;
        client.send(opcode, &payload).await;
        assert_eq!(client.rest().await.1, closed(code, reason));
    }
}

#[tokio::test]
async fn a_terminal_with_an_ended_program_reports_it() {
    let shown = Shown::open("read x").await;
    let mut client = shown.connect("").await;
    client.text("\n").await;
    assert_eq!(client.rest().await.1, closed(1000, ""));
    let end = shown.connect("").await.rest().await.1;
    assert_eq!(end, closed(4404, "session exited"));
}
