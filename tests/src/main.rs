//! The program of the kill tests: it is the process that is killed, and it runs long series of kills.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use opencode_tests::folder::Folder;
use opencode_tests::life::{End, Life};
use opencode_tests::load::carry_out;
use opencode_tests::plan::Plan;
use opencode_tests::random::Random;

const USAGE: &str = "usage:
  crash kills [<count>] [--seed <seed>] [--folder <folder>]   kills so often, on many files
  crash again <folder> [<times>]    runs the generation that went wrong once more, so often at most
  crash check <folder>              looks again at what it left";

/// Number of kills if the command line gives none.
const KILLS: u32 = 1000;
/// Number of generations per file.
const GENERATIONS: u32 = 8;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("the machine gives threads");
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &[String]) -> ExitCode {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["load", folder, plan] => {
            let plan: Plan = serde_json::from_str(plan).expect("the plan is JSON");
            carry_out(&Folder::new(Path::new(folder)), &plan).await;
            ExitCode::SUCCESS
        }
        ["kills", options @ ..] => match Options::read(options) {
            Some(options) => options.kill().await,
            None => usage(),
        },
        ["again", folder] => again(Path::new(folder), 1).await,
        ["again", folder, times] => match times.parse() {
            Ok(times) => again(Path::new(folder), times).await,
            Err(_) => usage(),
        },
        ["check", folder] => {
            let mut life = life(Path::new(folder));
            let findings = life.check_again().await.expect("the folder is whole");
            print_findings(Path::new(folder), &findings)
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    print(USAGE);
    ExitCode::from(2)
}

/// The options of a long run.
struct Options {
    kills: u32,
    seed: u64,
    folder: PathBuf,
}

impl Options {
    fn read(words: &[&str]) -> Option<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let mut options = Self {
            kills: KILLS,
            seed: now.as_secs(),
            folder: PathBuf::from("target/crash"),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seed" => options.seed = words.next()?.parse().ok()?,
                "--folder" => options.folder = PathBuf::from(words.next()?),
                count => options.kills = count.parse().ok()?,
            }
        }
        Some(options)
    }

    async fn kill(&self) -> ExitCode {
        print(&format!("{} kills, seed {}", self.kills, self.seed));
        let began = Instant::now();
        let mut killed = 0;
        for number in 0.. {
            let folder = self.folder.join(format!("{}-{number}", self.seed));
            // Removes the folder of an earlier run with the same seed.
            let _ = std::fs::remove_dir_all(&folder);
            let seed = Random::part(self.seed, number).number();
            match self.live(&folder, seed, &mut killed).await {
                Ok(()) => {
                    std::fs::remove_dir_all(&folder).expect("the folder is ours");
                }
                Err(findings) => return print_findings(&folder, &findings),
            }
            let took = began.elapsed().as_secs();
            print(&format!(
                "file {number}: {killed} of {} kills, {took} s",
                self.kills
            ));
            if killed >= self.kills {
                break;
            }
        }
        print(&format!("{killed} kills, nothing lost, nothing done twice"));
        ExitCode::SUCCESS
    }

    /// Runs the generations of one file. Fails with the findings.
    async fn live(&self, folder: &Path, seed: u64, killed: &mut u32) -> Result<(), Vec<String>> {
        let mut life = life(folder);
        for generation in 0..GENERATIONS {
            let plan = Plan::any(seed, generation);
            let (end, findings) = life.generation(&plan).await.expect("the folder is ours");
            if !findings.is_empty() {
                return Err(findings);
            }
            *killed += u32::from(end == End::Killed);
            if *killed >= self.kills {
                break;
            }
        }
        Ok(())
    }
}

async fn again(folder: &Path, times: u32) -> ExitCode {
    let mut life = life(folder);
    for time in 1..=times {
        let (end, findings) = life.again().await.expect("the folder is whole");
        print(&format!("{time} of {times}: {end:?}"));
        if !findings.is_empty() {
            return print_findings(folder, &findings);
        }
    }
    print_findings(folder, &[])
}

fn life(folder: &Path) -> Life {
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let folder = folder.canonicalize().expect("the folder was just made");
    let program = std::env::current_exe().expect("a program knows its file");
    Life::new(&folder, &program).expect("the folder is ours")
}

fn print_findings(folder: &Path, findings: &[String]) -> ExitCode {
    if findings.is_empty() {
        print("nothing lost, nothing done twice");
        return ExitCode::SUCCESS;
    }
    for finding in findings {
        print(&format!("- {finding}"));
    }
    let folder = folder.display();
    print(&format!(
        "{} findings. Everything is in {folder}: plan.json says what ran.\n\
         look again at what it left:   npm run crash -- check {folder}\n\
         run that generation again:    npm run crash -- again {folder} 20",
        findings.len()
    ));
    ExitCode::FAILURE
}

fn print(text: &str) {
    // If the reader has closed the output, further text is not needed.
    let _ = writeln!(stdout(), "{text}");
}
