//! Verifies the checks: each case gives them a file, a journal or a ledger with one defect, and
//! expects its finding.

use std::fs;
use std::path::Path;

use opencode_schema::id::{EventID, MessageID, SessionID};
use opencode_schema::prompt::Delivery;
use opencode_tests::check::check;
use opencode_tests::folder::Folder;
use opencode_tests::ledger::{Import, Ledger, Progress, Prompt};
use opencode_tests::life::{End, Life};
use opencode_tests::line::Setting;
use opencode_tests::model::KEPT_FILE;
use opencode_tests::plan::{Death, Plan};
use opencode_tests::point;
use rusqlite::Connection;

use super::{PROGRAM, folder};

fn plan(generation: u32, death: Death) -> Plan {
    Plan {
        seed: 2 + u64::from(generation),
        generation,
        resume: true,
        settles: false,
        death,
    }
}

fn dies_at(point: &str) -> Death {
    Death::Point {
        point: point.to_owned(),
        nth: 1,
    }
}

/// A complete load passes every fail point, and no unknown ones.
#[tokio::test]
async fn the_load_reaches_every_point() {
    let folder = folder();
    let mut life = Life::new(folder.path(), Path::new(PROGRAM)).unwrap();
    // The second process finds the interrupted work of the first one.
    for (generation, death) in [(0, dies_at(point::SENDING)), (1, Death::None)] {
        let plan = plan(generation, death);
        let (_, findings) = life.generation(&plan).await.unwrap();
        assert_eq!(findings, [""; 0]);
    }
    let passed: Vec<_> = life.ledger.passed.unwrap().into_keys().collect();
    let mut points: Vec<_> = point::all().collect();
    points.sort();
    assert_eq!(passed, points);
}

#[tokio::test]
async fn exactly_the_planted_errors_are_found() {
    let folder = folder();
    let mut life = Life::new(folder.path(), Path::new(PROGRAM)).unwrap();
    // The first process completes its load. The second one leaves interrupted work.
    for (generation, death) in [(0, Death::None), (1, dies_at(point::TOOL_BEFORE))] {
        let ends = [End::Survived, End::Killed][generation as usize];
        let ended = life.generation(&plan(generation, death)).await.unwrap();
        assert_eq!(ended, (ends, Vec::new()));
    }
    for (name, change, expected) in WRONGS {
        let copy = life.folder().copy_for("wrong").unwrap();
        let mut ledger = life.ledger.clone();
        change(&copy, &mut ledger);
        let (findings, _) = check(&copy, &ledger).await;
        let mut kinds: Vec<_> = findings.iter().map(|finding| kind(finding)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds, *expected, "{name}: {findings:#?}");
    }
}

/// The part of a finding that identifies its kind.
fn kind(finding: &str) -> &str {
    let kinds = WRONGS.iter().flat_map(|(_, _, kinds)| *kinds);
    let mut found = kinds.filter(|kind| finding.contains(**kind));
    found.next().copied().unwrap_or(finding)
}

type Change = fn(&Folder, &mut Ledger);

/// Name of the defect, the change that causes it, and the expected findings.
const WRONGS: &[(&str, Change, &[&str])] = &[
    ("nothing", |_, _| {}, &[]),
    (
        "an index lacks rows",
        |folder, _| {
            sql(
                folder,
                "PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET sql = replace(sql, 'parent IS NOT NULL', 'parent IS NULL')
                 WHERE name = 'session_parent'",
            );
        },
        &["integrity_check"],
    ),
    (
        "a row of nothing",
        |folder, _| {
            sql(
                folder,
                "INSERT INTO context_epoch VALUES (9999, '', '{}', 0)",
            );
        },
        &["a row refers to nothing"],
    ),
    (
        "a sequence without its entry",
        |folder, _| sql(folder, "UPDATE aggregate SET seq = seq + 1 WHERE key = 1"),
        &["has a gap, or its end", "the check broke off"],
    ),
    (
        "two ends of an input",
        |folder, _| {
            sql(
                folder,
                "UPDATE input SET withdrawn = promoted WHERE (aggregate, admitted) IN
                 (SELECT aggregate, admitted FROM input WHERE promoted IS NOT NULL LIMIT 1)",
            );
        },
        &["an input is promoted and withdrawn", "it was refused"],
    ),
    (
        "settled calls are open again",
        |folder, _| {
            sql(
                folder,
                "UPDATE part SET settled = NULL WHERE kind = 2 AND EXISTS
                 (SELECT 1 FROM event e WHERE e.aggregate = part.aggregate
                  AND e.seq = part.settled AND e.type = 33)",
            );
        },
        &["another messages", "were open; failed were"],
    ),
    (
        "a lost session",
        |_, ledger| ledger.sessions.push(SessionID::parse("ses_lost").unwrap()),
        &["is gone"],
    ),
    (
        "a lost import",
        |_, ledger| import(ledger, "ses_lost", 3),
        &["is gone"],
    ),
    (
        "half an import",
        |_, ledger| {
            let some = ledger.sessions[0].to_string();
            import(ledger, &some, 1_000_000);
        },
        &["is imported in part"],
    ),
    (
        "another event than was shown",
        |_, ledger| {
            let shown = ledger.shown.values_mut().next().unwrap();
            *shown = EventID::parse("evt_shown").unwrap();
        },
        &["was shown as"],
    ),
    (
        "another setting",
        |_, ledger| {
            let may = ledger.settings.values_mut().next().unwrap();
            *may = vec![Some("another".to_owned())];
        },
        &["instead of one of"],
    ),
    (
        "an uninvited input",
        |_, ledger| {
            let text = promoted(ledger).asked.prompt.text.clone();
            ledger.prompts.remove(&text);
        },
        &["no caller asked for the input"],
    ),
    (
        "another receipt",
        |_, ledger| promoted(ledger).receipts[0].admitted_seq += 1,
        &[
            "it was admitted once more",
            "its receipts say something else",
        ],
    ),
    (
        "a lost prompt",
        |_, ledger| promoted(ledger).id = Some(MessageID::parse("msg_lost").unwrap()),
        &[
            "is gone",
            "it was admitted once more",
            "no caller asked for the input",
        ],
    ),
    (
        "a lost withdrawal",
        |_, ledger| promoted(ledger).withdrawal = Progress::Done,
        &["is gone", "it was withdrawn and is there again"],
    ),
    (
        "a withdrawal without a caller",
        |_, ledger| withdrawn(ledger).withdrawal = Progress::Never,
        &["it was refused", "no caller withdrew it"],
    ),
    (
        "a lost promotion",
        |_, ledger| withdrawn(ledger).too_late = true,
        &["it was said to be promoted and is not"],
    ),
    (
        "another delivery",
        |_, ledger| promoted(ledger).deliveries = Vec::new(),
        &["its delivery is not what was acknowledged"],
    ),
    (
        "another question",
        |_, ledger| {
            let asked = &mut promoted(ledger).asked;
            asked.delivery = match asked.delivery {
                Delivery::Steer => Delivery::Queue,
                Delivery::Queue => Delivery::Steer,
            };
        },
        &["it is not what was asked", "it was refused"],
    ),
    (
        "a tool that had its effect twice",
        |folder, _| {
            journal(folder, |line| vec![line.clone(), line], "\"act\":\"after\"");
        },
        &["a tool had its effect twice"],
    ),
    (
        "tools that ran twice",
        |folder, _| repeat(folder, "\"act\":\"before\""),
        &["a tool ran twice"],
    ),
    (
        "a tool that never ran",
        |folder, _| journal(folder, |_| Vec::new(), "\"act\":\"after\""),
        &["a call has an outcome that no tool gave"],
    ),
    (
        "a tool that ran unasked",
        |folder, _| {
            let other = |line: String| vec![line.replace("call-", "other-")];
            journal(folder, other, "\"act\":\"before\"");
        },
        &[
            "a tool ran whose call is not recorded",
            "the journal has a gap",
        ],
    ),
    (
        "a command that ran twice",
        |folder, _| journal(folder, |line| vec![line.clone(), line], "\"act\":\"ran\""),
        &["a tool had its effect twice"],
    ),
    (
        "a command that never ran",
        |folder, _| journal(folder, |_| Vec::new(), "\"act\":\"ran\""),
        &["a call has an outcome that no tool gave"],
    ),
    (
        "a command that ran unasked",
        |folder, _| {
            let other = |line: String| vec![line.replace("\"mark\":\"", "\"mark\":\"other-")];
            journal(folder, other, "\"act\":\"ran\"");
        },
        &[
            "a call has an outcome that no tool gave",
            "a tool ran whose call is not recorded",
        ],
    ),
    (
        "a revert that got lost",
        |_, ledger| {
            let session = ledger.sessions[0].clone();
            let lost = vec![Some("msg_lost".to_owned())];
            ledger.settings.insert((session, Setting::Revert), lost);
        },
        &["instead of one of"],
    ),
    (
        "another baseline",
        |folder, _| {
            sql(folder, "UPDATE context_epoch SET baseline = 'Another one.'");
        },
        &[
            "began another Context Epoch",
            "was not told each change once",
        ],
    ),
    (
        "another snapshot",
        |folder, _| {
            sql(
                folder,
                r#"UPDATE context_epoch SET snapshot = replace(snapshot, '"m1"', '"m2"')"#,
            );
        },
        &["was not told each change once"],
    ),
    (
        "a step without a request",
        |folder, _| {
            while fs::read_to_string(folder.journal())
                .unwrap()
                .contains("sending")
            {
                journal(folder, |_| Vec::new(), "\"act\":\"sending\"");
            }
        },
        &["steps after"],
    ),
    (
        "an interruption that did not settle",
        |_, ledger| {
            let (_, session) = ledger.died.clone().unwrap();
            let session = session.unwrap();
            ledger.young.push(session.clone());
            ledger.quiet.push(session);
        },
        &["nothing ran in"],
    ),
    // This case must come last, because all cases share the same projects.
    (
        "files that are not what was staged",
        |folder, _| {
            for directory in fs::read_dir(folder.path().join("kept")).unwrap() {
                let path = directory.unwrap().path();
                if !path.ends_with(".git") {
                    fs::write(path.join(KEPT_FILE), "other").unwrap();
                }
            }
        },
        &["the file of"],
    ),
];

fn sql(folder: &Folder, statements: &str) {
    let connection = Connection::open(folder.database()).unwrap();
    let checked = "PRAGMA foreign_keys = OFF;";
    connection
        .execute_batch(&format!("{checked} {statements}"))
        .unwrap();
}

fn import(ledger: &mut Ledger, session: &str, entries: u64) {
    let session = SessionID::parse(session).unwrap();
    ledger.imports.insert(
        session,
        Import {
            entries,
            done: true,
        },
    );
}

fn promoted(ledger: &mut Ledger) -> &mut Prompt {
    let mut prompts = ledger.prompts.values_mut();
    let found = prompts
        .find(|it| it.receipts.len() == 1 && it.asked.resume && it.withdrawal == Progress::Never);
    found.unwrap()
}

fn withdrawn(ledger: &mut Ledger) -> &mut Prompt {
    let mut prompts = ledger.prompts.values_mut();
    let found = prompts.find(|it| it.withdrawal == Progress::Done);
    found.unwrap()
}

/// Writes every line with this act twice.
fn repeat(folder: &Folder, act: &str) {
    let text = fs::read_to_string(folder.journal()).unwrap();
    let times = |line: &str| if line.contains(act) { 2 } else { 1 };
    let lines = text.lines();
    let lines = lines.flat_map(|line| std::iter::repeat_n(line, times(line)));
    let lines: Vec<_> = lines.collect();
    fs::write(folder.journal(), lines.join("\n") + "\n").unwrap();
}

/// Changes the first line of the journal that contains `act`.
fn journal(folder: &Folder, change: impl Fn(String) -> Vec<String>, act: &str) {
    let text = fs::read_to_string(folder.journal()).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let at = lines.iter().position(|line| line.contains(act)).unwrap();
    let changed = change(lines.remove(at));
    lines.splice(at..at, changed);
    fs::write(folder.journal(), lines.join("\n") + "\n").unwrap();
}
