//! A panic is reported once on standard error, and fails only its call.

use std::process::Command;

use opencode_host::report_panics;

/// Under this variable the test below is the process that panics.
const PANICS: &str = "OPENCODE_TEST_PANICS";

#[test]
fn a_panic_is_reported_once_and_the_process_continues() {
    if std::env::var_os(PANICS).is_some() {
        report_panics();
        let secret = "sk-secret";
        let panicked = std::thread::spawn(move || panic!("the key is {secret}")).join();
        assert!(panicked.is_err());
        println!("still here");
        return;
    }
    let program = std::env::current_exe().unwrap();
    let name = "a_panic_is_reported_once_and_the_process_continues";
    let child = Command::new(program)
        .args(["--exact", name, "--nocapture"])
        .env(PANICS, "1")
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8(child.stderr).unwrap();
    let output = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success(), "{said}");
    assert!(output.contains("still here"), "{output}");
    let reports: Vec<_> = said.lines().filter(|it| it.contains("has a bug")).collect();
    let [report] = reports[..] else {
        panic!("{said}")
    };
    assert!(report.contains("crates/host/tests/panics.rs:"), "{report}");
    assert!(!said.contains("sk-secret"), "{said}");
    assert!(!said.contains("stack backtrace"), "{said}");
}
