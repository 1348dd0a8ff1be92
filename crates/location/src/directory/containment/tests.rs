//! Tests for paths inside and outside of a Location.

use std::os::unix::{ffi::OsStrExt, fs::symlink};

use super::*;

/// Creates the directories `loc` and `outside` next to each other and returns their real paths.
fn roots() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let real = fs::canonicalize(temp.path()).unwrap();
    let [location, outside] = [real.join("loc"), real.join("outside")];
    fs::create_dir_all(location.join("sub")).unwrap();
    fs::create_dir_all(outside.join("sub")).unwrap();
    fs::write(location.join("file"), "").unwrap();
    fs::write(outside.join("file"), "").unwrap();
    symlink("sub", location.join("link")).unwrap();
    symlink(outside.join("file"), location.join("out-file")).unwrap();
    symlink(&outside, location.join("out")).unwrap();
    symlink("missing", location.join("dangling")).unwrap();
    symlink(&location, real.join("door")).unwrap();
    (temp, location, outside)
}

#[test]
fn inside_targets_are_named_relative_to_the_location() {
    let (_temp, location, _) = roots();
    let door = location.with_file_name("door");
    let absolute = |name: &str| location.join(name).to_str().unwrap().to_owned();
    for (input, resource) in [
        (String::new(), "."),
        (".".to_owned(), "."),
        ("sub/..".to_owned(), "."),
        ("file".to_owned(), "file"),
        ("link".to_owned(), "sub"),
        ("link/new".to_owned(), "sub/new"),
        ("new/deeper/../file".to_owned(), "new/file"),
        ("sub/../file".to_owned(), "file"),
        (absolute("file"), "file"),
        (absolute("link/new"), "sub/new"),
    ] {
        for root in [&location, &door] {
            let target = resolve(root, &input, TargetKind::File).unwrap();
            assert_eq!(target.canonical, lexical(&location.join(resource)));
            assert_eq!(target.resource, resource, "{input:?} in {root:?}");
            assert_eq!(target.external_directory, None);
        }
    }
}

#[test]
fn outside_targets_name_the_directory_to_approve() {
    use TargetKind::{Directory, File};
    let (_temp, location, outside) = roots();
    for (input, kind, approved) in [
        ("file", File, ""),
        ("file", Directory, ""),
        ("sub", Directory, "sub"),
        ("sub", File, ""),
        ("sub/new", File, "sub"),
        ("new", Directory, ""),
        ("new/deeper", Directory, ""),
    ] {
        let canonical = outside.join(input);
        let text = canonical.to_str().unwrap().to_owned();
        let approved = lexical(&outside.join(approved)).join("*");
        let expected = Target {
            resource: text.clone(),
            other_names: Vec::new(),
            external_directory: Some(approved.to_str().unwrap().to_owned()),
            other_external_directories: Vec::new(),
            canonical,
        };
        assert_eq!(resolve(&location, &text, kind).unwrap(), expected);
    }
    for kind in [File, Directory] {
        let root = resolve(&location, "/", kind).unwrap();
        assert_eq!(root.external_directory.as_deref(), Some("/*"));
    }
}

#[test]
fn a_target_has_all_names_by_which_its_path_leads_to_it() {
    let (_temp, location, outside) = roots();
    let top = location.parent().unwrap();
    symlink("outside", top.join("door-out")).unwrap();
    symlink("outside/sub", top.join("door-sub")).unwrap();
    let top = top.to_str().unwrap();
    let absolute = |text: &str| text.replace('@', top);
    for (root, input, names, directories) in [
        ("@/loc", "sub/x", &["@/loc/sub/x"][..], &[][..]),
        (
            "@/loc",
            "link/x",
            &["link/x", "@/loc/link/x", "@/loc/sub/x"],
            &[],
        ),
        ("@/loc", "@/door/sub", &["@/door/sub", "@/loc/sub"], &[]),
        (
            "@/door",
            "link",
            &["link", "@/door/link", "@/loc/link", "@/loc/sub"],
            &[],
        ),
        ("@/loc", ".", &["@/loc"], &[]),
        ("@/loc", "@/outside/file", &[], &[]),
        (
            "@/loc",
            "@/door-out/file",
            &["@/door-out/file"],
            &["@/door-out/*"],
        ),
        (
            "@/loc",
            "@/door-out/new/x",
            &["@/door-out/new/x"],
            &["@/door-out/*"],
        ),
        ("@/loc", "@/door-sub", &["@/door-sub"], &["@/*"]),
    ] {
        let target = resolve(
            Path::new(&absolute(root)),
            &absolute(input),
            TargetKind::File,
        );
        let target = target.unwrap();
        let all = |texts: &[&str]| texts.iter().map(|it| absolute(it)).collect::<Vec<_>>();
        assert_eq!(target.other_names, all(names), "{input}");
        assert_eq!(
            target.other_external_directories,
            all(directories),
            "{input}"
        );
    }
    let sub = absolute("@/door-sub");
    let target = resolve(&location, &sub, TargetKind::Directory).unwrap();
    let expected = format!("{}/sub/*", outside.display());
    assert_eq!(target.external_directory, Some(expected));
    assert_eq!(target.other_external_directories, [format!("{sub}/*")]);
}

#[test]
fn a_refused_target_has_a_reason() {
    let (_temp, location, _) = roots();
    let long = "n".repeat(300);
    for (input, expected) in [
        ("..", RELATIVE),
        ("../outside/file", RELATIVE),
        ("sub/../../loc2", RELATIVE),
        ("out", LINK),
        ("out/file", LINK),
        ("out/file/below", LINK),
        ("out/new", LINK),
        ("out/new/below", LINK),
        ("out-file", LINK),
        ("out-file/below", LINK),
        ("dangling", LINK),
        ("dangling/new", LINK),
        ("file/new", FILE),
        ("file/new/deeper", FILE),
        ("a\0b", "the path contains a NUL character"),
        ("/a\0b", "the path contains a NUL character"),
    ] {
        let error = resolve(&location, input, TargetKind::File).unwrap_err();
        assert_eq!(error.to_string(), expected, "{input:?}");
    }
    let deep = "d/".repeat(100_000);
    for input in [&long, &deep] {
        let error = resolve(&location, input, TargetKind::File).unwrap_err();
        assert!(
            matches!(error, ContainmentError::Io(_)),
            "{input:?}: {error}"
        );
    }
    let missing = location.join("nowhere");
    let error = resolve(&missing, "file", TargetKind::File).unwrap_err();
    assert!(matches!(error, ContainmentError::NoLocation), "{error}");
}

const RELATIVE: &str = "the relative path leaves the working directory. Use an absolute path for a place outside of it";
const LINK: &str = "a symbolic link on the path leads out of the working directory or to nothing";
const FILE: &str = "a part of the path before its last name is a file, not a directory";

#[test]
fn a_reason_outside_names_the_directory_to_approve() {
    let (_temp, location, outside) = roots();
    let odd = outside.join(OsStr::from_bytes(b"\xff"));
    fs::write(&odd, "").unwrap();
    symlink(&odd, outside.join("odd")).unwrap();
    symlink("missing", outside.join("dangling")).unwrap();
    for (input, directory, expected) in [
        ("odd", "", "the path is not Unicode"),
        ("dangling", "", "a symbolic link on the path has no target"),
        ("file/new", "file", FILE),
    ] {
        let path = outside.join(input).to_str().unwrap().to_owned();
        let error = resolve(&location, &path, TargetKind::File).unwrap_err();
        let ContainmentError::Outside {
            pattern, reason, ..
        } = error
        else {
            panic!("{input}: {error:?}");
        };
        let approved = lexical(&outside.join(directory)).join("*");
        assert_eq!(pattern, approved.to_str().unwrap(), "{input}");
        assert_eq!(reason.to_string(), expected, "{input}");
    }
}

#[test]
fn a_target_resolves_until_a_link_replaces_a_component() {
    let (_temp, location, outside) = roots();
    let target = resolve(&location, "sub", TargetKind::Directory).unwrap();
    assert!(target.still_resolves());
    fs::remove_dir(location.join("sub")).unwrap();
    assert!(!target.still_resolves());
    symlink(outside.join("sub"), location.join("sub")).unwrap();
    assert!(!target.still_resolves());
}
