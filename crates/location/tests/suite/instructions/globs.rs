//! Instructions that the configuration names by patterns.

use super::{Site, texts};

const FILES: [&str; 10] = [
    "docs/a.md",
    "docs/b.md",
    "docs/c.txt",
    "docs/.hidden.md",
    "docs/deep/a.md",
    "docs/deep/er/a.md",
    "packages/one/RULES.md",
    "packages/two/RULES.md",
    "packages/two/node_modules/x/RULES.md",
    "node_modules/x/RULES.md",
];

fn matching(pattern: &str) -> Vec<String> {
    let site = Site::new().ask("project", &[pattern]);
    for file in FILES {
        site.write(&format!("project/{file}"), "");
    }
    let seen = site.seen().configured;
    let bare = seen.iter().map(|it| it.trim_end_matches(": "));
    bare.map(|it| it.strip_prefix("project/").unwrap_or(it).to_owned())
        .collect()
}

#[test]
fn patterns_name_files() {
    let all = ["docs/.hidden.md", "docs/a.md", "docs/b.md"];
    for (pattern, expected) in [
        ("docs/*.md", &all[..]),
        ("./docs/../docs/*.md", &all),
        ("docs/?.md", &all[1..]),
        ("docs/[b-z].md", &all[2..]),
        ("docs/{a,c}.*", &["docs/a.md", "docs/c.txt"]),
        (
            "{docs,packages/one}/*.{txt,md}",
            &[
                "docs/.hidden.md",
                "docs/a.md",
                "docs/b.md",
                "docs/c.txt",
                "packages/one/RULES.md",
            ],
        ),
        (
            "packages/*/RULES.md",
            &["packages/one/RULES.md", "packages/two/RULES.md"],
        ),
        (
            "*/*/RULES.md",
            &[
                "node_modules/x/RULES.md",
                "packages/one/RULES.md",
                "packages/two/RULES.md",
            ],
        ),
        (
            "**/a.md",
            &["docs/a.md", "docs/deep/a.md", "docs/deep/er/a.md"],
        ),
        ("docs/**/er/*", &["docs/deep/er/a.md"]),
        (
            "**/RULES.md",
            &["packages/one/RULES.md", "packages/two/RULES.md"],
        ),
        (
            "**/node_modules/x/RULES.md",
            &[
                "node_modules/x/RULES.md",
                "packages/two/node_modules/x/RULES.md",
            ],
        ),
        (
            "docs/*",
            &["docs/.hidden.md", "docs/a.md", "docs/b.md", "docs/c.txt"],
        ),
        ("docs/*.html", &[]),
        ("nowhere/*.md", &[]),
        ("docs/a.md/*", &[]),
        ("docs/[", &[]),
        ("docs/{a", &[]),
    ] {
        assert_eq!(matching(pattern), expected, "{pattern}");
    }
}

#[test]
fn an_existing_file_with_the_name_of_a_pattern_is_read() {
    let site = Site::new().ask("project", &["docs/[b].md"]);
    site.write("project/docs/[b].md", "name")
        .write("project/docs/b.md", "pattern");
    assert_eq!(site.seen().configured, texts(["project/docs/[b].md: name"]));
}

#[test]
fn patterns_that_match_too_much_are_reported() {
    let site = Site::new().ask("project", &["few/**/*.md", "many/**/*.md"]);
    for (name, count) in [("few", 20), ("many", 80)] {
        for number in 0..count {
            let directory = site.machine.directory(&format!("project/{name}/{number}"));
            for file in 0..100 {
                std::fs::write(format!("{directory}/{file}"), "").unwrap();
            }
        }
    }
    let told = site.seen().configured;
    let reason = "up to the pattern **/*.md more than 10000 names are looked at; name less";
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with(reason), "{told:?}");
}

#[cfg(unix)]
#[test]
fn circular_links_end() {
    let site = Site::new().ask("project", &["docs/**/a.md", "docs/*/b.md"]);
    site.write("project/docs/one/a.md", "a")
        .write("project/two/b.md", "b");
    for (target, link) in [
        ("..", "docs/one/up"),
        ("../two", "docs/two"),
        (".", "docs/self"),
    ] {
        std::os::unix::fs::symlink(target, site.machine.path("project").join(link)).unwrap();
    }
    assert_eq!(
        site.seen().configured,
        texts(["project/docs/one/a.md: a", "project/two/b.md: b"])
    );
}
