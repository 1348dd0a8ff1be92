//! Tests for the results of commands.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::common::{failed, success, text};
use crate::project::{Project, exited, name, shell, signalled};
use opencode_tools::Settlement;
use serde_json::json;

#[tokio::test]
async fn output_and_exit_code_are_returned() {
    let project = Project::new();
    for (command, expected) in [
        ("echo out", exited("out\n", 0)),
        ("echo err >&2; exit 3", exited("err\n", 3)),
        ("true", exited("(no output)", 0)),
        ("printf x", exited("x", 0)),
        ("exit 137", exited("(no output)", 137)),
        ("exit 255", exited("(no output)", 255)),
        ("nonsense-command 2>/dev/null", exited("(no output)", 127)),
        (
            "printf '\\377\\303\\251\\303'",
            exited("\u{fffd}é\u{fffd}", 0),
        ),
        ("printf '\\303'; sleep 0.05; printf '\\251'", exited("é", 0)),
        ("printf 'a\\000b'", exited("a\0b", 0)),
    ] {
        assert_eq!(project.run(command).await, expected, "{command}");
    }
}

#[tokio::test]
async fn a_command_reaches_the_shell_unchanged() {
    let project = Project::new();
    for (command, output) in [
        (r#"printf '%s|' "a b" 'c"d' e\ f"#, "a b|c\"d|e f|"),
        ("printf '%s' '$HOME `x` \\'", "$HOME `x` \\"),
        ("echo a\necho b # c\necho '\n'", "a\nb\n\n\n"),
        ("cat <<E\n\"'\\$x\nE", "\"'$x\n"),
        ("echo \"$0 $#\"", "/bin/sh 0\n"),
        ("-x", "(no output)"),
        ("printf é💡", "é💡"),
    ] {
        let command = if command == "-x" {
            "set -x 2>/dev/null"
        } else {
            command
        };
        assert_eq!(project.run(command).await, exited(output, 0), "{command}");
    }
}

#[tokio::test]
async fn a_command_has_the_variables_of_the_host_and_none_of_the_process() {
    let project = Project::new();
    let path = std::env::var("PATH").expect("tests have one");
    let mut context = project.context();
    context.ports.shell = shell(
        None,
        &[("PATH", &path), ("NAME", "a\nb"), ("AGENT", "other")],
    );
    let settled = project
        .settle(json!({"command": "env -u PWD -u _ | sort"}), context)
        .await;
    // A shell may add its own variables.
    let Settlement::Success { content, .. } = settled else {
        panic!("{settled:?}");
    };
    let own = |line: &&str| {
        !["SHLVL=", "OLDPWD"]
            .iter()
            .any(|name| line.starts_with(name))
    };
    let [opencode_schema::message::ToolContent::Text { text }, _] = &content[..] else {
        panic!("{content:?}");
    };
    let path = format!("PATH={path}");
    let mut expected = ["AGENT=1", "NAME=a", "OPENCODE=1", &path, "b"];
    expected.sort_unstable();
    assert_eq!(text.lines().filter(own).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_command_has_no_input_and_no_terminal() {
    let project = Project::new();
    for (command, expected) in [
        ("cat", exited("(no output)", 0)),
        ("read line", exited("(no output)", 1)),
        ("tty </dev/stdin", exited("not a tty\n", 1)),
        (
            "(exec 3<>/dev/tty) 2>/dev/null || echo none",
            exited("none\n", 0),
        ),
    ] {
        assert_eq!(project.run(command).await, expected, "{command}");
    }
}

/// All descriptors of the host must be closed for the command, except those that the test process
/// itself inherited without close-on-exec.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_command_inherits_no_file_of_the_host() {
    let project = Project::new();
    let _open = fs::File::open(&project.root).unwrap();
    let mut plain = std::process::Command::new("ls");
    let plain = plain
        .arg("/proc/self/fd")
        .stdin(std::process::Stdio::null());
    let expected = String::from_utf8(plain.output().unwrap().stdout).unwrap();
    let settled = project.run("ls \"$(echo /)proc/self/fd\"").await;
    assert_eq!(settled, exited(&expected, 0));
}

#[tokio::test]
async fn no_state_is_kept_for_the_next_call() {
    let project = Project::new();
    project.run("cd sub; export A=1; f() { :; }; umask 0").await;
    let settled = project
        .run("pwd; echo \"$A\"; type f >/dev/null 2>&1 || umask")
        .await;
    let expected = format!("{}\n\n0022\n", name(&project.location()));
    assert_eq!(settled, exited(&expected, 0));
}

#[tokio::test]
async fn the_configured_shell_runs_the_command() {
    let project = Project::new();
    let program = project.root.join("my shell");
    fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = name(&project.root);
    for (program, variables) in [
        (name(&program), vec![]),
        ("my shell", vec![("PATH", folder)]),
    ] {
        let mut context = project.context();
        context.ports.shell = shell(Some(program), &variables);
        let settled = project.settle(json!({"command": "a 'b'"}), context).await;
        assert_eq!(settled, exited("-c|a 'b'|", 0));
    }
}

#[tokio::test]
async fn a_command_that_cannot_be_started_fails() {
    let project = Project::new();
    let plain = project.root.join("plain");
    fs::write(&plain, "").unwrap();
    for program in [
        "/nowhere/sh",
        "no-such-shell",
        name(&plain),
        name(&project.root),
    ] {
        let mut context = project.context();
        context.ports.shell = shell(Some(program), &[]);
        let settled = project.settle(json!({"command": "true"}), context).await;
        let Settlement::Failed { message, .. } = settled else {
            panic!("{settled:?}");
        };
        let start = "Unable to execute command: true: the shell cannot be started";
        assert!(message.starts_with(start), "{message}");
        assert!(!message.contains("not-started"), "{message}");
    }
    for command in ["echo \0", &"x".repeat(200_000)] {
        let settled = project.run(command).await;
        let Settlement::Failed { message, .. } = settled else {
            panic!("{settled:?}");
        };
        assert!(
            message.starts_with("Unable to execute command: "),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_command_that_a_signal_ends_has_its_output_and_the_signal() {
    let project = Project::new();
    for (command, output, number, name) in [
        ("echo a; kill -KILL $$", "a\n", 9, "SIGKILL"),
        (
            "printf 'printed %s\\n' first; kill -TERM $$",
            "printed first\n",
            15,
            "SIGTERM",
        ),
        (
            "exec sh -c 'echo a >&2; kill -ABRT $$'",
            "a\n",
            6,
            "SIGABRT",
        ),
        ("kill -PIPE $$", "(no output)", 13, "SIGPIPE"),
        ("exec sh -c 'kill -SEGV $$'", "(no output)", 11, "SIGSEGV"),
    ] {
        assert_eq!(
            project.run(command).await,
            signalled(output, number, name),
            "{command}"
        );
    }
    // The shell survives and reports the signal of its child.
    let command = "sh -c 'kill -KILL $$' 2>/dev/null; echo $?";
    assert_eq!(project.run(command).await, exited("137\n", 0));
}

#[tokio::test]
async fn a_signal_is_told_with_every_shell() {
    for program in ["sh", "bash", "dash", "/bin/sh", "/bin/bash"] {
        let project = Project::new();
        let mut context = project.context();
        context.ports.shell = shell(Some(program), &[("PATH", "/usr/bin:/bin")]);
        let input = json!({"command": "echo first; kill -TERM $$; echo never"});
        let settled = project.settle(input, context).await;
        assert_eq!(settled, signalled("first\n", 15, "SIGTERM"), "{program}");
    }
}

#[tokio::test]
async fn inputs_are_checked() {
    let project = Project::new();
    for (input, issue) in [
        (json!({}), "Missing key\n  at [\"command\"]"),
        (
            json!({"command": ""}),
            "Expected a value with a length of at least 1, got \"\"\n  at [\"command\"]",
        ),
        (
            json!({"command": "true", "timeout": 0}),
            "Expected a value greater than 0, got 0\n  at [\"timeout\"]",
        ),
    ] {
        let settled = project.settle(input, project.context()).await;
        assert_eq!(settled, failed(format!("Invalid tool input: {issue}")));
    }
}

#[tokio::test]
async fn a_timeout_above_the_largest_is_the_largest_and_the_model_learns_it() {
    let project = Project::new();
    for timeout in [json!(1_200_000), json!("1200000")] {
        let input = json!({"command": "echo a", "timeout": timeout, "workdir": null});
        let settled = project.settle(input, project.context()).await;
        let expected = success(
            json!({"exit": 0, "truncated": false}),
            vec![
                text("a\n"),
                text("Command exited with code 0."),
                text("(timeout is 600000 at most, and that was used.)"),
            ],
        );
        assert_eq!(settled, expected);
    }
}

#[tokio::test]
async fn the_first_mebibyte_is_stored() {
    let project = Project::new();
    let settled = project
        .run("yes é | tr -d '\\n' | head -c 3000001; exit 4")
        .await;
    let Settlement::Success {
        structured,
        content,
        output_paths,
        ..
    } = settled
    else {
        panic!("{settled:?}");
    };
    let structured = serde_json::Value::Object(structured);
    assert_eq!(structured, json!({"exit": 4, "truncated": true}));
    let [path] = &output_paths[..] else {
        panic!("{output_paths:?}");
    };
    let kept = fs::read_to_string(path).unwrap();
    let expected = format!(
        "{}\n\n[output capture truncated at the in-memory safety limit]Command exited with code 4.",
        "é".repeat(512 * 1024)
    );
    assert_eq!(kept, expected);
    let [opencode_schema::message::ToolContent::Text { text }] = &content[..] else {
        panic!("{content:?}");
    };
    // One byte less than the limit, because half a character is not allowed.
    assert_eq!(text.len(), 51_199);
}

#[tokio::test]
async fn a_bounded_output_keeps_its_end() {
    let project = Project::new();
    let settled = project.run("seq 1 3000").await;
    let Settlement::Success {
        structured,
        content,
        output_paths,
        ..
    } = settled
    else {
        panic!("{settled:?}");
    };
    let [path] = &output_paths[..] else {
        panic!("{output_paths:?}");
    };
    let lines = |range: std::ops::RangeInclusive<u32>| {
        range.map(|line| format!("{line}\n")).collect::<String>()
    };
    let marker = format!("... output truncated; full content saved to {path} ...");
    let shown = format!(
        "{}\n{marker}\n\n{}Command exited with code 0.",
        lines(1..=998),
        lines(2004..=3000)
    );
    let mut expected = success(json!({"exit": 0, "truncated": false}), vec![text(&shown)]);
    let Settlement::Success {
        output_paths: paths,
        ..
    } = &mut expected
    else {
        panic!("{expected:?}");
    };
    paths.clone_from(&output_paths);
    assert_eq!(
        Settlement::Success {
            structured,
            content,
            output_paths,
            explored: vec![]
        },
        expected
    );
}
