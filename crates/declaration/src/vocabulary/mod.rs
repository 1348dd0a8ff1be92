//! The words in which values are declared.

mod kind;
mod member;

pub use self::kind::{Kind, Named, Number, Written};
pub use self::member::{Default, Member, Object, Older, Restricts, absent, member};
