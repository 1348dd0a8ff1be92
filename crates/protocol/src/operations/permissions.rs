//! Permissions: what waits for an answer, and what was answered for good.

use opencode_schema::permission::{PermissionRequest, SavedPermission};

use crate::input::{
    LocationSelection, PermissionCreatePayload, PermissionParams, PermissionReplyPayload,
    SavedPermissionParams, SavedPermissionsQuery, SessionParams,
};
use crate::operation::operations;
use crate::output::{Located, PermissionDecision};

operations! {
    /// The permission requests of one session that wait for an answer.
    SessionPermissionList = "v2.session.permission.list" => "permissions.list" {
        Get "/api/session/{sessionID}/permission",
        params: SessionParams,
        success: value(Vec<PermissionRequest>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// One permission request that waits for an answer. One that was answered is gone.
    SessionPermissionGet = "v2.session.permission.get" => "permissions.get" {
        Get "/api/session/{sessionID}/permission/{requestID}",
        params: PermissionParams,
        success: value(PermissionRequest),
        errors: [SessionNotFound, PermissionNotFound],
        middleware: [Authorization, Session],
    }

    /// Asks whether something may be done. What no rule decides waits for an answer.
    SessionPermissionCreate = "v2.session.permission.create" => "permissions.create" {
        Post "/api/session/{sessionID}/permission",
        params: SessionParams,
        payload: PermissionCreatePayload,
        success: value(PermissionDecision),
        errors: [SessionNotFound, Conflict],
        middleware: [Authorization, Session],
    }

    /// Answers a permission request.
    ///
    /// `always` also answers what waits elsewhere and is allowed now; `reject` answers everything that
    /// waits in the same session.
    SessionPermissionReply = "v2.session.permission.reply" => "permissions.reply" {
        Post "/api/session/{sessionID}/permission/{requestID}/reply",
        params: PermissionParams,
        payload: PermissionReplyPayload,
        success: void,
        errors: [SessionNotFound, PermissionNotFound],
        middleware: [Authorization, Session],
    }

    /// The permission requests of all sessions of a Location that wait for an answer.
    PermissionRequestList = "v2.permission.request.list" => "permissions.listRequests" {
        Get "/api/permission/request",
        query: LocationSelection,
        success: whole(Located<Vec<PermissionRequest>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the permissions that answers of `always` have saved for a project.
    PermissionSavedList = "v2.permission.saved.list" => "permissions.listSaved" {
        Get "/api/permission/saved",
        query: SavedPermissionsQuery,
        success: value(Vec<SavedPermission>),
        errors: [],
        middleware: [Authorization],
    }

    /// Takes back what an answer of `always` has allowed. An unknown id is none.
    PermissionSavedRemove = "v2.permission.saved.remove" => "permissions.removeSaved" {
        Delete "/api/permission/saved/{id}",
        params: SavedPermissionParams,
        success: void,
        errors: [],
        middleware: [Authorization],
    }
}
