//! Operations that carry a session from one host to another.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{Data, ImportedSession};

use crate::router::operation::{Answer, Call};
use crate::wire::failure::failure;
use crate::wire::stream;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn export<T>(call: Call<op::SessionExport>) -> Answered<T> {
    let export = call.runtime.export(&call.params.session_id);
    Ok(Answer::Raw(stream::lines(export.await.map_err(failure)?)))
}

pub(crate) async fn import(call: Call<op::SessionImport>) -> Answered<Data<ImportedSession>> {
    let imported = call.runtime.import(call.lines.into_stream());
    let imported = imported.await.map_err(failure)?;
    let data = ImportedSession {
        session: imported.session,
        applied: imported.applied,
        skipped: imported.skipped,
    };
    Ok(Answer::Value(Data { data }))
}
