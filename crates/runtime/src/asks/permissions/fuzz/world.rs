//! Random disks and random rules.

use std::fs;
use std::os::unix::fs::symlink;

use opencode_location::directory::{TargetKind, resolve};
use opencode_schema::permission::PermissionEffect::{Allow, Ask, Deny};
use opencode_schema::permission::PermissionRule;
use opencode_testkit::TempProject;

use super::model::{Matched, Needs, Used};

/// Numbers that look random and are the same each time.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.next(count) == 0
    }

    pub(super) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())].clone()
    }

    pub(super) fn rules(&mut self, world: &World, most: usize) -> Vec<PermissionRule> {
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
pub(super) const ACTIONS: [&str; 11] = [
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
pub(super) struct World {
    pub(super) project: TempProject,
    pub(super) links: Vec<(String, String)>,
    pub(super) patterns: Vec<String>,
    pub(super) matched: Matched,
    /// The targets of calls, by their kinds.
    pub(super) files: Vec<Used>,
    pub(super) outside: Vec<Used>,
}

impl World {
    pub(super) fn new(random: &mut Random) -> Self {
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
            "opencode.json",
            "*/opencode.json",
            "*.json",
            "?*",
            "rm *",
            "ls",
        ];
        let mut world = Self {
            patterns: patterns.map(absolute).into(),
            matched: Matched::default(),
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
            ".ENV",
            "opencode.json",
            "docs/opencode.json",
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
                world.outside.push(Used {
                    needs: random.of(&[Needs::Any, Needs::Any, Needs::Any, Needs::Given]),
                    others: target.other_external_directories,
                    name,
                });
            }
            world.files.push(Used {
                needs: if target.resource.ends_with("opencode.json") {
                    Needs::Naming("opencode.json")
                } else {
                    Needs::Any
                },
                name: target.resource,
                others: target.other_names,
            });
        }
        world
    }
}
