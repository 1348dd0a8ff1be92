//! Skills that the model loads: the current ones of the turn's Location, if its agent may use them.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Reply, built_in_tools, compact};
use opencode_tools::Tool;
use serde_json::json;

const FILE: &str = ".opencode/skill/greet/SKILL.md";

/// A project with a skill and agents, the built-in tool `skill`, and a session.
async fn open() -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    let rule =
        |name: &str, effect: &str| json!({"action": "skill", "resource": name, "effect": effect});
    let deny = |name: &str| {
        let rules = json!([rule("*", "allow"), rule(name, "deny")]);
        json!({"mode": "primary", "permissions": rules})
    };
    let agents = json!({"shy": deny("greet"), "other": deny("leave")});
    let config = json!({ "agents": agents });
    f.project.write("opencode.json", &config.to_string());
    write(&f, "Say hello.");
    let tools = built_in_tools().into_iter();
    let skill: Vec<(String, Arc<dyn Tool>)> = tools.filter(|(name, _)| name == "skill").collect();
    f.register(skill);
    let session = f.session().await;
    (f, session)
}

fn write(f: &Fixture, body: &str) {
    let head = "---\nname: greet\ndescription: How to greet.\n---\n";
    f.project.write(FILE, &format!("{head}{body}\n"));
}

/// The message that the model receives when this agent loads the skill.
async fn load(f: &Fixture, session: &SessionID, agent: &str, name: &str) -> String {
    f.switch_agent(session, agent).await;
    f.model
        .reply(Reply::calls("c0", "skill", json!({ "name": name })));
    f.model.reply(Reply::says("Done."));
    f.ask(session, "Greet").await;
    let mut messages = compact::messages(&f.model.last_request());
    messages.pop().unwrap()
}

fn loaded(f: &Fixture, body: &str) -> String {
    let file = f.project.path(FILE);
    let directory = file.parent().unwrap().display().to_string();
    format!(
        "tool: c0 = <skill_content name=\"greet\">\n# Skill: greet\n\n{body}\n\n\
         Base directory: {directory}\n\
         A relative path in this skill starts at the base directory. \
         The files named here are a sample, there may be more.\n\n\
         <skill_files>\n</skill_files>\n</skill_content>"
    )
}

fn failed(message: &str) -> String {
    format!("tool: c0 = failed: {message}")
}

#[tokio::test]
async fn an_agent_loads_the_current_text_of_skills_that_it_is_not_denied() {
    let (f, session) = open().await;
    let denied =
        failed("Unable to load skill greet: there is no skill of this name. There are no skills");
    assert_eq!(
        load(&f, &session, "build", "greet").await,
        loaded(&f, "Say hello.")
    );
    write(&f, "Say good day.");
    assert_eq!(
        load(&f, &session, "other", "greet").await,
        loaded(&f, "Say good day.")
    );
    assert_eq!(load(&f, &session, "shy", "greet").await, denied);
    // A missing skill fails with the same message.
    let absent = failed(
        "Unable to load skill absent: there is no skill of this name. The skills are: greet",
    );
    assert_eq!(load(&f, &session, "build", "absent").await, absent);
}
