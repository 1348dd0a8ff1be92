//! Integrations: services that need credentials, and the ways to supply them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// A service that needs credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationInfo {
    /// Id of the integration.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Methods to connect to the service.
    pub methods: Vec<IntegrationMethod>,
    /// Existing connections. The host uses the first one.
    pub connections: Vec<IntegrationConnection>,
}

/// A method to connect to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum IntegrationMethod {
    /// OAuth: the user gives consent in a browser, on this machine or on any device.
    Oauth {
        /// Id of the method.
        id: String,
        /// Display name.
        label: String,
        /// Values that the host needs before it starts the method.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        prompts: Option<Vec<IntegrationPrompt>>,
    },
    /// An API key.
    Key {
        /// Display name.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<String>,
    },
    /// An environment variable.
    Env {
        /// Names of the variables. Any one of them suffices.
        names: Vec<String>,
    },
}

/// A value that the host needs before it makes a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum IntegrationPrompt {
    /// A text.
    Text {
        /// Key of the answer.
        key: String,
        /// Question for the user.
        message: String,
        /// Example of an answer.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        placeholder: Option<String>,
        /// Condition of the question. The host asks the question only if the condition is true.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        when: Option<IntegrationWhen>,
    },
    /// One of several values.
    Select {
        /// Key of the answer.
        key: String,
        /// Question for the user.
        message: String,
        /// Values to choose from.
        options: Vec<IntegrationOption>,
        /// Condition of the question. The host asks the question only if the condition is true.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        when: Option<IntegrationWhen>,
    },
}

/// A value to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationOption {
    /// Display name.
    pub label: String,
    /// Value of the answer.
    pub value: String,
    /// Explanation of the value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

/// A condition on another answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationWhen {
    /// Key of the other answer.
    pub key: String,
    /// Comparison operator.
    pub op: IntegrationOperator,
    /// Value to compare the other answer with.
    pub value: String,
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntegrationOperator {
    /// The values are equal.
    Eq,
    /// The values differ.
    Neq,
}

/// A connection to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum IntegrationConnection {
    /// A stored credential.
    Credential {
        /// Id of the credential.
        id: String,
        /// Display name.
        label: String,
    },
    /// An environment variable.
    Env {
        /// Name of the variable.
        name: String,
    },
}

/// An attempt to connect in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationAttempt {
    /// Id of the attempt.
    #[serde(rename = "attemptID")]
    pub attempt_id: String,
    /// URL of the page to open.
    pub url: String,
    /// Instructions for the user on the page.
    pub instructions: String,
    /// Way in which the attempt completes.
    pub mode: IntegrationAttemptMode,
    /// Start and expiry of the attempt.
    pub time: IntegrationAttemptTime,
}

/// The way in which an attempt completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntegrationAttemptMode {
    /// The attempt completes without input of the user.
    Auto,
    /// The user enters a code that the page shows.
    Code,
}

/// Times of an attempt, in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationAttemptTime {
    /// Start of the attempt.
    pub created: Millis,
    /// Time at which the host abandons the attempt.
    pub expires: Millis,
}

/// The state of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum IntegrationAttemptStatus {
    /// The attempt is in progress.
    Pending {
        /// Start and expiry of the attempt.
        time: IntegrationAttemptTime,
    },
    /// The attempt succeeded and the connection exists.
    Complete {
        /// Start and expiry of the attempt.
        time: IntegrationAttemptTime,
    },
    /// The attempt failed.
    Failed {
        /// Reason of the failure.
        message: String,
        /// Start and expiry of the attempt.
        time: IntegrationAttemptTime,
    },
    /// The attempt was not completed in time.
    Expired {
        /// Start and expiry of the attempt.
        time: IntegrationAttemptTime,
    },
}

/// The payload of the event that announces changed connections of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct IntegrationConnectionUpdated {
    /// Id of the integration.
    #[serde(rename = "integrationID")]
    pub integration_id: String,
}
