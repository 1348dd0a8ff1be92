//! Saved permissions: unique within a project, in the order of saving, until removed.

use opencode_schema::permission::SavedPermission;
use opencode_store::Abort;

use crate::harness::Bench;

fn saved(id: &str, project: &str, resource: &str) -> SavedPermission {
    SavedPermission {
        id: id.into(),
        project_id: project.into(),
        action: "bash".into(),
        resource: resource.into(),
    }
}

async fn save(bench: &Bench, permissions: Vec<SavedPermission>) {
    let written = bench.store.write(move |transaction| {
        for permission in &permissions {
            transaction.save_permission(permission, 5)?;
        }
        Ok::<_, Abort<&'static str>>(())
    });
    written.await.unwrap();
}

async fn remove(bench: &Bench, id: &'static str) {
    let removed = bench.store.write(move |transaction| {
        Ok::<_, Abort<&'static str>>(transaction.remove_permission(id, None)?)
    });
    removed.await.unwrap();
}

async fn of(bench: &Bench, project: &'static str) -> Vec<SavedPermission> {
    let read = bench
        .store
        .read(move |reader| reader.saved_permissions(project));
    read.await.unwrap()
}

#[tokio::test]
async fn a_project_stores_each_permission_once_and_in_order() {
    let bench = Bench::new().await;
    let permissions = [
        saved("psv_b", "p", "ls *"),
        saved("psv_a", "p", "cat *"),
        saved("psv_again", "p", "ls *"),
        saved("psv_other", "q", "ls *"),
    ];
    save(&bench, permissions.to_vec()).await;
    let [first, second, _, other] = permissions;
    assert_eq!(of(&bench, "p").await, [first, second.clone()]);
    assert_eq!(of(&bench, "q").await, [other]);
    assert_eq!(of(&bench, "nobody").await, []);
    remove(&bench, "psv_b").await;
    remove(&bench, "psv_unknown").await;
    assert_eq!(of(&bench, "p").await, [second]);
}
