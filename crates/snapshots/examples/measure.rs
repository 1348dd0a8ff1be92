//! Measures captures of a worktree: `measure <worktree> <store>`.
use opencode_snapshots::{SnapshotOptions, Snapshots};
use std::{io::Write, path::PathBuf, time::Instant};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let worktree = arguments.next().ok_or("worktree")?;
    let store = arguments.next().ok_or("store")?;
    let make = || {
        Snapshots::new(SnapshotOptions {
            store: store.clone(),
            worktree: worktree.clone(),
            scope: PathBuf::new(),
            private: Vec::new(),
        })
    };
    let mut out = std::io::stdout();
    let snapshots = make();
    let begun = Instant::now();
    let first = snapshots.capture().await?;
    writeln!(
        out,
        "first {:?} {} skipped {}",
        begun.elapsed(),
        first.tree,
        first.skipped.len()
    )?;
    for _ in 0..3 {
        let begun = Instant::now();
        snapshots.capture().await?;
        writeln!(out, "again {:?}", begun.elapsed())?;
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let mut times = Vec::new();
    for _ in 0..60 {
        let begun = Instant::now();
        snapshots.capture().await?;
        times.push(begun.elapsed());
    }
    times.sort();
    writeln!(
        out,
        "unchanged min {:?} median {:?} p90 {:?}",
        times[0], times[30], times[54]
    )?;
    let mut times = Vec::new();
    for round in 0..20 {
        std::fs::write(worktree.join("changed.txt"), format!("{round}"))?;
        let begun = Instant::now();
        let now = snapshots.capture().await?;
        times.push(begun.elapsed());
        if round == 19 {
            let begun = Instant::now();
            let files = snapshots.files(&first.tree, &now.tree).await?;
            writeln!(out, "files {:?} {:?}", files, begun.elapsed())?;
        }
    }
    times.sort();
    writeln!(out, "one changed median {:?}", times[10])?;
    std::fs::remove_file(worktree.join("changed.txt"))?;
    let begun = Instant::now();
    make().capture().await?;
    writeln!(out, "new process {:?}", begun.elapsed())?;
    let begun = Instant::now();
    let swept = snapshots
        .sweep(std::time::Duration::from_secs(7 * 86400), &[first.tree])
        .await?;
    writeln!(out, "sweep {:?} {:?}", swept, begun.elapsed())?;
    Ok(())
}
