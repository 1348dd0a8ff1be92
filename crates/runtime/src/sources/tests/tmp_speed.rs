use super::*;
#[tokio::test(flavor = "multi_thread")]
async fn speed() {
    let mut world = World::new(json!({"instructions": ["~/../project/rules/*.md"]})).await;
    for f in ["AGENTS.md", "src/AGENTS.md", "rules/a.md", "rules/b.md"] { world.write(f, "x".repeat(8000)); }
    world.nested = vec![world.project.path("src")];
    for i in 0..50 { world.write(&format!(".opencode/skills/s{i}/SKILL.md"), format!("---\nname: s{i}\ndescription: skill {i} does things\n---\nbody {}", "b".repeat(4000))); }
    world.told().await;
    for _ in 0..20 { assert_eq!(world.told().await, ""); }
    let n = 300;
    let t = std::time::Instant::now();
    for _ in 0..n { assert_eq!(world.told().await, ""); }
    println!("SPEED {:?}", t.elapsed() / n);
    let t = std::time::Instant::now();
    for _ in 0..n { world.location.skills.observe().await; }
    println!("SKILLS {:?}", t.elapsed() / n);
    let env = world.project.environment();
    let t = std::time::Instant::now();
    for _ in 0..n { let p = opencode_location::instructions::Place::of(&world.location, &env); opencode_location::instructions::Instructions::observe(&p, opencode_location::instructions::Wanted{configured: world.location.configuration.instructions(), nearby: &world.nested}); }
    println!("FILES {:?}", t.elapsed() / n);

    let turn = Turn { location: &world.location, agent: world.location.agents.get(&world.agent), model: &world.model, nested: &world.nested };
    let t = std::time::Instant::now();
    for _ in 0..n { world.sources.compose(&turn).unwrap(); }
    println!("SPEED compose {:?}", t.elapsed() / n);
    let t = std::time::Instant::now();
    for _ in 0..n { world.sources.compose(&turn).unwrap().observe().await; }
    println!("SPEED compose+observe {:?}", t.elapsed() / n);
    let o = world.observe().await;
    let t = std::time::Instant::now();
    for _ in 0..n { o.reconcile(world.known.as_ref().unwrap()); }
    println!("SPEED reconcile {:?}", t.elapsed() / n);
    let mut d = std::time::Duration::ZERO;
    for key in ["core/date"] { let _ = key; let t = std::time::Instant::now(); for _ in 0..n { use opencode_context::Source; world.sources.date.load().await; } d = t.elapsed()/n; }
    println!("SPEED date {d:?}");
}
