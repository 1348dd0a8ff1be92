//! Operations on a Location itself.

use opencode_protocol::operations as op;
use opencode_protocol::output::{ConfigurationDiagnostic, ConfigurationProblem, Located};
use opencode_runtime::{Diagnostic, DiagnosticKind};
use opencode_schema::location::LocationInfo;

use crate::router::answer::{Answered, Whole};
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn get(call: Call<op::LocationGet>) -> Answered<Whole<LocationInfo>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    Ok(Whole(opened.info()))
}

pub(crate) async fn diagnostics(
    call: Call<op::LocationDiagnostics>,
) -> Answered<Located<Vec<ConfigurationDiagnostic>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let diagnostics = call.runtime.diagnostics(&opened.location);
    let diagnostics = diagnostics.iter().map(to_wire).collect();
    Ok(opened.with(diagnostics))
}

pub(crate) async fn reload(call: Call<op::LocationReload>) -> Answered<()> {
    let location = call.selector?.or_default(call.runtime.default_directory());
    let reloaded = call.runtime.reload_location(&location);
    reloaded.await?;
    Ok(())
}

fn to_wire(diagnostic: &Diagnostic) -> ConfigurationDiagnostic {
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
