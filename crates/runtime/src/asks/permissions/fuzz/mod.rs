//! Random rules, links, agents, ceilings, approvals, tasks and changes while a request waits. No decision of the host is
//! looser than that of the slow model.

mod model;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_location::config::HostConfiguration;
use opencode_location::location::{Location, Locations, Trust};
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::PermissionEffect::{self, Allow, Ask, Deny};
use opencode_schema::permission::{PermissionRequest, PermissionRule, SavedPermission};
use opencode_tools::ActionRules;
use serde_json::{Value, json};

use self::model::{Matched, Needs, Used, Written};
use self::world::{ACTIONS, Random, World};
use super::many::RulesForMany;
use super::protected::Protected;
use super::request::{Pending, RuleScope};
use super::rules::limits;

/// Actions of calls.
const CALLED: [&str; 5] = ["read", "edit", "glob", "bash", "external_directory"];

const AGENTS: [&str; 3] = ["build", "mine", "explore"];

impl World {
    async fn location(&self, written: &Configured) -> Arc<Location> {
        let project = document(&written.project, &written.project_agent);
        self.project.write("opencode.json", &project.to_string());
        let host = document(&written.host, &written.host_agent);
        let host = HostConfiguration {
            ceiling: written.ceiling.clone(),
            ..HostConfiguration::from(Some(host))
        };
        let trust = if written.is_trusted {
            Trust::Always
        } else {
            Trust::Never
        };
        let environment = Arc::new(self.project.environment());
        let locations = Locations::new(environment, host).with_trust(trust);
        locations.get(&self.project.directory()).await.unwrap()
    }
}

fn document(rules: &[PermissionRule], agent: &[PermissionRule]) -> Value {
    json!({"permissions": rules, "agents": {"build": {"permissions": agent}, "mine": {"system": "x"}}})
}

/// The rules of one state of the configuration.
#[derive(Clone)]
struct Configured {
    project: Vec<PermissionRule>,
    project_agent: Vec<PermissionRule>,
    host: Vec<PermissionRule>,
    host_agent: Vec<PermissionRule>,
    ceiling: Vec<PermissionRule>,
    is_trusted: bool,
}

impl Configured {
    fn any(random: &mut Random, world: &World) -> Self {
        Self {
            project: random.rules(world, 3),
            project_agent: random.rules(world, 2),
            host: random.rules(world, 2),
            host_agent: random.rules(world, 2),
            ceiling: random.rules(world, 2),
            is_trusted: random.one_in(2),
        }
    }

    /// Returns the lists for an agent as the model reads them. `defaults` are the rules of the agent without any others.
    fn written(
        &self,
        world: &World,
        agent: &str,
        defaults: &[PermissionRule],
        session: &[PermissionRule],
        imported: &[PermissionRule],
    ) -> Written {
        let of_agent = |rules: &[PermissionRule]| match agent {
            "build" => rules.to_vec(),
            _ => Vec::new(),
        };
        let project =
            |rules: &[PermissionRule], is_trusted: bool| match is_trusted == self.is_trusted {
                true => rules.to_vec(),
                false => Vec::new(),
            };
        let own_of_project = of_agent(&self.project_agent);
        let own_of_host = of_agent(&self.host_agent);
        Written {
            own: [
                defaults.to_vec(),
                project(&self.project, true),
                self.host.clone(),
                project(&own_of_project, true),
                own_of_host.clone(),
                session.to_vec(),
            ]
            .concat(),
            given: [self.host.clone(), own_of_host.clone()].concat(),
            restrictions: vec![
                (imported.to_vec(), false),
                ([self.host.clone(), own_of_host].concat(), false),
                (
                    [
                        project(&self.project, false),
                        project(&own_of_project, false),
                    ]
                    .concat(),
                    false,
                ),
                (self.ceiling.clone(), true),
            ],
            links: world.links.clone(),
            matched: Matched::clone(&world.matched),
            root: world.project.directory(),
            home: world
                .project
                .root()
                .join("home")
                .to_string_lossy()
                .into_owned(),
        }
    }
}

/// The rules of a session at one moment, in both forms.
struct State {
    scope: RuleScope,
    written: Written,
}

struct Moment<'a> {
    world: &'a World,
    location: &'a Arc<Location>,
    configured: &'a Configured,
    defaults: &'a BTreeMap<&'static str, Vec<PermissionRule>>,
}

impl Moment<'_> {
    fn state(
        &self,
        agent: &'static str,
        session: &[PermissionRule],
        limits: &[PermissionRule],
        imported: &[PermissionRule],
    ) -> State {
        let begin = [PermissionRule::RESTRICTION];
        let all: Arc<[_]> = [session, limits, &begin, imported].concat().into();
        let mut scope = RuleScope::new(Arc::clone(self.location), agent.to_owned(), all);
        let resolved = self.location.agents.resolved_rules(agent, &scope.session);
        scope.resolved = resolved.map(Into::into);
        let defaults = &self.defaults[agent];
        State {
            scope,
            written: self
                .configured
                .written(self.world, agent, defaults, session, imported),
        }
    }
}

fn request(action: &str, used: &[Used], scope: RuleScope) -> Pending {
    let request = PermissionRequest {
        id: PermissionID::parse("per_1").unwrap(),
        session_id: SessionID::parse("ses_1").unwrap(),
        action: action.to_owned(),
        resources: used.iter().map(|it| it.name.clone()).collect(),
        save: None,
        metadata: None,
        source: None,
    };
    let mut others = BTreeMap::<String, Vec<String>>::new();
    let mut protected = Protected::default();
    for used in used {
        let names = others.entry(used.name.clone()).or_default();
        names.extend(used.others.iter().cloned());
        let name = used.name.clone();
        match used.needs {
            Needs::Any => {}
            Needs::Given => drop(protected.given_only.insert(name)),
            Needs::Naming(part) => drop(protected.guarded.insert(name, part.to_owned())),
        }
    }
    let place = LocationRef {
        directory: scope.location.directory.clone(),
        workspace_id: None,
    };
    Pending {
        protected,
        ..Pending::new(request, others, place, scope)
    }
}

/// Numbers of worlds, of sessions in each, and of requests in each session.
const WORLDS: usize = 50;
const SESSIONS: usize = 200;
const REQUESTS: usize = 10;

#[tokio::test]
async fn no_decision_is_looser_than_that_of_the_slow_model() {
    let mut random = Random(1);
    let mut tally = Tally::default();
    for number in 0..WORLDS {
        let world = World::new(&mut random);
        let nothing = Configured {
            project: Vec::new(),
            project_agent: Vec::new(),
            host: Vec::new(),
            host_agent: Vec::new(),
            ceiling: Vec::new(),
            is_trusted: true,
        };
        let plain = world.location(&nothing).await;
        let defaults = AGENTS.map(|it| (it, plain.agents.get(it).unwrap().permissions.clone()));
        let defaults = BTreeMap::from(defaults);
        let configured = [(); 2].map(|()| Configured::any(&mut random, &world));
        let mut locations = Vec::new();
        for configured in &configured {
            locations.push(world.location(configured).await);
        }
        let moments = [0, 1].map(|at| Moment {
            world: &world,
            location: &locations[at],
            configured: &configured[at],
            defaults: &defaults,
        });
        for session in 0..SESSIONS {
            let case = Case::any(&mut random, &world, &moments);
            for request in 0..REQUESTS {
                let place = format!("world {number} session {session} request {request}");
                tally.add(&case.judge(&mut random, &world, &place));
            }
        }
    }
    tally.check();
}

/// A session, which may be that of a task, in two moments: when a request begins, and when it is decided.
struct Case {
    giver: Option<State>,
    before: State,
    now: State,
    approvals: Vec<(String, String)>,
}

impl Case {
    fn any(random: &mut Random, world: &World, moments: &[Moment<'_>; 2]) -> Self {
        let agent = random.of(&AGENTS);
        let [session, giver] = [(); 2].map(|()| random.rules(world, 3));
        let imported = if random.one_in(3) {
            random.rules(world, 2)
        } else {
            Vec::new()
        };
        let giver = random
            .one_in(3)
            .then(|| moments[0].state("build", &giver, &[], &imported));
        let limits = giver.as_ref().map_or_else(Vec::new, |it| {
            let unresolved = RuleScope {
                resolved: None,
                ..it.scope.clone()
            };
            limits(&unresolved.rules())
        });
        let before = moments[0].state(agent, &session, &limits, &imported);
        // Its rules and the configuration may change while the request waits.
        let now = if random.one_in(2) {
            let changed = random.rules(world, 3);
            moments[random.next(2)].state(agent, &changed, &limits, &imported)
        } else {
            moments[0].state(agent, &session, &limits, &imported)
        };
        let approvals = (0..random.next(2))
            .map(|_| (random.of(&ACTIONS).to_owned(), random.of(&world.patterns)))
            .collect();
        Self {
            giver,
            before,
            now,
            approvals,
        }
    }

    /// Compares the decisions of the host about one request with that of the model.
    fn judge(&self, random: &mut Random, world: &World, place: &str) -> Judged {
        let saved: Vec<_> = self
            .approvals
            .iter()
            .map(|(action, resource)| SavedPermission {
                id: "psv_1".to_owned(),
                project_id: "p".to_owned(),
                action: action.clone(),
                resource: resource.clone(),
            })
            .collect();
        let commands = ["ls", "rm x"].map(|name| Used {
            name: name.to_owned(),
            others: Vec::new(),
            needs: Needs::Any,
        });
        let action = random.of(&CALLED);
        let candidates = match action {
            "read" | "edit" => &world.files[..],
            "external_directory" if !world.outside.is_empty() => &world.outside,
            _ => &commands,
        };
        let count = random.next(3);
        let mut used: Vec<Used> = (0..count).map(|_| random.of(candidates)).collect();
        if action != "edit" {
            // A file that decides may be read.
            let named = |it: &&mut Used| matches!(it.needs, Needs::Naming(_));
            used.iter_mut()
                .filter(named)
                .for_each(|it| it.needs = Needs::Any);
        }
        let pending = request(action, &used, self.before.scope.clone());
        let decided = pending.decide(&self.now.scope, &saved);
        // No resource is every resource.
        if count == 0 {
            used = candidates.to_vec();
            used.iter_mut().for_each(|it| it.needs = Needs::Any);
        }
        let giver = self.giver.as_ref().map(|it| &it.written);
        let by = |state: &State, used: &[Used]| {
            state.written.decide(action, used, &self.approvals, giver)
        };
        let loosest = |used: &[Used]| by(&self.before, used).stricter(by(&self.now, used));
        let check = |decided: PermissionEffect, loosest: PermissionEffect| {
            assert_eq!(
                decided.stricter(loosest),
                decided,
                "{place}: {} {action} {:?} {:?}\n{:?}",
                self.now.scope.agent,
                pending.request.resources,
                world.links,
                self.now.written.own,
            );
        };
        check(decided, loosest(&used));
        // A search decides about each file.
        let many = RulesForMany::new(pending.clone(), self.now.scope.clone(), saved);
        for used in used.iter().filter(|it| it.needs == Needs::Any) {
            let alone = [used.clone()];
            check(many.effect(&used.name, &used.others), loosest(&alone));
        }
        Judged {
            action,
            decided,
            is_equal: (count > 0).then(|| decided == loosest(&used)),
        }
    }
}

/// The decision about one request.
struct Judged {
    action: &'static str,
    decided: PermissionEffect,
    /// True if the model decides alike. Absent without a resource.
    is_equal: Option<bool>,
}

#[derive(Default)]
struct Tally {
    found: BTreeMap<String, usize>,
    named: usize,
    equal: usize,
}

impl Tally {
    fn add(&mut self, judged: &Judged) {
        let key = format!("{} {:?}", judged.action, judged.decided);
        *self.found.entry(key).or_default() += 1;
        self.named += usize::from(judged.is_equal.is_some());
        self.equal += usize::from(judged.is_equal == Some(true));
    }

    /// Fails if the cases decide nothing.
    fn check(&self) {
        // The host is not strict beyond need either: a link in a rule that allows is all that the model judges more loosely.
        let Self {
            found,
            named,
            equal,
        } = self;
        assert!(*equal > named * 9 / 10, "{equal} of {named}");
        for effect in [Allow, Ask, Deny] {
            for action in CALLED {
                let count = found.get(&format!("{action} {effect:?}"));
                assert!(count.is_some_and(|it| *it > 300), "{found:?}");
            }
        }
    }
}

/// The model itself, on cases that are obvious.
#[test]
fn the_slow_model_reads_rules_as_they_are_written() {
    let rule = |resource: &str, effect| PermissionRule {
        action: "read".to_owned(),
        resource: resource.to_owned(),
        effect,
    };
    let written = |own: Vec<PermissionRule>| Written {
        own,
        given: Vec::new(),
        restrictions: Vec::new(),
        matched: Matched::default(),
        links: vec![("docs".to_owned(), "secrets".to_owned())],
        root: "/p".to_owned(),
        home: "/h".to_owned(),
    };
    for (rules, name, others, expected) in [
        (vec![], "a", vec![], Ask),
        (vec![rule("*", Allow)], "a", vec![], Allow),
        (
            vec![rule("*", Allow), rule("docs/**", Deny)],
            "secrets/key",
            vec![],
            Deny,
        ),
        (
            vec![rule("*", Allow), rule("/p/docs/**", Ask)],
            "secrets/key",
            vec![],
            Ask,
        ),
        (
            vec![rule("*", Allow), rule("x/*", Deny)],
            "a",
            vec!["x/a".to_owned()],
            Deny,
        ),
        (
            vec![rule("x/*", Deny), rule("*", Allow)],
            "a",
            vec!["x/a".to_owned()],
            Allow,
        ),
    ] {
        let used = [Used {
            name: name.to_owned(),
            others,
            needs: Needs::Any,
        }];
        let decided: PermissionEffect = written(rules.clone()).decide("read", &used, &[], None);
        assert_eq!(decided, expected, "{rules:?}");
    }
}
