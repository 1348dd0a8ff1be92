//! Terminals of a Location.

use opencode_schema::pty::{Pty, PtyConnectToken};

use crate::input::{
    LocationSelection, PtyConnectQuery, PtyCreatePayload, PtyParams, PtyUpdatePayload,
};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// Lists the terminals, including terminals whose program has ended.
    PtyList = "v2.pty.list" => "ptys.list" {
        Get "/api/pty",
        query: LocationSelection,
        success: whole(Located<Vec<Pty>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Starts a program in a new terminal.
    PtyCreate = "v2.pty.create" => "ptys.create" {
        Post "/api/pty",
        query: LocationSelection,
        payload: PtyCreatePayload,
        success: whole(Located<Pty>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Returns a terminal.
    PtyGet = "v2.pty.get" => "ptys.get" {
        Get "/api/pty/{ptyID}",
        params: PtyParams,
        query: LocationSelection,
        success: whole(Located<Pty>),
        errors: [PtyNotFound],
        middleware: [Authorization, Location],
    }

    /// Changes the title or the size of a terminal.
    PtyUpdate = "v2.pty.update" => "ptys.update" {
        Put "/api/pty/{ptyID}",
        params: PtyParams,
        query: LocationSelection,
        payload: PtyUpdatePayload,
        success: whole(Located<Pty>),
        errors: [PtyNotFound],
        middleware: [Authorization, Location],
    }

    /// Ends a terminal and its program.
    PtyRemove = "v2.pty.remove" => "ptys.remove" {
        Delete "/api/pty/{ptyID}",
        params: PtyParams,
        query: LocationSelection,
        success: void,
        errors: [PtyNotFound],
        middleware: [Authorization, Location],
    }

    /// Creates a ticket for one connection to a terminal.
    PtyConnectTokenCreate = "v2.pty.connectToken" => "ptys.connectToken" {
        Post "/api/pty/{ptyID}/connect-token",
        headers: ["x-opencode-ticket": "1"],
        params: PtyParams,
        query: LocationSelection,
        success: whole(Located<PtyConnectToken>),
        errors: [Forbidden, PtyNotFound],
        middleware: [Authorization, Location],
    }

    /// Connects to a terminal: the request becomes a WebSocket for its output and input.
    PtyConnect = "v2.pty.connect" => "ptys.connect" {
        Get "/api/pty/{ptyID}/connect",
        params: PtyParams,
        query: PtyConnectQuery,
        success: whole(bool),
        errors: [Forbidden, PtyNotFound],
        middleware: [Authorization, Location],
        omitted: true,
    }
}
