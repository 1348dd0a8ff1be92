//! Tests for the entries that names mean which a model or a user wrote.

use std::fs;
use std::path::PathBuf;

use opencode_location::directory::{
    ContainmentError, Purpose, Target, TargetKind, resolve, resolve_meant,
};
use proptest::prelude::*;

/// A home directory with a Location, and a directory that the Location may not access.
struct Home {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl Home {
    fn with(files: &[&str]) -> Self {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let root = temp.path().canonicalize().expect("it exists");
        fs::create_dir_all(root.join("project")).expect("it is writable");
        fs::create_dir_all(root.join("outside")).expect("it is writable");
        let home = Self { _temp: temp, root };
        for file in files {
            let path = home.root.join("project").join(file);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it is writable");
            fs::write(path, file).expect("it is writable");
        }
        home
    }

    fn resolve(&self, input: &str, purpose: Purpose) -> Result<Target, ContainmentError> {
        let location = self.root.join("project");
        resolve_meant(&location, input, TargetKind::File, purpose, &self.root)
    }

    /// Returns the name of the entry that an input means, or `None` if there is none.
    fn found(&self, input: &str) -> Option<String> {
        let target = self.resolve(input, Purpose::Existing);
        let target = target.unwrap_or_else(|error| panic!("{input:?}: {error}"));
        target.exists().then_some(target.resource)
    }
}

#[test]
fn names_in_other_forms_mean_the_entry_that_exists() {
    let home = Home::with(&[
        "README.md",
        "Screenshot 2026-01-02 at 3.04.05\u{202f}PM.txt",
        "cafe\u{301}.txt",
        "na\u{ef}ve.txt",
        "it\u{2019}s.txt",
        "a\u{2013}b\u{2026}.txt",
        "de\u{301}j\u{e0}/vu\u{a0}1.txt",
        "my file (1).txt",
        "@scope/index.ts",
        "trailing .txt ",
    ]);
    let project = home.root.join("project").to_str().unwrap().to_owned();
    for (input, expected) in [
        (
            "Screenshot 2026-01-02 at 3.04.05 PM.txt",
            "Screenshot 2026-01-02 at 3.04.05\u{202f}PM.txt",
        ),
        (
            "Screenshot 2026-01-02 at 3.04.05\u{a0}PM.txt",
            "Screenshot 2026-01-02 at 3.04.05\u{202f}PM.txt",
        ),
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("nai\u{308}ve.txt", "na\u{ef}ve.txt"),
        ("it's.txt", "it\u{2019}s.txt"),
        ("a-b....txt", "a\u{2013}b\u{2026}.txt"),
        (
            "d\u{e9}ja\u{300}/vu 1.txt",
            "de\u{301}j\u{e0}/vu\u{a0}1.txt",
        ),
        ("README.md\n", "README.md"),
        (" README.md ", "README.md"),
        ("@README.md", "README.md"),
        ("\"README.md\"", "README.md"),
        ("`README.md`", "README.md"),
        ("README.md:12", "README.md"),
        ("README.md#L1-L5", "README.md"),
        ("my\\ file\\ \\(1\\).txt", "my file (1).txt"),
        ("my%20file%20(1).txt", "my file (1).txt"),
        ("@scope/index.ts", "@scope/index.ts"),
        ("@scope\\index.ts", "@scope/index.ts"),
        ("~/project/README.md", "README.md"),
        ("$HOME/project/README.md", "README.md"),
        ("~/project/caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("trailing .txt", "trailing .txt "),
        (&format!("file://{project}/README.md"), "README.md"),
        (
            &format!("file://{project}/my%20file%20(1).txt"),
            "my file (1).txt",
        ),
        (&format!("@{project}/README.md"), "README.md"),
        (&format!("{project}/caf\u{e9}.txt"), "cafe\u{301}.txt"),
    ] {
        assert_eq!(home.found(input).as_deref(), Some(expected), "{input:?}");
    }
    for input in [
        "readme.md",
        "READM.md",
        "caf.txt",
        "",
        "@",
        "\n",
        "nowhere/README.md",
    ] {
        assert!(
            home.found(input).is_none_or(|found| found == "."),
            "{input:?}"
        );
    }
}

#[test]
fn an_exact_name_comes_first() {
    let home = Home::with(&[
        "@a.md",
        "a.md",
        "b.md:1",
        "b.md",
        "cafe\u{301}",
        "caf\u{e9}",
        "x y",
        "x\u{a0}y",
    ]);
    for name in [
        "@a.md",
        "a.md",
        "b.md:1",
        "b.md",
        "cafe\u{301}",
        "caf\u{e9}",
        "x y",
        "x\u{a0}y",
    ] {
        assert_eq!(home.found(name).as_deref(), Some(name));
    }
}

#[test]
fn of_two_entries_that_look_the_same_none_is_chosen() {
    let home = Home::with(&["x\u{a0}y", "x\u{202f}y", "d\u{2010}1/a", "d\u{2011}1/b"]);
    for purpose in [Purpose::Existing, Purpose::Creation] {
        let error = home.resolve("x y", purpose).unwrap_err();
        assert_eq!(
            error.to_string(),
            "more than one entry looks like this name: \"x\\u00a0y\" and \"x\\u202fy\". \
             Give one of these names exactly"
        );
    }
    // The whole path can decide between two directories.
    assert_eq!(home.found("d-1/a").as_deref(), Some("d\u{2010}1/a"));
    assert_eq!(home.found("d-1/b").as_deref(), Some("d\u{2011}1/b"));
    let error = home.resolve("d-1/new", Purpose::Creation).unwrap_err();
    assert!(matches!(error, ContainmentError::Ambiguous(_)), "{error}");
}

#[test]
fn a_new_file_is_not_created_beside_one_that_looks_the_same() {
    let home = Home::with(&["cafe\u{301}/a.txt", "types/index.ts"]);
    let project = home.root.join("project").to_str().unwrap().to_owned();
    for (input, expected) in [
        ("caf\u{e9}/a.txt", "cafe\u{301}/a.txt"),
        ("caf\u{e9}/new.txt", "cafe\u{301}/new.txt"),
        ("caf\u{e9}/deep/new.txt", "cafe\u{301}/deep/new.txt"),
        ("new.txt\n", "new.txt"),
        ("~/project/new.txt", "new.txt"),
        (&format!("file://{project}/a%20b.txt"), "a b.txt"),
        // A guess could replace another file.
        ("@types/index.ts", "@types/index.ts"),
        ("types/index.ts:1", "types/index.ts:1"),
        ("types\\index.ts", "types\\index.ts"),
        ("it\u{2019}s.txt", "it\u{2019}s.txt"),
    ] {
        let target = home.resolve(input, Purpose::Creation).unwrap();
        assert_eq!(target.resource, expected, "{input:?}");
    }
}

#[test]
fn another_form_does_not_lead_around_the_bounds() {
    let home = Home::with(&["a"]);
    let outside = home.root.join("outside");
    fs::write(outside.join("caf\u{e9}"), "").unwrap();
    std::os::unix::fs::symlink(&outside, home.root.join("project/o\u{2019}ut")).unwrap();
    for input in [
        "o'ut/caf\u{e9}",
        "o'ut/cafe\u{301}",
        "o'ut/none",
        "@o'ut/caf\u{e9}",
    ] {
        let found = home.resolve(input, Purpose::Existing);
        let is_found = found.as_ref().is_ok_and(Target::exists);
        assert!(!is_found, "{input}: {found:?}");
    }
    // A place outside has its real name, for which the user is asked.
    let input = format!("file://{}", outside.join("cafe\u{301}").to_str().unwrap());
    let target = home.resolve(&input, Purpose::Existing).unwrap();
    assert_eq!(target.canonical, outside.join("caf\u{e9}"));
    assert!(target.external_directory.is_some());
}

proptest! {
    #[test]
    fn a_name_that_exists_always_means_itself(
        names in proptest::collection::hash_set("[a@'\u{2019}\u{e9}\u{301}\u{a0} .:1~\\\\`-]{1,6}", 1..6),
    ) {
        let names: Vec<_> = names.into_iter().filter(|name| name != "." && name != "..").collect();
        let home = Home::with(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let location = home.root.join("project");
        for name in &names {
            for purpose in [Purpose::Existing, Purpose::Creation] {
                let meant = home.resolve(name, purpose).unwrap();
                prop_assert_eq!(meant, resolve(&location, name, TargetKind::File).unwrap());
            }
        }
    }
}
