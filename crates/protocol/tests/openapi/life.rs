//! The intended differences of the life of sessions.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[Differences {
    why: "A session may have a title, a parent and permission rules from the beginning, and lists select by them.",
    what: &[
        "v2.session.create 404: is added",
        "v2.session.create body application/json.parentID: is added",
        "v2.session.create body application/json.permission: is added",
        "v2.session.create body application/json.title: is added",
        "v2.session.list query archived: is added",
        "v2.session.list query parentID: is added",
        "v2.session.list query roots: is added",
    ],
}];
