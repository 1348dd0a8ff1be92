//! The built-in agents, which need no configuration.

use std::path::{Component, Path, PathBuf};

use opencode_schema::agent::AgentMode;
use opencode_schema::permission::PermissionEffect::{self, Allow, Ask, Deny};
use opencode_schema::permission::PermissionRule;
use opencode_schema::reference::ReferenceInfo;

use crate::directory::{PRIVATE_FILES, PUBLIC_FILES};
use crate::environment::Environment;

/// An agent before the configuration is applied.
pub(super) struct Builtin {
    pub id: &'static str,
    pub mode: AgentMode,
    pub hidden: bool,
    pub description: Option<&'static str>,
    pub system: Option<&'static str>,
    /// Its initial rules.
    pub rules: Vec<PermissionRule>,
    /// Number of leading rules in `rules` that all built-in agents share.
    pub common: usize,
}

/// The directories that the rules of built-in agents name.
pub(super) struct Places<'p> {
    pub environment: &'p Environment,
    /// The directory of the Location.
    pub directory: &'p Path,
    pub references: &'p [ReferenceInfo],
}

/// The built-in agents, in order.
pub(super) fn agents(places: &Places<'_>) -> Vec<Builtin> {
    let common = common(places);
    let agent = |id, mode, system, own: Vec<PermissionRule>| Builtin {
        id,
        mode,
        hidden: false,
        description: None,
        system,
        common: common.len(),
        rules: common.iter().cloned().chain(own).collect(),
    };
    let described = |description, agent| Builtin {
        description: Some(description),
        ..agent
    };
    let hidden = |agent| Builtin {
        hidden: true,
        ..agent
    };
    vec![
        described(
            "Does the work: reads, changes and runs what the task needs.",
            agent(
                "build",
                AgentMode::Primary,
                Some(include_str!("prompts/build.md")),
                vec![rule("question", "*", Allow)],
            ),
        ),
        described(
            "Plans without changing anything but plans.",
            agent("plan", AgentMode::Primary, None, plan(places)),
        ),
        described(
            "Researches questions and works on tasks of several steps.",
            agent(
                "general",
                AgentMode::Subagent,
                None,
                vec![rule("todowrite", "*", Deny)],
            ),
        ),
        described(
            "Searches code without changing anything, and reports where things are.",
            agent(
                "explore",
                AgentMode::Subagent,
                Some(include_str!("prompts/explore.md")),
                explore(places),
            ),
        ),
        hidden(agent(
            "compaction",
            AgentMode::Primary,
            None,
            vec![rule("*", "*", Deny)],
        )),
        hidden(agent(
            "title",
            AgentMode::Primary,
            Some(include_str!("prompts/title.md")),
            vec![rule("*", "*", Deny)],
        )),
    ]
}

fn common(places: &Places<'_>) -> Vec<PermissionRule> {
    let mut rules = vec![rule("*", "*", Allow)];
    rules.extend(outside(places));
    rules.push(rule("question", "*", Deny));
    rules.extend(reading());
    rules
}

/// Rules for reading: the user is asked about files that may contain secrets.
fn reading() -> impl Iterator<Item = PermissionRule> {
    let private = PRIVATE_FILES.map(|pattern| rule("read", pattern, Ask));
    let public = PUBLIC_FILES.map(|pattern| rule("read", pattern, Allow));
    let all = [rule("read", "*", Allow)].into_iter();
    all.chain(private).chain(public)
}

/// Rules for directories outside the Location. The user is asked about them. Exceptions are the directories that the
/// runtime itself writes and the references, which the configuration makes readable.
fn outside(places: &Places<'_>) -> Vec<PermissionRule> {
    let environment = places.environment;
    let mut rules = vec![rule("external_directory", "*", Ask)];
    let own = [
        environment.data.join("tool-output"),
        environment.temporary().join("opencode"),
    ];
    let references = places.references.iter().map(|it| PathBuf::from(&it.path));
    rules.extend(
        own.into_iter()
            .chain(references)
            .map(|directory| rule("external_directory", &below(&directory, "*"), Allow)),
    );
    rules
}

fn plan(places: &Places<'_>) -> Vec<PermissionRule> {
    let plans = places.environment.data.join("plans");
    let from_here = relative(places.directory, &plans);
    vec![
        rule("question", "*", Allow),
        rule("external_directory", &below(&plans, "*"), Allow),
        rule("edit", "*", Deny),
        rule("edit", ".opencode/plans/*.md", Allow),
        rule("edit", &below(&from_here, "*.md"), Allow),
    ]
}

fn explore(places: &Places<'_>) -> Vec<PermissionRule> {
    let mut rules = vec![rule("*", "*", Deny)];
    let searching = ["grep", "glob", "webfetch", "websearch"];
    rules.extend(searching.map(|action| rule(action, "*", Allow)));
    rules.extend(reading());
    rules.extend(outside(places));
    rules
}

fn rule(action: &str, resource: &str, effect: PermissionEffect) -> PermissionRule {
    PermissionRule {
        action: action.to_owned(),
        resource: resource.to_owned(),
        effect,
    }
}

fn below(directory: &Path, pattern: &str) -> String {
    directory.join(pattern).display().to_string()
}

/// The relative path from one absolute directory to another. Returns `to` if they have no common root.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    if common == 0 {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_between_directories() {
        for (from, to, expected) in [
            ("/a/b", "/a/b/c", "c"),
            ("/a/b", "/a/c/d", "../c/d"),
            ("/", "/a", "a"),
            ("/a", "/b", "../b"),
            ("/a/b", "relative", "relative"),
        ] {
            assert_eq!(relative(from.as_ref(), to.as_ref()), Path::new(expected));
        }
    }
}
