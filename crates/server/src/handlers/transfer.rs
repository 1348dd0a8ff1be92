//! Operations that copy a session from one host to another.

use opencode_protocol::operations as op;
use opencode_protocol::output::ImportedSession;

use crate::router::answer::{Answered, Written};
use crate::router::operation::Call;
use crate::wire::stream;

pub(crate) async fn export(call: Call<op::SessionExport>) -> Answered<Written> {
    let export = call.runtime.export(&call.params.session_id);
    Ok(Written(stream::lines(export.await?)))
}

pub(crate) async fn import(call: Call<op::SessionImport>) -> Answered<ImportedSession> {
    let imported = call.runtime.import(call.lines.into_stream());
    let imported = imported.await?;
    let data = ImportedSession {
        session: imported.session,
        applied: imported.applied,
        skipped: imported.skipped,
    };
    Ok(data)
}
