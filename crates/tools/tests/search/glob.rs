//! Tests for the files that match a pattern, and for the form of the result.

use std::{fs, os::unix::fs::symlink};

use opencode_tools::Settlement;
use serde_json::{Value, json};

use crate::{
    common::{success, text},
    project::{Project, taken, unfound},
};

#[tokio::test]
async fn patterns_match_as_in_ripgrep() {
    let project = Project::with(&[
        "a.js",
        "src/b.js",
        "src/deep/c.JS",
        "src/deep/d.ts",
        "debug.log",
        "node_modules/m/e.js",
        ".hidden.js",
        ".config/f.js",
        ".github/g.yml",
    ]);
    project.repository();
    project.write(".gitignore", "node_modules\n*.log\n");
    let all = [
        ".config/f.js",
        ".github/g.yml",
        ".gitignore",
        ".hidden.js",
        "a.js",
        "debug.log",
        "node_modules/m/e.js",
        "src/b.js",
        "src/deep/c.JS",
        "src/deep/d.ts",
    ];
    for (pattern, expected) in [
        // A pattern includes ignored and hidden files that match by their own name, but not files below
        // an ignored directory.
        ("**/*.js", &[".hidden.js", "a.js", "src/b.js"][..]),
        ("*.js", &[".hidden.js", "a.js", "src/b.js"]),
        ("*.log", &["debug.log"]),
        ("**/.*", &[".gitignore", ".hidden.js"]),
        ("*", &all),
        ("**", &all),
        ("!*.js", &["src/deep/c.JS", "src/deep/d.ts"]),
        // A star does not match a slash.
        ("src/*", &["src/b.js"]),
        ("src/*.js", &["src/b.js"]),
        ("/*.js", &[".hidden.js", "a.js"]),
        ("**/*.{ts,JS}", &["src/deep/c.JS", "src/deep/d.ts"]),
        ("?.js", &["a.js", "src/b.js"]),
        ("[!a].js", &["src/b.js"]),
        ("node_modules/**", &[]),
        ("nothing", &[]),
        // Directories are not files.
        ("deep/", &[]),
        (".git/**", &[]),
        ("config", &[]),
        // An absolute pattern and an invalid pattern match nothing.
        (&project.text("loc/a.js"), &[]),
        ("../outside/*", &[]),
        ("[", &[]),
        ("{a", &[]),
        ("a\0b", &[]),
    ] {
        assert_eq!(
            project.glob(json!({"pattern": pattern})).await,
            expected,
            "{pattern}"
        );
    }
}

#[tokio::test]
async fn files_are_sorted_by_path_before_the_limit_applies() {
    let project = Project::with(&["x/z", "x-b", "x.b", "x/b/c", "B", "é", "b"]);
    let sorted = ["B", "b", "x-b", "x.b", "x/b/c", "x/z", "é"];
    for limit in 1..9 {
        let expected = &sorted[..sorted.len().min(limit)];
        let found = project.glob(json!({"pattern": "**", "limit": limit}));
        assert_eq!(found.await, expected, "{limit}");
    }
    assert_eq!(project.glob(json!({"pattern": "**"})).await, sorted);
}

#[tokio::test]
async fn a_search_starts_at_the_path() {
    let project = Project::with(&["a.js", "src/b.js", "src/deep/c.js"]);
    fs::write(project.root.join("outside/d.js"), "").unwrap();
    symlink("src", project.location().join("link")).unwrap();
    let all = ["a.js", "src/b.js", "src/deep/c.js"];
    let (src, outside) = (project.text("loc/src"), project.text("outside"));
    let external = project.text("outside/d.js");
    for (path, expected) in [
        ("", &all[..]),
        (".", &all),
        ("src", &all[1..]),
        ("src/", &all[1..]),
        ("./src/../src", &all[1..]),
        (&src, &all[1..]),
        // The real location of the files counts.
        ("link", &all[1..]),
        ("src/deep", &all[2..]),
        // Files outside are named in the form that `read` accepts.
        (&outside, &[&*external]),
    ] {
        let found = project.glob(json!({"pattern": "*.js", "path": path}));
        assert_eq!(found.await, expected, "{path}");
    }
    // A leading slash in the pattern means the searched directory.
    let found = project.glob(json!({"pattern": "/*.js", "path": "src"}));
    assert_eq!(found.await, ["src/b.js"]);
}

#[tokio::test]
async fn only_directories_can_be_searched() {
    let project = Project::with(&["a.js"]);
    project.fifo("fifo");
    for path in ["missing", "a.js", "a.js/below", "fifo"] {
        let settled = project.call("glob", json!({"pattern": "*.js", "path": path}));
        assert_eq!(settled.await, unfound("*.js"), "{path}");
    }
}

#[tokio::test]
async fn the_rules_of_all_ignore_files_apply() {
    let project = Project::with(&["a", "b", "c", "d", "e", "sub/a", "sub/keep/a"]);
    project.repository();
    for (file, rules) in [
        (".gitignore", "a\n"),
        (".ignore", "b\n"),
        (".rgignore", "c\n"),
        (".git/info/exclude", "d\n"),
        ("sub/keep/.gitignore", "!a\n"),
    ] {
        project.write(file, rules);
    }
    // A negated pattern that matches no file shows the effect of the ignore files alone.
    let seen = json!({"pattern": "!zzz"});
    assert_eq!(project.glob(seen).await, ["e", "sub/keep/a"]);
    // Rules above the searched directory apply too.
    let seen = json!({"pattern": "!zzz", "path": "sub"});
    assert_eq!(project.glob(seen).await, ["sub/keep/a"]);
}

#[tokio::test]
async fn links_and_special_files_are_not_listed() {
    let project = Project::with(&["real/a.js"]);
    symlink("real/a.js", project.location().join("b.js")).unwrap();
    symlink("real", project.location().join("c.js")).unwrap();
    symlink("missing", project.location().join("d.js")).unwrap();
    project.fifo("e.js");
    assert_eq!(
        project.glob(json!({"pattern": "*.js"})).await,
        ["real/a.js"]
    );
}

#[tokio::test]
async fn a_name_with_line_ends_is_quoted_for_the_model() {
    let project = Project::with(&["a\nNo files found", "tab\there", "plain \"quoted\""]);
    let (found, shown) = taken(project.call("glob", json!({"pattern": "*"})).await);
    let expected = ["a\nNo files found", "plain \"quoted\"", "tab\there"];
    assert_eq!(
        found,
        expected.map(|path| json!({"path": path, "type": "file"}))
    );
    let location = project.text("loc");
    let lines = [
        format!("\"{location}/a\\nNo files found\""),
        format!("{location}/plain \"quoted\""),
        format!("\"{location}/tab\\there\""),
    ];
    assert_eq!(shown, lines.join("\n"));
}

#[tokio::test]
async fn ten_thousand_files_are_returned_and_the_model_learns_that_there_are_more() {
    let project = Project::new();
    for number in 0..10_050 {
        project.write(&format!("many/{number:05}"), "");
    }
    for input in [
        json!({"pattern": "*"}),
        json!({"pattern": "*", "limit": 10_050}),
    ] {
        let (found, text) = taken(project.call("glob", input).await);
        assert_eq!(
            (found.len(), &found[9999]["path"]),
            (10_000, &json!("many/09999"))
        );
        let more = "\n\n(Only the first 10000 results by path are given. Narrow the search to see others.)";
        assert!(text.ends_with(more), "{}", &text[text.len() - 200..]);
    }
}

#[tokio::test]
async fn a_search_without_results_succeeds() {
    let project = Project::new();
    let settled: Settlement = project.call("glob", json!({"pattern": "*"})).await;
    let nothing: Value = json!({"value": []});
    assert_eq!(settled, success(nothing, vec![text("No files found")]));
}
