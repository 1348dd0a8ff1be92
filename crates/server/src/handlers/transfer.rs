//! Operations that copy a session from one host to another.

use opencode_protocol::operations as op;
use opencode_protocol::output::{ImportedDocument, ImportedSession, OmittedItem};
use opencode_runtime::{DocumentMessage, ImportChoices, SessionDocument};

use crate::router::answer::{Answered, Written};
use crate::router::operation::Call;
use crate::wire::stream;

pub(crate) async fn export(call: Call<op::SessionExport>) -> Answered<Written> {
    let export = call.runtime.export(&call.params.session_id);
    Ok(Written(stream::lines(export.await?)))
}

pub(crate) async fn import(call: Call<op::SessionImport>) -> Answered<ImportedSession> {
    let choices = ImportChoices {
        directory: call.query.directory,
        agent: call.query.agent,
        model: call.query.model,
        confirm: call.query.confirm.unwrap_or(false),
    };
    let imported = call.runtime.import(call.lines.into_stream(), choices);
    let imported = imported.await?;
    let data = ImportedSession {
        session: imported.session,
        applied: imported.applied,
        skipped: imported.skipped,
    };
    Ok(data)
}

pub(crate) async fn import_document(
    call: Call<op::SessionImportDocument>,
) -> Answered<ImportedDocument> {
    let choices = ImportChoices {
        directory: call.payload.directory,
        agent: call.payload.agent,
        model: call.payload.model,
        confirm: call.payload.confirm.unwrap_or(false),
    };
    let messages = call.payload.messages.into_iter();
    let document = SessionDocument {
        info: call.payload.info,
        messages: messages
            .map(|it| DocumentMessage {
                info: it.info,
                parts: it.parts,
            })
            .collect(),
    };
    let imported = call.runtime.import_document(document, choices).await?;
    let omitted = imported.omitted.into_iter().map(|it| OmittedItem {
        message_id: it.message_id,
        part_id: it.part_id,
        kind: it.kind,
        reason: it.reason,
    });
    let data = ImportedDocument {
        session: imported.session,
        applied: imported.applied,
        skipped: imported.skipped,
        omitted: omitted.collect(),
    };
    Ok(data)
}
