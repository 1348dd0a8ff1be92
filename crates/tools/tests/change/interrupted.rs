//! Tests for interrupted calls: nothing was changed, or the change is settled as a success.

use std::sync::Arc;

use crate::common::{Recorder, call};
use crate::project::{Project, changes, text_of};
use opencode_tools::Settlement;
use serde_json::json;
use tokio_util::task::TaskTracker;

#[tokio::test]
async fn an_interruption_during_the_permission_request_changes_nothing() {
    let project = Project::new();
    project.put("a.txt", "old\n");
    let before = project.files();
    for (tool, input, _) in changes("a.txt") {
        let mut context = project.context();
        let cancel = context.cancel.clone();
        context.permissions = Recorder::new(move |_| {
            cancel.cancel();
            Ok(())
        });
        let settled = project.turn.settle(call(tool, input), &context).await;
        assert_eq!(settled, Settlement::Interrupted, "{tool}");
    }
    assert_eq!(project.files(), before);
}

#[tokio::test]
async fn an_interruption_at_any_time_reports_the_actual_state() {
    let project = Project::new();
    let mut written = 0;
    for round in 0..200 {
        let name = format!("{round}.txt");
        let context = Arc::new(project.context());
        let cancel = context.cancel.clone();
        let input = json!({"path": name, "content": "x".repeat(100_000)});
        let running = project
            .turn
            .start(call("write", input), &context, &TaskTracker::new());
        let interrupting = tokio::task::spawn_blocking(move || {
            // The time varies from before the start of the call to after its end.
            (0..round * 100).for_each(|_| std::hint::spin_loop());
            cancel.cancel();
        });
        let settled = running.await;
        interrupting.await.unwrap();
        let exists = project.location().join(&name).exists();
        assert_eq!(settled != Settlement::Interrupted, exists, "{settled:?}");
        if exists {
            text_of(settled).unwrap();
            written += 1;
        }
    }
    assert_eq!(project.files().len(), written);
}
