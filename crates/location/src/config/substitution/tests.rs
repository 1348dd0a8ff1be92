use super::*;

fn environment(home: &Path) -> Environment {
    Environment {
        home: home.to_owned(),
        variables: [
            ("KEY".to_owned(), "a\"b\\\n{env:OTHER}".to_owned()),
            ("OTHER".to_owned(), "other".to_owned()),
            ("NUMBER".to_owned(), "12".to_owned()),
            ("WIDE".to_owned(), "0123456789".to_owned()),
        ]
        .into(),
        ..Environment::default()
    }
}

fn replaced(text: &str) -> Result<String, SubstitutionError> {
    let here = Path::new("/nowhere");
    substitute(text, here, Tokens::All, &environment(here)).map(|it| it.text)
}

#[test]
fn tokens_are_replaced_only_in_values() {
    for (text, expected) in [
        ("", ""),
        ("{}", "{}"),
        (r#""{env:OTHER}""#, r#""other""#),
        (r#""a {env:OTHER}{env:NUMBER} b""#, r#""a other12 b""#),
        (r#""{env: OTHER }""#, r#""other""#),
        // An unset variable becomes an empty text.
        (r#""{env:NONE}""#, r#""""#),
        // Escaped within a string. The replacement is not searched for tokens.
        (r#""{env:KEY}""#, r#""a\"b\\\n{env:OTHER}""#),
        // Unchanged outside of strings.
        (r#"{"a": {env:NUMBER}}"#, r#"{"a": 12}"#),
        (r#"{"a": "x", "b": {env:NUMBER}}"#, r#"{"a": "x", "b": 12}"#),
        (r#""\"{env:OTHER}""#, r#""\"other""#),
        (r#""\\" {env:NUMBER}"#, r#""\\" 12"#),
        (r#""ä\ä{env:OTHER}""#, r#""ä\äother""#),
        // Not replaced in comments.
        ("// {env:OTHER}\n", "// {env:OTHER}\n"),
        ("  // {file:missing}\n", "  // {file:missing}\n"),
        ("/* \" {file:missing} */ ", "/* \" {file:missing} */ "),
        (
            "1 // {file:missing}\n{env:NUMBER}",
            "1 // {file:missing}\n12",
        ),
        (r#""http://{env:OTHER}""#, r#""http://other""#),
        // Text that is not a token stays unchanged.
        (r#""{env:}" "{file: }""#, r#""{env:}" "{file: }""#),
        ("\"{env:OTHER\n}\"", "\"{env:OTHER\n}\""),
        (
            r#""{ENV:OTHER} {envOTHER} {env:OTHER""#,
            r#""{ENV:OTHER} {envOTHER} {env:OTHER""#,
        ),
    ] {
        assert_eq!(replaced(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn files_are_found_from_the_document_and_from_home() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("home")).unwrap();
    std::fs::write(root.join("key"), " line \"1\"\nline 2 {env:OTHER}\n\n").unwrap();
    std::fs::write(root.join("home/key"), "of home").unwrap();
    let environment = environment(&root.join("home"));
    let absolute = root.join("key").display().to_string();
    for (name, expected) in [
        ("key", r#"line \"1\"\nline 2 {env:OTHER}"#),
        ("./home/../key", r#"line \"1\"\nline 2 {env:OTHER}"#),
        (&absolute, r#"line \"1\"\nline 2 {env:OTHER}"#),
        ("~/key", "of home"),
    ] {
        let text = format!("\"{{file:{name}}}\"");
        let found = substitute(&text, root, Tokens::All, &environment).map(|it| it.text);
        assert_eq!(found, Ok(format!("\"{expected}\"")), "{name}");
    }
}

#[test]
fn an_unreadable_file_is_reported_with_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let large = vec![b'a'; usize::try_from(MAX_FILE_BYTES).unwrap() + 1];
    std::fs::write(root.join("large"), large).unwrap();
    std::fs::write(root.join("binary"), b"\xff").unwrap();
    std::fs::create_dir(root.join("folder")).unwrap();
    let refused = |name: &str, problem: &str| {
        let text = format!("{{\n  \"a\": \"ä {{file:{name}}}\"}}");
        let substituted = substitute(&text, root, Tokens::All, &Environment::default()).unwrap();
        let path = root.join(name).display().to_string();
        let expected = Refused {
            message: format!("{{file:{name}}} cannot be replaced with {path}: {problem}"),
            is_withheld: false,
        };
        assert_eq!(substituted.refusal(substituted.text()), Some(expected));
    };
    refused("missing", "there is no such file");
    refused("folder", "it is not a regular file");
    refused("large", "it is larger than 1048576 bytes");
    refused("binary", "it is not UTF-8");
}

#[test]
fn number_and_size_of_files_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let names: Vec<_> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
    for name in &names {
        std::fs::write(root.join(name), "x").unwrap();
    }
    let tokens = |names: &[String]| {
        let tokens = names.iter().map(|name| format!("\"{{file:{name}}}\""));
        tokens.collect::<Vec<_>>().join("\n")
    };
    let fails = |text: &str| match substitute(text, root, Tokens::All, &Environment::default()) {
        Ok(result) => result.refusal(result.text()).map(|it| (it.message, 0)),
        Err(error) => Some((error.message, error.position.line)),
    };
    // Tokens can name the same file repeatedly.
    assert_eq!(fails(&tokens(&vec!["0".to_owned(); 1000])), None);
    assert_eq!(fails(&tokens(&names[..MAX_FILES])), None);
    let message = "A document may name at most 100 files with {file:…}".to_owned();
    assert_eq!(fails(&tokens(&names)), Some((message, 0)));

    let size = usize::try_from(MAX_FILE_BYTES).unwrap();
    std::fs::write(root.join("large"), vec![b'a'; size]).unwrap();
    let message =
        "What replaces the tokens makes the document larger than 4194304 bytes".to_owned();
    let large = tokens(&vec!["large".to_owned(); 5]);
    assert_eq!(fails(&large), Some((message, 4)));
}

#[test]
fn a_position_after_replacements_is_mapped_to_the_original() {
    let here = Path::new("/nowhere");
    let original = "\"{env:WIDE}\", \"{env:NONE}\", 1\n{env:NUMBER}, 2";
    let source = substitute(original, here, Tokens::All, &environment(here)).unwrap();
    assert_eq!(source.text(), "\"0123456789\", \"\", 1\n12, 2");
    for (part, line, column) in [
        ("\"0", 1, 1),
        ("01", 1, 2),
        ("9\"", 1, 2),
        ("\", \"\"", 1, 12),
        ("\"\"", 1, 15),
        ("1\n", 1, 29),
        ("12,", 2, 1),
        (" 2", 2, 14),
    ] {
        let at = source.text().find(part).unwrap();
        assert_eq!(source.position(at), Position { line, column }, "{part:?}");
    }
}

#[test]
fn every_fragment_of_a_document_is_substituted_without_a_panic() {
    let text = "// {env:A}\n{\"ä\\\"{env:KEY}\": {file:x} /* {env:B} */ \"\\{env:NUMBER}\\";
    for (start, _) in text.char_indices() {
        for (end, _) in text[start..].char_indices() {
            let part = &text[start..start + end];
            let marked = replaced(part).unwrap().contains(MARK);
            assert!(!marked || part.contains("{file:x}"), "{part}");
        }
    }
}

#[test]
fn an_untrusted_document_reads_only_files_below_its_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir(&root).unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
    for (name, content) in [
        ("prompt", "inside"),
        (".env", "secret"),
        (".env.local", "secret"),
        (".env.example", "example"),
        (".git/config", "secret"),
    ] {
        std::fs::write(root.join(name), content).unwrap();
    }
    std::fs::write(folder.path().join("secret"), "outside").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
    let environment = environment(folder.path());
    for (token, expected) in [
        ("{file:prompt}", Ok("\"inside\"")),
        ("{file:./../project/prompt}", Ok("\"inside\"")),
        ("{file:../secret}", Err("outside the project")),
        ("{file:~/secret}", Err("outside the project")),
        #[cfg(unix)]
        ("{file:link}", Err("outside the project")),
        ("{file:.env}", Err("a private file")),
        ("{file:.env.local}", Err("a private file")),
        ("{file:.env.example}", Ok("\"example\"")),
        ("{file:.git/config}", Err("a private file")),
        ("{env:OTHER}", Err("a variable of the host")),
        ("{file:missing}", Err("there is no such file")),
    ] {
        let text = format!("\"{token}\"");
        let tokens = Tokens::FilesBelow(&root);
        let result = substitute(&text, &root, tokens, &environment).unwrap();
        match (result.refusal(result.text()), expected) {
            (None, Ok(expected)) => assert_eq!(result.text(), expected),
            (Some(refused), Err(reason)) => {
                assert!(refused.message.contains(reason), "{refused:?}");
                assert_eq!(refused.is_withheld, !token.contains("missing"));
            }
            (found, expected) => panic!("{token}: {found:?} is not {expected:?}"),
        }
    }
}
