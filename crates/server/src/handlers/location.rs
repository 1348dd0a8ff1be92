//! Operations on a Location itself.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{ConfigurationDiagnostic, ConfigurationProblem, Located};
use opencode_runtime::{Diagnostic, DiagnosticKind};
use opencode_schema::location::LocationInfo;

use crate::router::operation::{Answer, Call};
use crate::router::selector::Opened;
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn get(call: Call<op::LocationGet>) -> Answered<LocationInfo> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    Ok(Answer::Value(opened.info()))
}

pub(crate) async fn diagnostics(
    call: Call<op::LocationDiagnostics>,
) -> Answered<Located<Vec<ConfigurationDiagnostic>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let diagnostics = call.runtime.diagnostics(&opened.location);
    let told = diagnostics.iter().map(told).collect();
    Ok(Answer::Value(opened.with(told)))
}

pub(crate) async fn reload(call: Call<op::LocationReload>) -> Answered<()> {
    let location = call.selector?.or_default(call.runtime.default_directory());
    let reloaded = call.runtime.reload_location(&location);
    reloaded.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

fn told(diagnostic: &Diagnostic) -> ConfigurationDiagnostic {
    ConfigurationDiagnostic {
        path: diagnostic.path.clone(),
        kind: match diagnostic.kind {
            DiagnosticKind::Io => ConfigurationProblem::Io,
            DiagnosticKind::Substitution => ConfigurationProblem::Substitution,
            DiagnosticKind::Syntax => ConfigurationProblem::Syntax,
            DiagnosticKind::Invalid => ConfigurationProblem::Invalid,
            DiagnosticKind::Ignored => ConfigurationProblem::Ignored,
        },
        message: diagnostic.message.clone(),
        line: diagnostic.line,
        column: diagnostic.column,
    }
}
