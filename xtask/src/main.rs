//! Tasks of this repository, run as `cargo xtask <task>`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task prints for the developer who runs it"
)]

mod codegen;
mod declared;
mod promise;
mod reference;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask codegen [--check]

  codegen           writes everything that is generated from the contract and from the declarations of settings
  codegen --check   lists the files that are not as they would be written, and writes nothing";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tasks are a folder of the repository");
    match arguments[..] {
        ["codegen"] => report(codegen::write(root), "written"),
        ["codegen", "--check"] => match codegen::stale(root) {
            Ok(stale) if !stale.is_empty() => {
                list("stale", &stale);
                eprintln!("run `cargo xtask codegen`");
                ExitCode::FAILURE
            }
            checked => report(checked, "stale"),
        },
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn report(files: Result<Vec<String>, codegen::Error>, what: &str) -> ExitCode {
    match files {
        Ok(files) => {
            list(what, &files);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn list(what: &str, files: &[String]) {
    for file in files {
        println!("{what}: {file}");
    }
}
