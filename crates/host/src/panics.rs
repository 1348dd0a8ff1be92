//! Panics: a bug of ours is said to be one, and fails the call that met it instead of the process.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, Location};

use futures::FutureExt;
use opencode_protocol::failure::Failure;

/// Reports every panic from now on, on standard error: the version, the place, and where to report
/// the bug. Only this library's panics: each copy of the standard library has a hook of its own.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let report = report(panic.location(), panic.payload());
        // Standard error may be closed, and a panic in here would end the process.
        let _ = writeln!(std::io::stderr().lock(), "{report}");
    }));
}

/// The report of a panic. It has the panic's message only if that stands in the source: a formatted
/// message may hold text of users.
fn report(location: Option<&Location<'_>>, payload: &(dyn Any + Send)) -> String {
    let place = match location {
        Some(location) => format!("{}:{}", shown_file(location.file()), location.line()),
        None => "an unknown place".to_owned(),
    };
    let message = match payload.downcast_ref::<&'static str>() {
        Some(message) => format!(" ({message})"),
        None => String::new(),
    };
    format!(
        "opencode-embedded {} has a bug: it panicked at {place}{message}. Your program is not at fault; the call that met it fails. Please report this line at {}",
        env!("CARGO_PKG_VERSION"),
        opencode_server::ISSUES,
    )
}

/// The file without the folders of the machine that compiled it.
fn shown_file(file: &str) -> &str {
    ["/registry/src/", "/library/"]
        .iter()
        .find_map(|mark| file.split_once(mark))
        .map_or(file, |(_, below)| below)
}

/// The outcome of a call; a panic is a failure.
pub(crate) async fn caught<T>(
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let outcome = AssertUnwindSafe(call).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(opencode_server::bug()))
}

#[cfg(test)]
mod tests {
    use opencode_protocol::failure::Tag;

    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_typed_failure_with_a_reference() {
        let failure = caught(async { panic!("oops") as Result<(), Failure> }).await;
        let failure = failure.unwrap_err();
        assert_eq!((failure.tag(), failure.status()), (Tag::Unknown, Some(500)));
        let Failure::Unknown { message, reference } = failure else {
            unreachable!()
        };
        assert!(reference.unwrap().starts_with("err_"));
        assert!(message.contains("/issues"), "{message}");
    }

    #[test]
    fn a_report_names_the_place_and_contains_no_user_data() {
        let location = Location::caller();
        let fixed: Box<dyn Any + Send> = Box::new("there is no lock");
        let said = report(Some(location), &*fixed);
        let place = format!("panics.rs:{} (there is no lock)", location.line());
        assert!(said.contains(&place), "{said}");
        assert!(said.contains(concat!("opencode-embedded ", env!("CARGO_PKG_VERSION"))));
        assert!(said.contains("/opencode-embedded/issues"), "{said}");
        let formatted: Box<dyn Any + Send> = Box::new("the key is sk-secret".to_owned());
        let said = report(Some(location), &*formatted);
        assert!(!said.contains("sk-secret"), "{said}");
        assert_eq!(said.lines().count(), 1);
    }

    #[test]
    fn a_panic_report_omits_the_folders_of_the_build() {
        for (file, shown) in [
            ("crates/host/src/lib.rs", "crates/host/src/lib.rs"),
            (
                "/home/u/.cargo/registry/src/index-1/tokio-1/src/lib.rs",
                "index-1/tokio-1/src/lib.rs",
            ),
            ("/rustc/0/library/core/src/option.rs", "core/src/option.rs"),
        ] {
            assert_eq!(shown_file(file), shown);
        }
    }
}
