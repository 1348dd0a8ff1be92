//! Tests for the meaning of patterns.

use super::*;

fn plan(pattern: &str, root: &str) -> Result<(Option<String>, Vec<String>), String> {
    let location = Path::new("/nowhere/project");
    let root = lexical(&location.join(root));
    let places = Places {
        location: [location, Path::new("/nowhere/real")],
        root: [&root, &root],
        home: Path::new("/nowhere"),
    };
    Plan::of(pattern, &places).map(|plan| (plan.path, plan.globs))
}

#[test]
fn each_form_means_patterns_below_one_directory() {
    for (pattern, root, path, globs) in [
        ("*.ts", "", None, &["*.ts"][..]),
        ("src/*.ts", "", None, &["src/*.ts"]),
        ("/*.ts", "", None, &["/*.ts"]),
        ("!*.ts", "", None, &["!*.ts"]),
        ("", "", None, &[""]),
        ("/nowhere/project/src/*.ts", "", None, &["/src/*.ts"]),
        ("/nowhere/real/src/*.ts", "", Some("."), &["/src/*.ts"]),
        ("/nowhere/project", "", None, &["/**"]),
        ("/nowhere/project/", "", None, &["/**"]),
        ("/nowhere/project/src/*.ts", "src", None, &["/*.ts"]),
        (
            "/nowhere/project/lib/*.ts",
            "src",
            Some("."),
            &["/lib/*.ts"],
        ),
        ("!/nowhere/project/src/*.ts", "", None, &["!/src/*.ts"]),
        ("./src/*.ts", "", None, &["/src/*.ts"]),
        ("./*.ts", "", None, &["/*.ts"]),
        ("./a.ts", "", None, &["/a.ts"]),
        (".", "", None, &["/**"]),
        ("../project/src/*.ts", "", None, &["/src/*.ts"]),
        ("src/../lib/*.ts", "", None, &["/lib/*.ts"]),
        ("../lib/*.ts", "src", Some("."), &["/lib/*.ts"]),
        ("src//*.ts", "", None, &["src/*.ts"]),
        ("~/project/*.ts", "", None, &["/*.ts"]),
        (
            "file:///nowhere/project/a%20b/*.ts",
            "",
            None,
            &["/a b/*.ts"],
        ),
        ("*.ts,*.tsx", "", None, &["*.ts,*.tsx", "*.ts", "*.tsx"]),
        ("*.ts, *.tsx", "", None, &["*.ts, *.tsx", "*.ts", "*.tsx"]),
        ("*.ts *.tsx", "", None, &["*.ts *.tsx", "*.ts", "*.tsx"]),
        ("my file.ts", "", None, &["my file.ts"]),
        ("*.{ts,tsx}", "", None, &["*.ts", "*.tsx"]),
        ("{a,b/c}.ts", "", None, &["/a.ts", "b/c.ts"]),
        (
            "{pkg/.storybook,src}/**",
            "",
            None,
            &["pkg/.storybook/**", "src/**"],
        ),
        ("src\\a.ts", "", None, &["src\\a.ts", "src/a.ts"]),
        ("src\\*.ts", "", None, &["src\\*.ts", "src/*.ts"]),
        ("src/", "", None, &["**/src/**"]),
        ("src/deep/", "", None, &["src/deep/**"]),
        (
            "app/[id]/*.ts",
            "",
            None,
            &["app/[id]/*.ts", "app/\\[id\\]/*.ts"],
        ),
        ("`*.ts`", "", None, &["`*.ts`", "*.ts"]),
        ("/etc/*.conf", "", Some("/etc"), &["/*.conf"]),
        ("/etc/a/*/b", "", Some("/etc/a"), &["/*/b"]),
        ("~/other/*.ts", "", Some("/nowhere/other"), &["/*.ts"]),
    ] {
        let (found_path, found) = plan(pattern, root).unwrap();
        assert_eq!(found, globs, "{pattern}");
        assert_eq!(found_path.as_deref(), path, "{pattern}");
    }
}

#[test]
fn a_pattern_that_means_nothing_has_a_reason() {
    for (pattern, expected) in [
        ("[", "the pattern is not valid (error parsing glob '['"),
        ("{a", "the pattern is not valid (error parsing glob '{a'"),
        ("a\0b", "the pattern contains a NUL character"),
        ("../*.ts", "the pattern leaves the working directory"),
        ("*/../*.ts", "`..` cannot follow a wildcard"),
    ] {
        let error = plan(pattern, "").unwrap_err();
        assert!(error.starts_with(expected), "{pattern}: {error}");
    }
    for (pattern, expected) in [
        (
            format!("{}{}", "{".repeat(4_000), "}".repeat(4_000)),
            "the pattern has more than 64 braces inside of each other",
        ),
        ("{a,".repeat(65), "the pattern has more than 64 braces"),
        ("a".repeat(16_385), "the pattern has more than 16384 bytes"),
    ] {
        let error = plan(&pattern, "").unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let braces = |nth| format!("x{nth}{}", "{a,b}".repeat(8));
    let list: Vec<_> = (0..250).map(braces).collect();
    let error = plan(&list.join(","), "").unwrap_err();
    assert!(
        error.starts_with("it stands for more than 256 patterns"),
        "{error}"
    );
}

/// Written out, the choices of this pattern have 3.6 GB.
#[test]
fn a_long_pattern_with_many_choices_stays_as_it_is() {
    let pattern = format!("{}{{{}}}", "a".repeat(60_000), ",".repeat(60_000));
    assert_eq!(readings::expanded(&pattern), [pattern]);
}

#[test]
fn hidden_parents_are_those_that_a_pattern_names() {
    for (pattern, directory, is_named) in [
        ("pkg/.storybook/*.ts", "pkg/.storybook", true),
        ("**/.storybook/main.ts", "a/b/.storybook", true),
        ("{pkg/.storybook,src}/**", "pkg/.storybook", true),
        (".s*/*.ts", ".storybook", true),
        ("[.]storybook/*.ts", ".storybook", true),
        ("*/main.ts", ".storybook", false),
        ("**/*.ts", ".storybook", false),
        ("!.storybook/**", ".storybook", false),
        (".storybook", ".storybook", false),
    ] {
        let places = Places {
            location: [Path::new("/p"); 2],
            root: [Path::new("/p"); 2],
            home: Path::new("/"),
        };
        let plan = Plan::of(pattern, &places).unwrap();
        let rules = plan.hidden_parents(Path::new("/p"));
        let found = rules.is_some_and(|it| it.matched(directory, true).is_whitelist());
        assert_eq!(found, is_named, "{pattern}");
    }
}
