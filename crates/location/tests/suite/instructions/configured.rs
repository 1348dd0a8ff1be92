//! Instructions that the configuration names by paths.

use super::{Seen, Site, texts};

#[test]
fn paths_are_relative_to_the_document_the_home_directory_or_the_root() {
    let site = Site::new();
    let absolute = site.machine.text("elsewhere/absolute.md");
    let site = site
        .ask("project/a", &["rules.md", "./sub/../other.md", "../up.md"])
        .user_asks(
            "config",
            &["user.md", "~/own.md", "../elsewhere/up.md", &absolute],
        );
    for file in [
        "project/a/rules.md",
        "project/a/other.md",
        "project/up.md",
        "config/user.md",
        "home/own.md",
        "elsewhere/up.md",
        "elsewhere/absolute.md",
    ] {
        site.write(file, "text");
    }
    assert_eq!(
        site.seen().configured,
        texts([
            "project/a/rules.md: text",
            "project/a/other.md: text",
            "project/up.md: text",
            "config/user.md: text",
            "home/own.md: text",
            "elsewhere/up.md: text",
            "elsewhere/absolute.md: text",
        ])
    );
}

#[test]
fn missing_files_and_addresses_are_skipped() {
    let site = Site::new().ask(
        "project",
        &[
            "missing.md",
            "file.md/below.md",
            "https://example.com/rules.md",
            "file.md",
        ],
    );
    site.write("project/file.md", "text");
    assert_eq!(site.seen().configured, texts(["project/file.md: text"]));
}

/// A project can come from any source. It must not cause files of the machine to be sent away.
#[test]
fn a_project_names_only_its_own_files() {
    let site = Site::new();
    let absolute = site.machine.text("home/secret.md");
    let site = site
        .ask(
            "project",
            &[
                "../secret.md",
                "~/secret.md",
                &absolute,
                "../*.md",
                "a/link.md",
            ],
        )
        .ask("project", &["inside.md"]);
    for file in ["secret.md", "home/secret.md", "project/inside.md"] {
        site.write(file, "text");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        site.machine.path("secret.md"),
        site.machine.path("project/a/link.md"),
    )
    .unwrap();
    assert_eq!(site.seen().configured, texts(["project/inside.md: text"]));
}

#[test]
fn a_file_is_listed_at_its_first_position() {
    let site = Site::new()
        .ask(
            "project",
            &["b.md", "*.md", "AGENTS.md", "a.md", "a/b/c/AGENTS.md"],
        )
        .read_in(&["project/a/b/c", "project/a/b/d", "project/a/b/c"]);
    for file in [
        "project/AGENTS.md",
        "project/a.md",
        "project/b.md",
        "project/a/b/c/AGENTS.md",
        "project/a/b/d/AGENTS.md",
    ] {
        site.write(file, "text");
    }
    let expected = Seen {
        general: texts(["project/AGENTS.md: text"]),
        configured: texts([
            "project/b.md: text",
            "project/a.md: text",
            "project/a/b/c/AGENTS.md: text",
        ]),
        nearby: texts(["project/a/b/d/AGENTS.md: text"]),
    };
    assert_eq!(site.seen(), expected);
}
