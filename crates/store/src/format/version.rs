//! Types of entries with their versions. Logs of other programs contain older versions, which the
//! store keeps.

use opencode_schema::event::{DURABLE_EVENTS, EventError, EventSpec, SessionEvent, number_of};

/// Factor of an older version in the stored number of a type: version times this factor, plus the
/// number in the catalogue.
const OLDER: u32 = 1000;

/// A type of the catalogue in one of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) number: u32,
    pub(crate) version: u32,
}

impl Kind {
    pub(crate) fn of(payload: &SessionEvent) -> Self {
        Self {
            number: payload.number(),
            version: payload.version(),
        }
    }

    /// Parses a name with its version, such as `session.next.step.ended.2`.
    pub(crate) fn parse(versioned: &str) -> Result<Self, EventError> {
        let number = number_of(versioned)?;
        let version = versioned.rsplit('.').next().and_then(|it| it.parse().ok());
        version
            .map(|version| Self { number, version })
            .ok_or_else(|| EventError::UnknownType(versioned.to_owned()))
    }

    /// Returns the number in the database: the catalogue number, with the version in front of it if
    /// the version is older.
    pub(crate) fn stored(self) -> u32 {
        let is_current = spec(self.number).is_some_and(|spec| spec.version == self.version);
        if is_current {
            self.number
        } else {
            Self::older(self.number, self.version)
        }
    }

    /// Returns the number in the database of an older version.
    pub(crate) const fn older(number: u32, version: u32) -> u32 {
        version * OLDER + number
    }

    pub(crate) fn read(stored: u32) -> Self {
        let (older, number) = (stored / OLDER, stored % OLDER);
        let version = match older {
            0 => spec(number).map_or(0, |spec| spec.version),
            older => older,
        };
        Self { number, version }
    }
}

/// Returns the catalogue entry of the type with this number.
pub(crate) fn spec(number: u32) -> Option<&'static EventSpec> {
    let at = DURABLE_EVENTS
        .binary_search_by_key(&number, |spec| spec.number)
        .ok()?;
    DURABLE_EVENTS.get(at)
}
