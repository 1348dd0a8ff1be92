//! The agents of sessions.

pub(crate) mod unknown;

use opencode_location::location::Location;
use opencode_schema::session::SessionInfo;

/// The agent of a session in a Location, whether or not there is such an agent.
pub(crate) fn agent_of(session: &SessionInfo, location: &Location) -> String {
    location.agents.id_of(session.agent.as_deref())
}
