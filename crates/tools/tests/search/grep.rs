//! Tests for the lines that match an expression, and for the form of the result.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use crate::{
    common::{success, text},
    project::{Project, taken, unsearched},
};

fn line(path: &str, number: u64, text: &str) -> (String, u64, String) {
    (path.to_owned(), number, text.to_owned())
}

#[tokio::test]
async fn lines_are_returned_with_their_position_and_their_matches() {
    let project = Project::new();
    project.write("src/a.js", "const a = 1\nlet b\nconst c = a, d = c\n");
    project.write("src/b.js", "const é = 'ü'; const x");
    let found = |path: &str, line: u64, offset: u64, text: &str, matches: Value| {
        json!({
            "entry": {"path": path, "type": "file"},
            "line": line,
            "offset": offset,
            "text": text,
            "submatches": matches,
        })
    };
    let matched =
        |text: &str, start: usize, end: usize| json!({"text": text, "start": start, "end": end});
    let expected = json!({"value": [
        found("src/a.js", 1, 0, "const a = 1\n", json!([matched("const a", 0, 7)])),
        found("src/a.js", 3, 18, "const c = a, d = c\n", json!([matched("const c", 0, 7)])),
        found("src/b.js", 1, 0, "const é = 'ü'; const x", json!([
            matched("const é", 0, 8),
            matched("const x", 17, 24),
        ])),
    ]});
    let (a, b) = (project.text("loc/src/a.js"), project.text("loc/src/b.js"));
    let shown = format!(
        "Found 3 matches\n{a}:\n  Line 1: const a = 1\n\n  Line 3: const c = a, d = c\n\n\n\
         {b}:\n  Line 1: const é = 'ü'; const x"
    );
    let settled = project.call("grep", json!({"pattern": r"const \w"})).await;
    assert_eq!(settled, success(expected, vec![text(&shown)]));
}

#[tokio::test]
async fn expressions_have_the_syntax_of_ripgrep() {
    let project = Project::new();
    project.write("a", "Foo bar\nfoo\tbar\n\nfo\u{f6} (x)\nend\r\nlast");
    let all = [1, 2, 3, 4, 5, 6];
    for (pattern, expected) in [
        ("foo", &[2][..]),
        ("(?i)foo", &[1, 2]),
        (r"foo\sbar", &[2]),
        (r"^$", &[3]),
        ("^", &all),
        ("", &all),
        ("last$", &[6]),
        // A carriage return belongs to the line.
        ("end$", &[]),
        (r"end\s$", &[5]),
        (r"\(x\)", &[4]),
        (r"fo\w", &[2, 4]),
        ("bar\u{0}?", &[]),
        // A match does not cross the end of a line.
        (r"bar[^x]foo", &[]),
        ("(?s)bar.foo", &[]),
    ] {
        let found = project.call("grep", json!({"pattern": pattern})).await;
        let found = match pattern {
            // Text never contains a NUL.
            "bar\u{0}?" => {
                unsearched(&found, pattern);
                continue;
            }
            _ => taken(found).0,
        };
        let numbers: Vec<_> = found.iter().map(|found| found["line"].as_u64()).collect();
        let expected: Vec<_> = expected.iter().copied().map(Some).collect();
        assert_eq!(numbers, expected, "{pattern}");
    }
}

#[tokio::test]
async fn invalid_expressions_are_refused() {
    let project = Project::with(&["a"]);
    for pattern in [
        "(",
        "[",
        "a{2",
        r"\",
        "a\nb",
        r"a\nb",
        "(?=a)",
        r"(a)\1",
        r"\w{5000}{5000}",
        "*",
    ] {
        let settled = project.call("grep", json!({"pattern": pattern})).await;
        let reason = unsearched(&settled, pattern);
        assert!(reason.len() > 20, "{reason}");
    }
    for (pattern, expected) in [
        ("foo(", "unclosed group"),
        ("(?<=x)foo", "look-around"),
        ("function.*\\{\n.*return", "within single lines"),
        (r"(a)\1", "backreferences are not supported"),
    ] {
        let settled = project.call("grep", json!({"pattern": pattern})).await;
        let reason = unsearched(&settled, pattern);
        assert!(reason.contains(expected), "{reason}");
    }
}

#[tokio::test]
async fn hidden_files_are_searched_and_ignored_ones_are_not() {
    let project = Project::new();
    for path in [
        "a.js",
        ".hidden",
        ".config/b.js",
        "debug.log",
        "node_modules/c.js",
        "sub/.ignored/d",
        "outer.txt",
    ] {
        project.write(path, "needle\n");
    }
    project.repository();
    project.write(".gitignore", "node_modules\n*.log\n.ignored\n");
    for (include, expected) in [
        ("", &[".config/b.js", ".hidden", "a.js", "outer.txt"][..]),
        ("*.js", &[".config/b.js", "a.js"]),
        ("*.{log,txt}", &["debug.log", "outer.txt"]),
        ("!*.js", &[".hidden", "outer.txt"]),
        ("sub/**", &["sub/.ignored/d"]),
        (".config/*.js", &[".config/b.js"]),
        ("./*.js", &["a.js"]),
        (&project.text("loc/.config/*.js"), &[".config/b.js"]),
        ("../loc/*.txt", &["outer.txt"]),
        ("*.js,*.txt", &[".config/b.js", "a.js", "outer.txt"]),
        ("nothing", &[]),
    ] {
        let found = project.grep_files(json!({"pattern": "needle", "include": include}));
        assert_eq!(found.await, expected, "{include:?}");
    }
}

#[tokio::test]
async fn a_search_starts_at_the_path() {
    let project = Project::new();
    for path in ["a.js", "src/b.js", "src/deep/c.js", "src/ignored.log"] {
        project.write(path, "needle\n");
    }
    project.repository();
    project.write(".gitignore", "*.log\n");
    fs::write(project.root.join("outside/d.js"), "needle\n").unwrap();
    symlink("src/b.js", project.location().join("link.js")).unwrap();
    let (src, outside) = (project.text("loc/src"), project.text("outside"));
    let external = project.text("outside/d.js");
    let of_src = ["src/b.js", "src/deep/c.js"];
    for (path, expected) in [
        ("", &["a.js", "src/b.js", "src/deep/c.js"][..]),
        ("src", &of_src),
        (&src, &of_src),
        ("src/b.js", &["src/b.js"]),
        // The real location of the file counts.
        ("link.js", &["src/b.js"]),
        // An ignored file is searched if the path names it.
        ("src/ignored.log", &["src/ignored.log"]),
        (&outside, &[&*external]),
        (&external, &[&*external]),
    ] {
        let found = project.grep_files(json!({"pattern": "needle", "path": path}));
        assert_eq!(found.await, expected, "{path}");
    }
    project.fifo("fifo");
    for path in ["missing", "src/missing/deep", "a.js/below", "fifo"] {
        let settled = project.call("grep", json!({"pattern": "needle", "path": path}));
        let reason = unsearched(&settled.await, &format!("needle: {path}"));
        assert!(reason.len() > 10, "{path}: {reason}");
    }
}

#[tokio::test]
async fn lines_are_sorted_by_path_before_the_limit_applies() {
    let project = Project::new();
    for path in ["b/z", "b-x", "a", "é"] {
        project.write(path, "needle 1\nneedle 2\n");
    }
    let sorted: Vec<_> = ["a", "b-x", "b/z", "é"]
        .iter()
        .flat_map(|path| [line(path, 1, "needle 1\n"), line(path, 2, "needle 2\n")])
        .collect();
    for limit in 1..10 {
        let found = project.grep(json!({"pattern": "needle", "limit": limit}));
        assert_eq!(found.await, sorted[..sorted.len().min(limit)], "{limit}");
    }
}

#[tokio::test]
async fn binary_files_are_omitted_for_a_zero_byte_at_any_position() {
    let project = Project::new();
    project.write("text", "needle\n");
    project.write("early", "needle\n\0");
    let mut late = format!("needle{}\n", " ".repeat(100))
        .repeat(9000)
        .into_bytes();
    late.push(0);
    project.write("late", &late);
    assert_eq!(
        project.grep_files(json!({"pattern": "needle"})).await,
        ["text"]
    );
    for path in ["early", "late"] {
        let found = project.grep_files(json!({"pattern": "needle", "path": path}));
        assert_eq!(found.await, Vec::<String>::new(), "{path}");
    }
}

#[tokio::test]
async fn texts_in_other_encodings_are_searched() {
    let project = Project::new();
    let utf16: Vec<u8> = "\u{feff}needle ä\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    project.write("utf16", utf16);
    project.write("latin1", b"needle \xe4\n");
    project.write("unknown", b"needle \xff\n");
    project.write("bom", "\u{feff}needle\n");
    assert_eq!(
        project.grep(json!({"pattern": "^needle"})).await,
        [
            line("bom", 1, "needle\n"),
            line("latin1", 1, "needle ä\n"),
            // Bytes in no certain encoding are replaced.
            line("unknown", 1, "needle \u{fffd}\n"),
            line("utf16", 1, "needle ä\n"),
        ]
    );
}

#[tokio::test]
async fn long_lines_and_many_matches_are_cut() {
    let project = Project::new();
    project.write("long", format!("{}\nb\n", "é".repeat(3000)));
    project.write("many", format!("{}\n", "x".repeat(200)));
    let found = project.call("grep", json!({"pattern": "é+|x"})).await;
    let (found, _) = taken(found);
    let cut = format!("{}...", "é".repeat(2000));
    assert_eq!(
        found[0],
        json!({
            "entry": {"path": "long", "type": "file"},
            "line": 1,
            "offset": 0,
            "text": cut,
            "submatches": [{"text": cut, "start": 0, "end": 6000}],
        })
    );
    let submatches = found[1]["submatches"].as_array().unwrap();
    assert_eq!(
        (found.len(), submatches.len(), &submatches[99]),
        (2, 100, &json!({"text": "x", "start": 99, "end": 100}))
    );
}

#[tokio::test]
async fn ten_thousand_lines_are_returned_and_the_model_learns_that_there_are_more() {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.write(name, "x\n".repeat(6000));
    }
    let (found, text) = taken(project.call("grep", json!({"pattern": "x"})).await);
    let last = found.last().unwrap();
    assert_eq!(
        (found.len(), &last["entry"]["path"], &last["line"]),
        (10_000, &json!("b"), &json!(4000))
    );
    let more =
        "\n\n(Only the first 10000 results by path are given. Narrow the search to see others.)";
    assert!(text.starts_with("Found 10000 matches\n") && text.ends_with(more));
}

#[tokio::test]
async fn a_search_without_results_succeeds() {
    let project = Project::with(&["a", "b"]);
    for (input, told) in [
        (json!({"pattern": "needle"}), "No matches found in 2 files"),
        (
            json!({"pattern": "needle", "path": "a"}),
            "No matches found in 1 file",
        ),
        (
            json!({"pattern": "a", "include": "*.none"}),
            "No matches found, because no file was searched: none is there, or `include` fits none",
        ),
    ] {
        let settled = project.call("grep", input).await;
        assert_eq!(settled, success(json!({"value": []}), vec![text(told)]));
    }
}
