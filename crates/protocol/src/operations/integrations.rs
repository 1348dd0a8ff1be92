//! Services that need credentials, and the credentials.

use opencode_schema::integration::{IntegrationAttempt, IntegrationAttemptStatus, IntegrationInfo};

use crate::input::{
    AttemptParams, CompleteAttemptPayload, ConnectKeyPayload, ConnectOauthPayload,
    CredentialParams, CredentialUpdatePayload, IntegrationParams, LocationSelection,
};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// Lists the services that need credentials.
    IntegrationList = "v2.integration.list" => "integrations.list" {
        Get "/api/integration",
        query: LocationSelection,
        success: whole(Located<Vec<IntegrationInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Returns a service that needs credentials. The data is null for an unknown service.
    IntegrationGet = "v2.integration.get" => "integrations.get" {
        Get "/api/integration/{integrationID}",
        params: IntegrationParams,
        query: LocationSelection,
        success: whole(Located<Option<IntegrationInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Connects to a service with a key. The key replaces the previous credential.
    IntegrationConnectKey = "v2.integration.connect.key" => "integrations.connectKey" {
        Post "/api/integration/{integrationID}/connect/key",
        params: IntegrationParams,
        query: LocationSelection,
        payload: ConnectKeyPayload,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Begins an attempt to connect to a service with OAuth: the user gives consent on the page of the attempt.
    IntegrationConnectOauth = "v2.integration.connect.oauth" => "integrations.connectOauth" {
        Post "/api/integration/{integrationID}/connect/oauth",
        params: IntegrationParams,
        query: LocationSelection,
        payload: ConnectOauthPayload,
        success: whole(Located<IntegrationAttempt>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Returns the state of an attempt to connect.
    IntegrationAttemptStatusGet = "v2.integration.attempt.status" => "integrations.attemptStatus" {
        Get "/api/integration/attempt/{attemptID}",
        params: AttemptParams,
        query: LocationSelection,
        success: whole(Located<IntegrationAttemptStatus>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Ends an attempt to connect, with the code that the page has shown.
    IntegrationAttemptComplete = "v2.integration.attempt.complete" => "integrations.attemptComplete" {
        Post "/api/integration/attempt/{attemptID}/complete",
        params: AttemptParams,
        query: LocationSelection,
        payload: CompleteAttemptPayload,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Cancels an attempt to connect. An unknown id has no effect.
    IntegrationAttemptCancel = "v2.integration.attempt.cancel" => "integrations.attemptCancel" {
        Delete "/api/integration/attempt/{attemptID}",
        params: AttemptParams,
        query: LocationSelection,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Renames a credential. An unknown id has no effect.
    CredentialUpdate = "v2.credential.update" => "credentials.update" {
        Patch "/api/credential/{credentialID}",
        params: CredentialParams,
        query: LocationSelection,
        payload: CredentialUpdatePayload,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Removes a credential. An unknown id has no effect.
    CredentialRemove = "v2.credential.remove" => "credentials.remove" {
        Delete "/api/credential/{credentialID}",
        params: CredentialParams,
        query: LocationSelection,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
    }
}
