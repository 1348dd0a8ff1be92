//! Reverts of very many files.

use std::collections::BTreeMap;

use super::{World, is};

/// With this number of files, a separate check of each file would take minutes.
const MANY: usize = 3000;

#[tokio::test]
async fn thousands_of_files_are_reverted_and_restored_together() {
    let world = World::open().await;
    let names: Vec<_> = (0..MANY).map(|it| format!("many/{it}")).collect();
    let changes = names.iter().map(|name| (name.as_str(), Some("new\n")));
    let changes: Vec<_> = changes.collect();
    let boundary = world.turn("go", &changes).await;
    let after = world.files();
    let staged = world.stage(&boundary).await;
    let files = staged.files.as_deref().unwrap_or_default();
    let told: BTreeMap<_, _> = files
        .iter()
        .map(|it| (it.path.clone(), it.deletions))
        .collect();
    let expected: BTreeMap<_, _> = names.iter().map(|name| (name.clone(), 1)).collect();
    assert_eq!((told, staged.conflicts), (expected, None));
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
    world.clear().await;
    assert_eq!(world.files(), after);
}
