#![allow(clippy::unwrap_used, missing_docs, clippy::print_stdout)]
use opencode_snapshots::{SnapshotOptions, Snapshots};
use std::{
    fs,
    time::{Duration, Instant},
};
#[tokio::main]
async fn main() {
    let base = std::path::PathBuf::from(std::env::args().nth(1).unwrap()).join(format!("measure-{}", std::process::id()));
    let root = base.join("work");
    for f in ["objects", "refs", "info"] {
        fs::create_dir_all(root.join(".git").join(f)).unwrap();
    }
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for n in 0..50_000 {
        let d = root.join(format!("d{}/i{}", n % 100, n / 100 % 25));
        if n < 2500 {
            fs::create_dir_all(&d).unwrap();
        }
        fs::write(
            d.join(format!("f{n}.ts")),
            format!("export const x{n} = {n};\n").repeat(20),
        )
        .unwrap();
    }
    if std::env::args().any(|a| a == "git") {
        for a in [
            &["init", "-q"][..],
            &["add", "-A"],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-qm",
                "x",
            ],
            &["gc", "-q"],
        ] {
            std::process::Command::new("git")
                .args(a)
                .current_dir(&root)
                .status()
                .unwrap();
        }
    }
    let make = || {
        Snapshots::new(SnapshotOptions {
            store: base.join("store"),
            worktree: root.canonicalize().unwrap(),
            scope: "".into(),
            private: vec![],
        })
    };
    let s = make();
    let t = Instant::now();
    s.capture().await.unwrap();
    println!("first {:?}", t.elapsed());
    for (name, wait, write) in [
        ("second", 0, false),
        ("third", 0, false),
        ("idle 6s", 6, false),
        ("after", 0, false),
        ("write", 6, true),
        ("write", 7, true),
        ("write", 1, true),
        ("same", 1, false),
        ("same", 0, false),
        ("write", 0, true),
    ] {
        tokio::time::sleep(Duration::from_secs(wait)).await;
        let before = s.capture().await.unwrap().tree;
        tokio::time::sleep(Duration::from_secs(wait)).await;
        if write {
            fs::write(root.join("d5/i0/f5.ts"), format!("{:?}", Instant::now())).unwrap();
        }
        let t = Instant::now();
        let after = s.capture().await.unwrap().tree;
        let c = t.elapsed();
        let files = s.files(&before, &after).await.unwrap();
        println!(
            "{name} wait {wait}: capture {c:?} all {:?} files {}",
            t.elapsed(),
            files.len()
        );
    }
    drop(s);
    let s = make();
    let t = Instant::now();
    s.capture().await.unwrap();
    println!("new process {:?}", t.elapsed());
    println!(
        "{}",
        fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .filter(|l| l.starts_with("VmHWM")
                || l.starts_with("VmRSS")
                || l.starts_with("Threads"))
            .collect::<Vec<_>>()
            .join(" ")
    );
    fs::remove_dir_all(base).unwrap();
}
