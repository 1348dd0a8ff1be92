//! Permission requests and saved permissions.

use opencode_schema::permission::{PermissionRequest, SavedPermissionInfo};

use crate::input::{
    LocationSelection, PermissionCreatePayload, PermissionParams, PermissionReplyPayload,
    SavedPermissionParams, SavedPermissionsQuery, SessionParams,
};
use crate::operation::operations;
use crate::output::{Located, PermissionDecision};

operations! {
    /// Lists the permission requests of a session that wait for an answer.
    SessionPermissionList = "v2.session.permission.list" => "permissions.list" {
        Get "/api/session/{sessionID}/permission",
        params: SessionParams,
        success: value(Vec<PermissionRequest>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Returns a permission request that waits for an answer. An answered request does not exist any more.
    SessionPermissionGet = "v2.session.permission.get" => "permissions.get" {
        Get "/api/session/{sessionID}/permission/{requestID}",
        params: PermissionParams,
        success: value(PermissionRequest),
        errors: [SessionNotFound, PermissionNotFound],
        middleware: [Authorization, Session],
    }

    /// Asks for a permission. If no rule decides, the request waits for an answer.
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
    /// `always` also answers all waiting requests that the saved permission allows, in any session. `reject` also rejects
    /// all waiting requests of the same session.
    SessionPermissionReply = "v2.session.permission.reply" => "permissions.reply" {
        Post "/api/session/{sessionID}/permission/{requestID}/reply",
        params: PermissionParams,
        payload: PermissionReplyPayload,
        success: void,
        errors: [SessionNotFound, PermissionNotFound],
        middleware: [Authorization, Session],
    }

    /// Lists the permission requests of all sessions of a Location that wait for an answer.
    PermissionRequestList = "v2.permission.request.list" => "permissions.listRequests" {
        Get "/api/permission/request",
        query: LocationSelection,
        success: whole(Located<Vec<PermissionRequest>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the permissions that answers of `always` have saved. The embedding program reads those of all directories,
    /// and where each counts. Other clients read those that count in their Location.
    PermissionSavedList = "v2.permission.saved.list" => "permissions.listSaved" {
        Get "/api/permission/saved",
        query: SavedPermissionsQuery,
        success: value(Vec<SavedPermissionInfo>),
        errors: [],
        middleware: [Authorization],
    }

    /// Removes a permission that an answer of `always` has saved. An unknown id has no effect. Clients other than the
    /// embedding program remove only those that count in their Location.
    PermissionSavedRemove = "v2.permission.saved.remove" => "permissions.removeSaved" {
        Delete "/api/permission/saved/{id}",
        params: SavedPermissionParams,
        success: void,
        errors: [],
        middleware: [Authorization],
    }
}
