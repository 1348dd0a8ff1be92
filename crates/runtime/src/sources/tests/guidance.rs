//! All sources other than instructions: the date, the agent's skills, references, the model, and
//! registered contributions.

use opencode_context::{Observation, Registration, Source};

use super::*;

/// One day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

const CHANGED: &str =
    "The available skills have changed; this list takes the place of the one before.\n\n";
const REVOKED: &str = "Skills are not available any more; do not load one that was listed.";

fn skill(world: &World, name: &str, description: &str) {
    let file = format!(".opencode/skills/{name}/SKILL.md");
    let head = format!("---\nname: {name}\n{description}---\nThe body of {name}.");
    world.write(&file, head);
}

/// Returns the list of these skills. Each description equals the name.
fn skills(names: &[&str]) -> String {
    let introduction = NO_SKILLS.lines().next().unwrap();
    let each = names.iter().map(|name| {
        format!("  <skill>\n    <name>{name}</name>\n    <description>{name}</description>\n  </skill>\n")
    });
    let list: String = each.collect();
    format!("{introduction}\n<available_skills>\n{list}</available_skills>")
}

#[tokio::test]
async fn a_new_day_is_reported_once() {
    let mut world = World::new(json!({})).await;
    world.update().await;
    world.clock.advance(DAY);
    assert_eq!(world.update().await, "Today is now Sat Nov 21 2026.");
    assert_eq!(world.update().await, "");
}

#[tokio::test]
async fn another_model_is_reported_and_another_variant_is_not() {
    let mut world = World::new(json!({})).await;
    world.update().await;
    world.model.variant = Some("high".to_owned());
    assert_eq!(world.update().await, "");
    world.model = model("m2");
    let now = "You are now the model m2 of the provider mock.";
    assert_eq!(world.update().await, now);
    assert_eq!(world.update().await, "");
}

#[tokio::test]
async fn skills_with_a_description_are_listed() {
    let mut world = World::new(json!({})).await;
    assert_eq!(world.update().await, always(""));
    skill(&world, "b", "description: b\n");
    skill(&world, "a", "description: a\n");
    skill(&world, "silent", "");
    assert_eq!(
        world.update().await,
        format!("{CHANGED}{}", skills(&["a", "b"]))
    );
    assert_eq!(world.update().await, "");
    world.remove(".opencode/skills/b/SKILL.md");
    assert_eq!(world.update().await, format!("{CHANGED}{}", skills(&["a"])));
    world.remove(".opencode/skills/a/SKILL.md");
    assert_eq!(world.update().await, format!("{CHANGED}{NO_SKILLS}"));
}

#[tokio::test]
async fn skills_are_filtered_by_the_selected_agent() {
    let rules = |rules: Value| json!({ "permissions": rules });
    let deny =
        |resource: &str| json!({ "action": "skill", "resource": resource, "effect": "deny" });
    let allow = json!({ "action": "skill", "resource": "a", "effect": "allow" });
    let mut world = World::new(json!({ "agents": {
        "no-b": rules(json!([deny("b")])),
        "only-a": rules(json!([deny("*"), allow])),
        "none": rules(json!([deny("*")])),
    } }))
    .await;
    skill(&world, "a", "description: a\n");
    skill(&world, "b", "description: b\n");
    let update = always("").replace(NO_SKILLS, &skills(&["a", "b"]));
    assert_eq!(world.update().await, update);
    for (agent, update) in [
        ("no-b", format!("{CHANGED}{}", skills(&["a"]))),
        ("only-a", String::new()),
        ("none", REVOKED.to_owned()),
        ("build", skills(&["a", "b"])),
        ("nobody", REVOKED.to_owned()),
        ("none", String::new()),
        ("only-a", skills(&["a"])),
    ] {
        world.agent = agent.to_owned();
        assert_eq!(world.update().await, update, "{agent}");
    }
}

#[tokio::test]
async fn references_with_a_description_are_listed() {
    let reference = |name: &str| json!({ (name): { "path": "/x", "description": "for tests" } });
    let update = |name: &str| {
        format!(
            "Besides the workspace there are other directories. Look into one when what it holds matters to the task.\n<available_references>\n  <reference>\n    <name>{name}</name>\n    <path>/x</path>\n    <description>for tests</description>\n  </reference>\n</available_references>"
        )
    };
    let silent = json!({ "references": { "silent": "/x" } });
    let mut world = World::new(silent.clone()).await;
    assert_eq!(world.update().await, always(""));
    world
        .configure(json!({ "references": reference("a") }))
        .await;
    assert_eq!(world.update().await, update("a"));
    world
        .configure(json!({ "references": reference("b") }))
        .await;
    let changed =
        "The other directories have changed; this list takes the place of the one before.\n\n";
    assert_eq!(world.update().await, format!("{changed}{}", update("b")));
    world.configure(silent).await;
    assert_eq!(
        world.update().await,
        "There are no other directories any more; do not use those that were listed."
    );
}

#[tokio::test]
async fn contributions_are_sorted_by_key_among_those_of_the_runtime() {
    let mut world = World::new(json!({})).await;
    world.write("AGENTS.md", "rules");
    let _late = contribute(&world, "zoo/late", "late");
    let _middle = contribute(&world, "coral/reef", "middle");
    let early = contribute(&world, "acme/early", "early");
    let files = "General instructions (~/project/AGENTS.md):\nrules\n\nlate\n\n";
    let expected = format!("early\n\nmiddle\n\n{}", always(files));
    assert_eq!(world.update().await, expected);
    drop(early);
    assert_eq!(world.update().await, "no early");
}

fn contribute(world: &World, key: &str, text: &str) -> Registration {
    let source = SystemContext::make(Fixed {
        key: key.to_owned(),
        text: text.to_owned(),
    });
    let (directory, registries) = (world.project.directory(), &world.sources.registries);
    registries
        .register(directory, key, source.unwrap())
        .unwrap()
}

/// A contributed text.
struct Fixed {
    key: String,
    text: String,
}

impl Source for Fixed {
    fn key(&self) -> &str {
        &self.key
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let text = Observation::Present(self.text.clone().into());
        futures::future::ready(text).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        value.is_string()
    }

    fn baseline(&self, value: &Value) -> String {
        value.as_str().unwrap().to_owned()
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        self.baseline(current)
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        Some(format!("no {}", self.text))
    }
}
