//! Instructions that apply without configuration.

use std::fs;

use opencode_location::project::Project;

use super::{Seen, Site, texts};

#[test]
fn instructions_of_the_user_precede_those_of_the_project_nearest_first() {
    let site = Site::new();
    site.write("config/AGENTS.md", "of the user\n")
        .write("AGENTS.md", "above the project")
        .write("project/AGENTS.md", "of the project")
        .write("project/a/AGENTS.md", "")
        .write("project/a/b/AGENTS.md", "\u{feff}of the directory\r\n")
        .write("project/a/b/c/AGENTS.md", "below")
        .write("project/x/AGENTS.md", "beside")
        .write("project/a/b/agents.md", "another name")
        .write("project/a/b/CLAUDE.md", "of another program")
        .write("project/a/b/CONTEXT.md", "of former times");
    let general = texts([
        "config/AGENTS.md: of the user\n",
        "project/a/b/AGENTS.md: \u{feff}of the directory\r\n",
        "project/a/AGENTS.md: ",
        "project/AGENTS.md: of the project",
    ]);
    assert_eq!(
        site.seen(),
        Seen {
            general,
            ..Seen::default()
        }
    );
}

#[test]
fn every_observation_reads_the_current_files() {
    let site = Site::new();
    let file = site.machine.path("project/AGENTS.md");
    let mut seen = Vec::new();
    seen.push(site.seen().general);
    site.write("project/AGENTS.md", "one");
    seen.push(site.seen().general);
    site.write("project/AGENTS.md", "two");
    seen.push(site.seen().general);
    fs::remove_file(&file).unwrap();
    seen.push(site.seen().general);
    site.write("project/AGENTS.md", "one");
    seen.push(site.seen().general);
    assert_eq!(
        seen,
        [
            texts([]),
            texts(["project/AGENTS.md: one"]),
            texts(["project/AGENTS.md: two"]),
            texts([]),
            texts(["project/AGENTS.md: one"]),
        ]
    );
}

#[test]
fn a_directory_outside_of_its_project_has_only_instructions_of_the_user() {
    let site = Site::at("project", "elsewhere/a");
    site.write("config/AGENTS.md", "of the user")
        .write("elsewhere/AGENTS.md", "above")
        .write("elsewhere/a/AGENTS.md", "here")
        .write("project/AGENTS.md", "of the project");
    assert_eq!(
        site.seen().general,
        ["config/AGENTS.md: of the user".to_owned()]
    );
}

#[test]
fn outside_of_any_repository_all_parents_are_read_if_trusted() {
    let mut site = Site::at("disk", "disk/a/b");
    site.project = Project::global();
    site.write("disk/AGENTS.md", "above")
        .write("disk/a/b/AGENTS.md", "here");
    let all = texts(["disk/a/b/AGENTS.md: here", "disk/AGENTS.md: above"]);
    assert_eq!(site.seen().general, all);
    site.is_trusted = false;
    assert_eq!(site.seen().general, texts(["disk/a/b/AGENTS.md: here"]));
}

#[cfg(unix)]
#[test]
fn outside_of_any_repository_a_link_stays_in_its_directory() {
    let mut site = Site::at("disk", "disk/a");
    site.project = Project::global();
    site.write("disk/secret", "secret")
        .write("disk/a/rules.md", "here");
    for is_trusted in [true, false] {
        site.is_trusted = is_trusted;
        for (target, expected) in [
            ("rules.md", vec!["disk/a/rules.md: here"]),
            ("../secret", vec![]),
            ("/proc/self/environ", vec![]),
        ] {
            let link = site.machine.path("disk/a/AGENTS.md");
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert_eq!(site.seen().general, expected, "{target}");
            std::fs::remove_file(link).unwrap();
        }
    }
}

/// Documents of the project, which could name more files, are not read either.
#[test]
fn project_instructions_can_be_switched_off() {
    let mut site = Site::new().read_in(&["project/a/b/c"]);
    for file in [
        "config/AGENTS.md",
        "project/AGENTS.md",
        "project/a/b/c/AGENTS.md",
    ] {
        site.write(file, "text");
    }
    let all = Seen {
        general: texts(["config/AGENTS.md: text", "project/AGENTS.md: text"]),
        nearby: texts(["project/a/b/c/AGENTS.md: text"]),
        ..Seen::default()
    };
    assert_eq!(site.seen(), all);
    site.machine.set("OPENCODE_DISABLE_PROJECT_CONFIG", "true");
    let users = Seen {
        general: texts(["config/AGENTS.md: text"]),
        ..Seen::default()
    };
    assert_eq!(site.seen(), users);
}

#[test]
fn without_a_configuration_directory_there_are_no_instructions_of_the_user() {
    let mut site = Site::new();
    site.write("config/AGENTS.md", "of the user");
    site.machine.environment.config = std::path::PathBuf::new();
    assert_eq!(site.seen(), Seen::default());
}

#[cfg(unix)]
mod linked {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_behind_a_link_is_the_link_target() {
        let mut site = Site::new();
        site.write("project/AGENTS.md", "of the project")
            .write("project/a/AGENTS.md", "above");
        symlink(site.machine.path("project/a/b"), site.machine.path("door")).unwrap();
        site.directory = site.machine.text("door");
        assert_eq!(
            site.seen().general,
            texts([
                "project/a/AGENTS.md: above",
                "project/AGENTS.md: of the project",
            ])
        );
    }

    #[test]
    fn links_are_followed_only_within_the_project() {
        let site = Site::new();
        site.write("outside/secret.md", "secret")
            .write("project/docs/rules.md", "rules");
        for (target, link) in [
            ("outside/secret.md", "project/a/b/AGENTS.md"),
            ("project/docs/rules.md", "project/a/AGENTS.md"),
            ("project/nowhere.md", "project/AGENTS.md"),
            ("outside/secret.md", "config/AGENTS.md"),
        ] {
            symlink(site.machine.path(target), site.machine.path(link)).unwrap();
        }
        assert_eq!(
            site.seen().general,
            texts(["outside/secret.md: secret", "project/docs/rules.md: rules"]),
            "what the user's own link leads to is the user's"
        );
    }

    #[test]
    fn a_file_with_two_names_is_read_once() {
        let site = Site::new();
        site.write("project/AGENTS.md", "rules");
        for link in ["project/a/AGENTS.md", "config/AGENTS.md"] {
            symlink(
                site.machine.path("project/AGENTS.md"),
                site.machine.path(link),
            )
            .unwrap();
        }
        assert_eq!(site.seen().general, texts(["project/AGENTS.md: rules"]));
    }
}
