//! The addresses on which a listener listens, and those that it refuses.

use axum::Router;
use opencode_protocol::failure::{Failure, Tag};
use opencode_server::{Bounds, ListenOptions, Listener, Password};

use crate::client::{Client, within};

async fn bind(options: ListenOptions) -> Result<Listener, Failure> {
    let bound = Listener::bind(Router::new(), options, Bounds::default());
    within("a listener", bound).await
}

async fn refused(options: ListenOptions) -> Failure {
    match bind(options).await {
        Ok(listener) => panic!("it listens on {}", listener.url()),
        Err(failure) => failure,
    }
}

fn at(hostname: &str) -> ListenOptions {
    ListenOptions {
        hostname: hostname.into(),
        ..ListenOptions::default()
    }
}

fn without_password(options: ListenOptions) -> ListenOptions {
    ListenOptions {
        password: Password::Off,
        ..options
    }
}

fn invalid(option: &str, message: &str) -> Failure {
    Failure::InvalidOption {
        option: option.into(),
        message: message.into(),
    }
}

#[tokio::test]
async fn by_default_any_free_port_of_this_machine_is_used() {
    let listener = bind(ListenOptions::default()).await.unwrap();
    let url = listener.url();
    let port = url.strip_prefix("http://127.0.0.1:").unwrap();
    assert_ne!(port.parse::<u16>().unwrap(), 0);
    let reply = Client::connect(&url).await.ask("GET", "/", "", "").await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn other_machines_can_connect_unless_the_password_is_off() {
    for hostname in ["0.0.0.0", "::", "::ffff:0.0.0.0"] {
        let ip: std::net::IpAddr = hostname.parse().unwrap();
        let message = format!("Other machines reach {ip}: to listen there, leave the password on");
        let unlocked = without_password(at(hostname));
        assert_eq!(refused(unlocked).await, invalid("password", &message));
    }
    let listener = bind(at("0.0.0.0")).await.unwrap();
    assert!(listener.url().starts_with("http://127.0.0.1:"));
    for hostname in ["127.0.0.1", "127.1.2.3", "localhost", "::ffff:127.0.0.1"] {
        bind(without_password(at(hostname))).await.unwrap();
    }
}

#[tokio::test]
async fn invalid_options_are_named() {
    let with = |change: fn(&mut ListenOptions)| {
        let mut options = ListenOptions::default();
        change(&mut options);
        options
    };
    for (options, failure) in [
        (
            with(|it| it.password = Password::Given(String::new())),
            invalid("password", "The password is empty"),
        ),
        (
            without_password(with(|it| it.username = Some("me".into()))),
            invalid("username", "A username needs a password beside it"),
        ),
        (
            with(|it| it.cors = vec!["https://a.example".into(), "*".into()]),
            invalid(
                "cors",
                "\"*\" is no origin; one looks like https://app.example, without a path",
            ),
        ),
    ] {
        assert_eq!(refused(options).await, failure);
    }
}

#[tokio::test]
async fn an_unavailable_address_is_named() {
    let first = bind(ListenOptions::default()).await.unwrap();
    let address = first.url().replace("http://", "");
    let port = address.rsplit(':').next().unwrap().parse().unwrap();
    let taken = ListenOptions {
        port,
        ..ListenOptions::default()
    };
    let message =
        format!("Another program listens on {address} already; choose another port, or 0 for any");
    let expected = Failure::AddressUnavailable { address, message };
    assert_eq!(refused(taken.clone()).await, expected);
    within("closing", first.close()).await;
    bind(taken).await.unwrap();
    let unknown = refused(at("no.such.host.invalid")).await;
    assert_eq!(unknown.tag(), Tag::AddressUnavailable);
}
