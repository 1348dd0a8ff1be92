//! The client's side of a WebSocket, byte by byte.

use crate::client::Client;

/// The headers of a WebSocket request.
pub(crate) const UPGRADE: &str = "connection: Upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// An open WebSocket.
pub(crate) struct WebSocket(Client);

/// A message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Text(String),
    Binary(Vec<u8>),
    Ping,
    Close(u16, String),
    /// The connection ended without a close frame.
    Broken,
}

impl WebSocket {
    /// Opens a WebSocket.
    pub(crate) async fn open(mut client: Client, path: &str, headers: &str) -> Self {
        let headers = format!("{headers}{UPGRADE}");
        client.request("GET", path, &headers, "").await;
        let head = client.head().await;
        let accept = head.header("sec-websocket-accept");
        let expected = Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(
            (head.status, accept.as_deref()),
            (101, expected),
            "{head:?}"
        );
        Self(client)
    }

    pub(crate) async fn text(&mut self, text: &str) {
        self.send(1, text.as_bytes()).await;
    }

    /// Sends one frame with this opcode.
    pub(crate) async fn send(&mut self, opcode: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | opcode];
        match payload.len() {
            short @ 0..126 => frame.push(0x80 | short as u8),
            middle @ 126..65_536 => {
                frame.push(0x80 | 126);
                frame.extend((middle as u16).to_be_bytes());
            }
            long => {
                frame.push(0x80 | 127);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        // A mask of zeros changes nothing.
        frame.extend([0; 4]);
        frame.extend(payload);
        // The answer of the server reports a refusal.
        let _ = self.0.write(frame).await;
    }

    /// Returns the next message. The server sends no fragments.
    pub(crate) async fn next(&mut self) -> Message {
        let Some((opcode, payload)) = self.frame().await else {
            return Message::Broken;
        };
        match opcode {
            1 => Message::Text(String::from_utf8(payload).unwrap()),
            2 => Message::Binary(payload),
            8 => {
                let (code, reason) = payload.split_at(2);
                let code = u16::from_be_bytes(code.try_into().unwrap());
                Message::Close(code, String::from_utf8(reason.to_vec()).unwrap())
            }
            9 => Message::Ping,
            other => panic!("a frame of the kind {other}"),
        }
    }

    /// The payload of the next frame, which has this opcode.
    pub(crate) async fn frame_of(&mut self, opcode: u8) -> Vec<u8> {
        let (found, payload) = self.frame().await.expect("a frame");
        assert_eq!(found, opcode);
        payload
    }

    async fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let head = self.0.try_take(2).await?;
        assert_eq!(head[0] & 0xf0, 0x80, "whole, and nothing else");
        let length = match head[1] {
            126 => u64::from(u16::from_be_bytes(
                self.0.try_take(2).await?.try_into().unwrap(),
            )),
            127 => u64::from_be_bytes(self.0.try_take(8).await?.try_into().unwrap()),
            short => u64::from(short),
        };
        Some((head[0] & 0x0f, self.0.try_take(length as usize).await?))
    }

    /// Returns the received text up to this ending.
    pub(crate) async fn until(&mut self, end: &str) -> String {
        let mut all = String::new();
        while !all.ends_with(end) {
            match self.next().await {
                Message::Text(text) => all.push_str(&text),
                Message::Binary(_) | Message::Ping => {}
                other => panic!("{other:?} after {all:?}"),
            }
        }
        all
    }

    /// Returns the text until the connection closes, and the kind of its end.
    pub(crate) async fn rest(&mut self) -> (String, Message) {
        let mut all = String::new();
        loop {
            match self.next().await {
                Message::Text(text) => all.push_str(&text),
                Message::Binary(_) | Message::Ping => {}
                end => return (all, end),
            }
        }
    }
}
