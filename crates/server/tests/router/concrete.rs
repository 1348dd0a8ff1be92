//! Paths of operations without their parameters.

/// The path of an operation with a value for each of its parameters. Only the session exists.
pub(crate) fn concrete(path: &str, session: &str) -> String {
    let request = if path.contains("/question/") {
        "que_x"
    } else {
        "per_x"
    };
    let concrete = [
        ("{sessionID}", session),
        ("{messageID}", "msg_x"),
        ("{requestID}", request),
        ("{id}", "psv_x"),
        ("{providerID}", "nope"),
        ("{ptyID}", "pty_x"),
        ("{integrationID}", "nope"),
        ("{attemptID}", "con_x"),
        ("{credentialID}", "cred_x"),
        ("{name}", "nope"),
        ("{*path}", "a/b.txt"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (name, value)| {
        path.replace(name, value)
    });
    assert!(!concrete.contains('{'), "{path} has another parameter");
    concrete
}
