//! Random rules, links, agents, ceilings, approvals, tasks and changes while a request waits. No decision of the host is
//! looser than that of the slow model.

mod model;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use opencode_location::config::HostConfiguration;
use opencode_location::directory::{TargetKind, resolve};
use opencode_location::location::{Location, Locations, Trust};
use opencode_schema::id::{PermissionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::permission::PermissionEffect::{self, Allow, Ask, Deny};
use opencode_schema::permission::{PermissionRequest, PermissionRule, SavedPermission};
use opencode_testkit::TempProject;
use serde_json::{Value, json};

use self::model::{Used, Written};
use super::request::{Pending, RuleScope};
use super::rules::limits;

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.next(count) == 0
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())].clone()
    }

    fn rules(&mut self, world: &World, most: usize) -> Vec<PermissionRule> {
        let count = self.next(most + 1);
        let rule = |_| PermissionRule {
            action: self.of(&ACTIONS).to_owned(),
            resource: self.of(&world.patterns),
            effect: self.of(&[Allow, Ask, Deny]),
        };
        (0..count).map(rule).collect()
    }
}

/// Actions in rules: those of tools that show or change something, names of tools, and patterns.
const ACTIONS: [&str; 11] = [
    "*",
    "read",
    "edit",
    "write",
    "apply_patch",
    "glob",
    "grep",
    "bash",
    "external_directory",
    "re*",
    "e*",
];

/// A disk with links.
struct World {
    project: TempProject,
    links: Vec<(String, String)>,
    patterns: Vec<String>,
    /// What calls use, by its kind.
    files: Vec<Used>,
    outside: Vec<Used>,
}

impl World {
    fn new(random: &mut Random) -> Self {
        let project = TempProject::new();
        let top = project.root().to_string_lossy().into_owned();
        let absolute = |text: &str| text.replace('@', &top);
        for folder in [
            "@/project/src",
            "@/project/secrets",
            "@/outside",
            "@/other",
            "@/home",
        ] {
            fs::create_dir_all(absolute(folder)).unwrap();
        }
        let mut links = Vec::new();
        for (link, targets) in [
            ("docs", ["secrets", "src", "@/outside"]),
            ("alias", ["docs", "secrets", "@/other"]),
            ("src/in", ["secrets", "@/other", "secrets"]),
            ("@/ide", ["@/outside", "@/other", "@/outside"]),
            ("@/home/ide", ["@/ide", "@/outside", "@/ide"]),
        ] {
            let (link, target) = (absolute(link), absolute(random.of(&targets)));
            if random.one_in(4) {
                continue;
            }
            let at = |path: &str| project.path("").join(path);
            // A link whose target is missing leads nowhere.
            if at(&target).exists() {
                symlink(at(&target), at(&link)).unwrap();
                links.push((link, target));
            }
        }
        let patterns = [
            "*",
            "src/**",
            "src/*",
            "secrets/**",
            "secrets/key",
            "docs/**",
            "docs/key",
            "alias/*",
            "src/in/**",
            "@/project/docs/**",
            "@/project/secrets/*",
            "@/ide/**",
            "@/ide/*",
            "@/outside/**",
            "@/other/*",
            "~/ide/**",
            "*.env",
            "?*",
            "rm *",
            "ls",
        ];
        let mut world = Self {
            patterns: patterns.map(absolute).into(),
            files: Vec::new(),
            outside: Vec::new(),
            project,
            links,
        };
        for path in [
            "src/key",
            "secrets/key",
            "docs/key",
            "alias/key",
            "src/in/key",
            ".env",
            "@/ide/key",
            "@/home/ide/key",
            "@/outside/key",
            "@/project/docs/key",
        ] {
            let root = world.project.path("");
            let Ok(target) = resolve(&root, &absolute(path), TargetKind::File) else {
                continue;
            };
            if let Some(name) = target.external_directory {
                let others = target.other_external_directories;
                world.outside.push(Used { name, others });
            }
            let (name, others) = (target.resource, target.other_names);
            world.files.push(Used { name, others });
        }
        world
    }

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
            restrictions: vec![
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
    ) -> State {
        let all: Arc<[_]> = [session, limits].concat().into();
        let mut scope = RuleScope::new(Arc::clone(self.location), agent.to_owned(), all);
        let resolved = self.location.agents.resolved_rules(agent, &scope.session);
        scope.resolved = resolved.map(Into::into);
        let defaults = &self.defaults[agent];
        State {
            scope,
            written: self
                .configured
                .written(self.world, agent, defaults, session),
        }
    }
}

fn request(action: &str, used: &[&Used], scope: RuleScope) -> Pending {
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
    for used in used {
        let names = others.entry(used.name.clone()).or_default();
        names.extend(used.others.iter().cloned());
    }
    let place = LocationRef {
        directory: scope.location.directory.clone(),
        workspace_id: None,
    };
    Pending::new(request, others, place, scope)
}

/// Numbers of worlds, and of cases in each.
const WORLDS: usize = 50;
const CASES: usize = 2_000;

#[tokio::test]
async fn no_decision_is_looser_than_that_of_the_slow_model() {
    let mut random = Random(1);
    let mut found = BTreeMap::<String, usize>::new();
    let (mut named, mut equal) = (0, 0);
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
        let agents = ["build", "mine", "explore"];
        let defaults = agents.map(|it| (it, plain.agents.get(it).unwrap().permissions.clone()));
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
        for case in 0..CASES {
            let agent = random.of(&agents);
            let [session, giver] = [(); 2].map(|()| random.rules(&world, 3));
            // The session may be that of a task, and its rules and configuration may change while the request waits.
            let giver = random
                .one_in(3)
                .then(|| moments[0].state("build", &giver, &[]));
            let limits = giver.as_ref().map_or_else(Vec::new, |it| {
                let unresolved = RuleScope {
                    resolved: None,
                    ..it.scope.clone()
                };
                limits(&unresolved.rules())
            });
            let before = moments[0].state(agent, &session, &limits);
            let now = if random.one_in(2) {
                let changed = random.rules(&world, 3);
                moments[random.next(2)].state(agent, &changed, &limits)
            } else {
                moments[0].state(agent, &session, &limits)
            };
            let approvals: Vec<_> = (0..random.next(2))
                .map(|_| (random.of(&ACTIONS).to_owned(), random.of(&world.patterns)))
                .collect();
            let saved: Vec<_> = approvals
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
            });
            let action = random.of(&["read", "edit", "glob", "bash", "external_directory"]);
            let candidates = match action {
                "read" | "edit" => &world.files[..],
                "external_directory" if !world.outside.is_empty() => &world.outside,
                _ => &commands,
            };
            let count = random.next(3);
            let used: Vec<_> = (0..count)
                .map(|_| &candidates[random.next(candidates.len())])
                .collect();
            let pending = request(action, &used, before.scope.clone());
            let decided = pending.decide(&now.scope, &saved);
            // No resource is every resource.
            let used: Vec<Used> = match count {
                0 => candidates.iter().map(clone).collect(),
                _ => used.into_iter().map(clone).collect(),
            };
            let giver = giver.as_ref().map(|it| &it.written);
            let by = |state: &State| state.written.decide(action, &used, &approvals, giver);
            let loosest = by(&before).stricter(by(&now));
            assert_eq!(
                decided.stricter(loosest),
                decided,
                "world {number} case {case}: {agent} {action} {:?} {:?}\n{:?}",
                pending.request.resources,
                world.links,
                now.written.own,
            );
            named += usize::from(count > 0);
            equal += usize::from(count > 0 && decided == loosest);
            *found.entry(format!("{action} {decided:?}")).or_default() += 1;
        }
    }
    // The host is not strict beyond need either: a link in a rule that allows is all that the model judges more loosely.
    assert!(equal > named * 9 / 10, "{equal} of {named}");
    for effect in [Allow, Ask, Deny] {
        for action in ["read", "edit", "glob", "bash", "external_directory"] {
            let count = found.get(&format!("{action} {effect:?}"));
            assert!(count.is_some_and(|it| *it > 500), "{found:?}");
        }
    }
}

fn clone(used: &Used) -> Used {
    Used {
        name: used.name.clone(),
        others: used.others.clone(),
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
        restrictions: Vec::new(),
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
        }];
        let decided: PermissionEffect = written(rules.clone()).decide("read", &used, &[], None);
        assert_eq!(decided, expected, "{rules:?}");
    }
}
