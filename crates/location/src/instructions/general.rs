//! Instructions that hold without anybody naming them: the user's and those of the project.

use super::InstructionError;
use super::place::{Place, look};
use super::reading::Discovery;

pub(super) fn discover(place: &Place<'_>) -> Discovery {
    let mut discovery = Discovery::default();
    let config = &place.environment.config;
    // A host that gives no such directory has none.
    if !config.as_os_str().is_empty() {
        look(config, None, &mut discovery);
    }
    if place.environment.reads_projects()
        && let Err(failure) = upward(place, &mut discovery)
    {
        discovery.fail(failure);
    }
    discovery
}

/// From the directory up to the root of the project; nothing if it does not lie in its project.
fn upward(place: &Place<'_>, discovery: &mut Discovery) -> Result<(), InstructionError> {
    let (start, bound) = (place.root()?, place.project_root()?);
    for directory in start.ancestors().take_while(|it| it.starts_with(&bound)) {
        look(directory, Some(&bound), discovery);
    }
    Ok(())
}
