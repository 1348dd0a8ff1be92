//! Types for the integers of the database that have a meaning of their own, so that the compiler
//! distinguishes them.

/// Implements the conversions of a type with one integer: from and to the database, and to text.
macro_rules! stored_integer {
    ($name:ident) => {
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

pub(crate) use stored_integer;

/// The key of a session in the database. No other session of the same database ever has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(pub(crate) i64);

stored_integer!(SessionKey);

/// The sequence of an entry: its position in the log of its session, without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(i64);

stored_integer!(Sequence);

impl Sequence {
    /// Sequence of the first entry of a log.
    pub const FIRST: Self = Self(0);

    /// Less than the sequence of every entry. Columns have it where no entry exists yet.
    pub(crate) const BEFORE_FIRST: Self = Self(-1);

    /// Greater than the sequence of every entry.
    pub(crate) const AFTER_LAST: Self = Self(i64::MAX);

    /// Returns the sequence of the following entry.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the number of entries after `earlier` up to this one. 0 if this one is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

/// Converts a number of the wire. A number that no log reaches becomes the sequence after every
/// entry.
impl From<u64> for Sequence {
    fn from(seq: u64) -> Self {
        i64::try_from(seq).map_or(Self::AFTER_LAST, Self)
    }
}

/// Converts to a number of the wire. Only a damaged row has a sequence before the first.
impl From<Sequence> for u64 {
    fn from(seq: Sequence) -> Self {
        Self::try_from(seq.0).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_survives_the_round_trip_to_the_wire() {
        for (wire, back) in [(0, 0), (7, 7), (u64::MAX, i64::MAX as u64)] {
            assert_eq!(u64::from(Sequence::from(wire)), back);
        }
        assert_eq!(Sequence::from(u64::MAX).next(), Sequence::AFTER_LAST);
        assert_eq!(Sequence::BEFORE_FIRST.next(), Sequence::FIRST);
        assert_eq!(u64::from(Sequence::BEFORE_FIRST), 0);
    }

    #[test]
    fn the_distance_to_a_later_sequence_is_zero() {
        let [early, late] = [3, 8].map(Sequence::from);
        assert_eq!((late.since(early), early.since(late)), (5, 0));
        assert_eq!(Sequence::FIRST.since(Sequence::BEFORE_FIRST), 1);
    }
}
