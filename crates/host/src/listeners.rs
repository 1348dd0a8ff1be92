//! The listeners of a host. They end before it does.

use std::time::Duration;

use axum::Router;
use futures::future::join_all;
use opencode_protocol::failure::Failure;
use opencode_server::{Bounds, ListenOptions, Listener, Password};
use parking_lot::Mutex;

/// Time for the remaining data of connections after the host has closed: the ends of streams, and answers to waiting
/// requests.
const LAST_DATA_TIMEOUT: Duration = Duration::from_secs(2);

/// Credentials of clients, unless the options of a listener override them.
pub(crate) struct Defaults {
    password: Option<String>,
    username: Option<String>,
}

impl Defaults {
    /// Reads the defaults from the environment of the host.
    pub(crate) fn from_variables<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            password: variable("OPENCODE_SERVER_PASSWORD").map(Into::into),
            username: variable("OPENCODE_SERVER_USERNAME").map(Into::into),
        }
    }

    fn complete(&self, mut options: ListenOptions) -> ListenOptions {
        if let (Password::Minted, Some(password)) = (&options.password, &self.password) {
            options.password = Password::Given(password.clone());
        }
        if options.password != Password::Off {
            options.username = options.username.or_else(|| self.username.clone());
        }
        options
    }
}

/// Sockets that answer with the routes of one host.
pub(crate) struct Listeners {
    routes: Router,
    defaults: Defaults,
    /// `None` when the host closes. Locked to add one or to take all.
    open: Mutex<Option<Vec<Listener>>>,
}

impl Listeners {
    pub(crate) fn new(routes: Router, defaults: Defaults) -> Self {
        Self {
            routes,
            defaults,
            open: Mutex::new(Some(Vec::new())),
        }
    }

    pub(crate) async fn listen(&self, options: ListenOptions) -> Result<Listener, Failure> {
        let options = self.defaults.complete(options);
        let listener = Listener::bind(self.routes.clone(), options, Bounds::default()).await?;
        if self.add(&listener) {
            return Ok(listener);
        }
        listener.cut();
        listener.closed().await;
        Err(Failure::ServiceUnavailable {
            message: "The host is closed".into(),
            service: None,
        })
    }

    /// False when the host closes.
    fn add(&self, listener: &Listener) -> bool {
        let mut open = self.open.lock();
        let Some(listeners) = &mut *open else {
            return false;
        };
        listeners.retain(|it| !it.is_closed());
        listeners.push(listener.clone());
        true
    }

    /// Refuses further requests. Requests under way may end with the host.
    pub(crate) fn stop(&self) -> ClosingListeners {
        let listeners = self.open.lock().take().unwrap_or_default();
        for listener in &listeners {
            listener.stop();
        }
        ClosingListeners(listeners)
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        for listener in self.stop().0 {
            listener.cut();
        }
    }
}

/// Listeners that are being closed.
pub(crate) struct ClosingListeners(Vec<Listener>);

impl ClosingListeners {
    /// Sends the remaining data of the connections, then cuts them.
    pub(crate) async fn end(self) {
        join_all(
            self.0
                .iter()
                .map(|listener| listener.finish(LAST_DATA_TIMEOUT)),
        )
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(password: Password, username: Option<&str>) -> ListenOptions {
        ListenOptions {
            password,
            username: username.map(Into::into),
            ..ListenOptions::default()
        }
    }

    #[test]
    fn options_override_the_environment_of_the_host() {
        let environment = |name: &str| match name {
            "OPENCODE_SERVER_PASSWORD" => Some("env"),
            "OPENCODE_SERVER_USERNAME" => Some("me"),
            _ => None,
        };
        let only_name = |name: &str| environment(name).filter(|it| *it == "me");
        let all = Defaults::from_variables(environment);
        let only_name = Defaults::from_variables(only_name);
        let none = Defaults::from_variables(|_| None);
        let given = |text: &str| Password::Given(text.into());
        for (defaults, password, username, expected) in [
            (&none, Password::Minted, None, (Password::Minted, None)),
            (&all, Password::Minted, None, (given("env"), Some("me"))),
            (&all, given("mine"), None, (given("mine"), Some("me"))),
            (
                &all,
                Password::Minted,
                Some("you"),
                (given("env"), Some("you")),
            ),
            (
                &only_name,
                Password::Minted,
                None,
                (Password::Minted, Some("me")),
            ),
            (&only_name, given("mine"), None, (given("mine"), Some("me"))),
            // The caller switched the password off. A user name alone protects nothing and is not an error.
            (&all, Password::Off, None, (Password::Off, None)),
            (&only_name, Password::Off, None, (Password::Off, None)),
        ] {
            let complete = defaults.complete(options(password, username));
            let found = (complete.password, complete.username.as_deref());
            assert!(found == expected, "expected {:?}", expected.1);
        }
    }
}
