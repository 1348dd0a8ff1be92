//! Instructions in directories below.

use super::{Site, texts};

#[test]
fn directories_are_searched_in_order() {
    let site = Site::new().read_in(&[
        "project/a/b/d",
        "project/a/b/none",
        "project/a/b/gone/deep",
        "project/a/b/c",
    ]);
    site.machine.directory("project/a/b/none");
    site.write("project/a/b/c/AGENTS.md", "c")
        .write("project/a/b/d/AGENTS.md", "d")
        .write("project/a/b/d/deep/AGENTS.md", "not asked for");
    assert_eq!(
        site.seen().nearby,
        texts(["project/a/b/d/AGENTS.md: d", "project/a/b/c/AGENTS.md: c"])
    );
}

#[cfg(unix)]
#[test]
fn link_targets_must_be_below_the_project() {
    use std::os::unix::fs::symlink;

    let site = Site::new().read_in(&[
        "project/a/b/out",
        "project/a/b/in",
        "project/a/b/up",
        "outside",
    ]);
    site.write("outside/AGENTS.md", "outside")
        .write("project/x/AGENTS.md", "beside")
        .write("project/a/b/c/AGENTS.md", "below");
    for (target, link) in [
        ("outside", "out"),
        ("project/a/b/c", "in"),
        ("project/x", "up"),
    ] {
        let link = site.machine.path("project/a/b").join(link);
        symlink(site.machine.path(target), link).unwrap();
    }
    assert_eq!(
        site.seen().nearby,
        texts(["project/a/b/c/AGENTS.md: below"])
    );
}
