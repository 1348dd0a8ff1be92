//! Compares the fail points in the documentation with those in the code.

use opencode_tests::point::{EVENTS, SINGLE, STAGES};

const DOCUMENT: &str = include_str!("../../docs/reliability.md");

#[test]
fn every_fail_point_is_documented() {
    let section = DOCUMENT
        .split("\n## ")
        .find(|it| it.starts_with("Fail points\n"));
    let section = section.unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let points: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let stages = STAGES.map(|stage| format!("{stage}:<event>"));
    let expected: Vec<_> = SINGLE
        .into_iter()
        .chain(stages.iter().map(String::as_str))
        .collect();
    assert_eq!(points, expected);

    let events = section
        .lines()
        .find_map(|line| line.strip_prefix("Events: "))
        .unwrap();
    let events: Vec<_> = events.split('`').skip(1).step_by(2).collect();
    assert_eq!(events, EVENTS);
}
