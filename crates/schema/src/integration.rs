//! Integrations: services that need credentials, and how those are given.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// A service that needs credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationInfo {
    /// Its id.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// The ways to connect to it.
    pub methods: Vec<IntegrationMethod>,
    /// The connections there are. The first one is used.
    pub connections: Vec<IntegrationConnection>,
}

/// A way to connect to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum IntegrationMethod {
    /// In a browser, where the service asks for consent.
    Oauth {
        /// Names the method.
        id: String,
        /// Its name, for people.
        label: String,
        /// What must be known before.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        prompts: Option<Vec<IntegrationPrompt>>,
    },
    /// With a key.
    Key {
        /// Its name, for people.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<String>,
    },
    /// With a variable of the environment.
    Env {
        /// Any of these variables.
        names: Vec<String>,
    },
}

/// Something that must be known before a connection is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum IntegrationPrompt {
    /// Any text.
    Text {
        /// Names the answer.
        key: String,
        /// The question.
        message: String,
        /// An example of an answer.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        placeholder: Option<String>,
        /// Asked only if this holds.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        when: Option<IntegrationWhen>,
    },
    /// One of several values.
    Select {
        /// Names the answer.
        key: String,
        /// The question.
        message: String,
        /// The values to choose from.
        options: Vec<IntegrationOption>,
        /// Asked only if this holds.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        when: Option<IntegrationWhen>,
    },
}

/// A value to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationOption {
    /// Its name, for people.
    pub label: String,
    /// The value.
    pub value: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
}

/// A condition on another answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationWhen {
    /// The other answer.
    pub key: String,
    /// How it is compared.
    pub op: IntegrationOperator,
    /// What it is compared with.
    pub value: String,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntegrationOperator {
    /// They are the same.
    Eq,
    /// They differ.
    Neq,
}

/// A connection to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum IntegrationConnection {
    /// Through a stored credential.
    Credential {
        /// The credential.
        id: String,
        /// Its name, for people.
        label: String,
    },
    /// Through a variable of the environment.
    Env {
        /// The variable.
        name: String,
    },
}

/// An attempt to connect in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationAttempt {
    /// Its id.
    #[serde(rename = "attemptID")]
    pub attempt_id: String,
    /// The page to open.
    pub url: String,
    /// What to do there.
    pub instructions: String,
    /// How the attempt ends.
    pub mode: IntegrationAttemptMode,
    /// When.
    pub time: IntegrationAttemptTime,
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IntegrationAttemptMode {
    /// By itself.
    Auto,
    /// With a code that the page shows.
    Code,
}

/// Times of an attempt, epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationAttemptTime {
    /// Its beginning.
    pub created: Millis,
    /// When it is given up.
    pub expires: Millis,
}

/// Where an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum IntegrationAttemptStatus {
    /// It goes on.
    Pending {
        /// When.
        time: IntegrationAttemptTime,
    },
    /// It is done: the connection stands.
    Complete {
        /// When.
        time: IntegrationAttemptTime,
    },
    /// It failed.
    Failed {
        /// Why.
        message: String,
        /// When.
        time: IntegrationAttemptTime,
    },
    /// Nobody finished it in time.
    Expired {
        /// When.
        time: IntegrationAttemptTime,
    },
}

/// A service whose connections changed, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct IntegrationConnectionUpdated {
    /// The service.
    #[serde(rename = "integrationID")]
    pub integration_id: String,
}
