//! Tests for the files that match a pattern, and for the form of the result.

use std::{fs, os::unix::fs::symlink};

use opencode_tools::{PermissionError, Settlement};
use serde_json::{Value, json};

use crate::{
    common::{Recorder, denied, success, text},
    project::{Project, taken, unfound, unsearched},
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
        // Directories are not files. A slash at the end means the files below.
        ("deep", &[]),
        ("deep/", &["src/deep/c.JS", "src/deep/d.ts"]),
        ("src/deep/", &["src/deep/c.JS", "src/deep/d.ts"]),
        (".git/**", &[]),
        ("**/.git/**", &[]),
        ("config", &[]),
        // A hidden directory is entered if the pattern names it.
        (".config/*.js", &[".config/f.js"]),
        (".config/**", &[".config/f.js"]),
        ("**/.github/*.yml", &[".github/g.yml"]),
        (".*/*", &[".config/f.js", ".github/g.yml"]),
        (
            "{.github,src}/**",
            &[
                ".github/g.yml",
                "src/b.js",
                "src/deep/c.JS",
                "src/deep/d.ts",
            ],
        ),
        ("*/*.yml", &[]),
        ("**/*.yml", &[]),
        // Other forms of the same pattern.
        (&project.text("loc/a.js"), &["a.js"]),
        (&project.text("loc/src/*.js"), &["src/b.js"]),
        (&project.text("loc/.config/*"), &[".config/f.js"]),
        (
            &format!("file://{}", project.text("loc/src/*.js")),
            &["src/b.js"],
        ),
        ("./src/*.js", &["src/b.js"]),
        ("./*.js", &[".hidden.js", "a.js"]),
        ("src/../src/*.js", &["src/b.js"]),
        ("../loc/src/*.js", &["src/b.js"]),
        ("src//*.js", &["src/b.js"]),
        ("src\\*.js", &["src/b.js"]),
        ("src\\deep\\d.ts", &["src/deep/d.ts"]),
        ("*.ts,*.yml", &["src/deep/d.ts"]),
        ("*.ts, *.JS", &["src/deep/c.JS", "src/deep/d.ts"]),
        ("`*.ts`", &["src/deep/d.ts"]),
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
        let reason = unfound(&settled.await, &format!("*.js: {path}"));
        assert!(
            reason.starts_with("it is ")
                || reason.starts_with("there is no such file")
                || reason.starts_with("a part of the path"),
            "{path}: {reason}"
        );
    }
}

#[tokio::test]
async fn a_pattern_that_cannot_be_used_has_a_reason() {
    let project = Project::with(&["a.js"]);
    for (pattern, expected) in [
        ("[", "the pattern is not valid"),
        ("{a", "the pattern is not valid"),
        ("a\0b", "the pattern contains a NUL"),
        ("../outside/*", "the pattern leaves the working directory"),
        ("*/../*.js", "`..` cannot follow a wildcard"),
    ] {
        let settled = project.call("glob", json!({"pattern": pattern})).await;
        let reason = unfound(&settled, pattern);
        assert!(reason.starts_with(expected), "{pattern}: {reason}");
        let include = json!({"pattern": "a", "include": pattern});
        let reason = unsearched(&project.call("grep", include).await, "a");
        assert!(reason.starts_with(expected), "{pattern}: {reason}");
    }
}

#[tokio::test]
async fn an_absolute_pattern_outside_needs_a_permission_for_its_directory() {
    let project = Project::with(&["a.js"]);
    fs::write(project.root.join("outside/b.js"), "").unwrap();
    let outside = project.text("outside");
    let input = json!({"pattern": format!("{outside}/*.js")});
    let permissions = Recorder::new(|_| Ok(()));
    let (found, _) = taken(
        project
            .call_asking("glob", input.clone(), &permissions)
            .await,
    );
    assert_eq!(found[0]["path"], json!(format!("{outside}/b.js")));
    let asked: Vec<_> = permissions
        .asked()
        .into_iter()
        .map(|(action, ..)| action)
        .collect();
    assert_eq!(asked, ["external_directory", "glob"]);
    for name in ["outside", "nowhere"] {
        let pattern = format!("{}/*.js", project.text(name));
        let permissions = Recorder::new(|_| Err(PermissionError::Blocked));
        let settled = project
            .call_asking("glob", json!({"pattern": pattern}), &permissions)
            .await;
        let refused = format!(
            "Unable to find files matching {pattern}: {}",
            project.text(name)
        );
        assert_eq!(settled, denied(refused));
    }
}

#[tokio::test]
async fn ignored_directories_stay_out_even_if_a_pattern_names_them() {
    let project = Project::with(&[
        ".venv/a.py",
        "pkg/.storybook/main.ts",
        "pkg/.cache/b.ts",
        "app/[id]/page.tsx",
    ]);
    project.repository();
    project.write(".gitignore", ".venv\n.cache/\n");
    for (pattern, expected) in [
        (".venv/**", &[][..]),
        ("./.venv/*.py", &[]),
        ("pkg/.*/*.ts", &["pkg/.storybook/main.ts"]),
        ("pkg/.storybook/", &["pkg/.storybook/main.ts"]),
        ("**/.storybook/main.ts", &["pkg/.storybook/main.ts"]),
        ("pkg/*/main.ts", &[]),
        ("app/[id]/*.tsx", &["app/[id]/page.tsx"]),
    ] {
        assert_eq!(
            project.glob(json!({"pattern": pattern})).await,
            expected,
            "{pattern}"
        );
    }
    let found = project.glob(json!({"pattern": ".storybook/*.ts", "path": "pkg"}));
    assert_eq!(found.await, ["pkg/.storybook/main.ts"]);
    let found = project.glob(json!({"pattern": "../pkg/.storybook/*.ts", "path": "app"}));
    assert_eq!(found.await, ["pkg/.storybook/main.ts"]);
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
