//! What a host is opened with. Every default has been decided by the time these are made: nothing
//! below reads the process's environment, home or working directory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use opencode_location::environment::Environment;
use opencode_runtime::{DatabasePath, Durability, Limits, Recovery, Unanswered};
use serde::Deserialize;
use serde_json::Value;

use crate::Surroundings;

/// Options of a host, complete.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostOptions {
    /// Directory of sessions and requests that name none; absolute.
    pub directory: String,
    /// The database file, absolute, or `:memory:`.
    pub database: String,
    /// Home directory.
    pub home: PathBuf,
    /// Where durable data lies.
    pub data_directory: PathBuf,
    /// Where the user's configuration lies.
    pub config_directory: PathBuf,
    /// What may be deleted at any time.
    pub cache_directory: PathBuf,
    /// Configuration over what is discovered.
    #[serde(default)]
    pub config: Option<Value>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What survives which failure.
    #[serde(default)]
    pub durability: DurabilityOption,
    /// What happens at opening to sessions whose last activity was cut.
    #[serde(default)]
    pub recovery: RecoveryOption,
    /// What is decided where no person is.
    #[serde(default)]
    pub permissions: PermissionOptions,
    /// How much the host holds and takes at once.
    #[serde(default)]
    pub limits: LimitOptions,
}

/// What is decided where no person is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PermissionOptions {
    /// What becomes of permissions and questions that nobody answers.
    pub unanswered: UnansweredOption,
}

/// What becomes of permissions and questions that nobody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UnansweredOption {
    /// They wait.
    #[default]
    Wait,
    /// They are refused at once.
    Deny,
    /// They are refused after so many milliseconds.
    DenyAfterMs(u64),
}

impl From<UnansweredOption> for Unanswered {
    fn from(option: UnansweredOption) -> Self {
        match option {
            UnansweredOption::Wait => Self::Wait,
            UnansweredOption::Deny => Self::Deny,
            UnansweredOption::DenyAfterMs(wait) => Self::DenyAfter(Duration::from_millis(wait)),
        }
    }
}

/// What survives which failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurabilityOption {
    /// The death of the process.
    #[default]
    Normal,
    /// The loss of power, too.
    Full,
}

/// What happens at opening to sessions whose last activity was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryOption {
    /// They wait for somebody.
    #[default]
    Manual,
    /// Their work is taken up.
    Resume,
}

/// How much a host holds and takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LimitOptions {
    /// Admitted Prompts of one session that may wait.
    pub inbox: u64,
    /// Steers that one Safe Provider-Turn Boundary promotes at most.
    pub steer_batch: usize,
    /// Levels of child sessions below a session that no task made.
    pub subagent_depth: usize,
    /// Tasks of one session that may run at the same time.
    pub subagents: usize,
}

impl Default for LimitOptions {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            inbox: limits.inbox,
            steer_batch: limits.steer_batch,
            subagent_depth: limits.subagent_depth,
            subagents: limits.subagents,
        }
    }
}

impl From<LimitOptions> for Limits {
    fn from(limits: LimitOptions) -> Self {
        Self {
            inbox: limits.inbox,
            steer_batch: limits.steer_batch,
            subagent_depth: limits.subagent_depth,
            subagents: limits.subagents,
        }
    }
}

impl From<RecoveryOption> for Recovery {
    fn from(option: RecoveryOption) -> Self {
        match option {
            RecoveryOption::Manual => Self::Manual,
            RecoveryOption::Resume => Self::Resume,
        }
    }
}

impl From<DurabilityOption> for Durability {
    fn from(option: DurabilityOption) -> Self {
        match option {
            DurabilityOption::Normal => Self::Normal,
            DurabilityOption::Full => Self::Full,
        }
    }
}

impl HostOptions {
    pub(crate) fn database_path(&self) -> DatabasePath {
        if self.database == ":memory:" {
            DatabasePath::Memory
        } else {
            DatabasePath::File(PathBuf::from(&self.database))
        }
    }

    pub(crate) fn into_environment(self) -> Surroundings {
        let environment = Environment {
            home: self.home,
            data: self.data_directory,
            config: self.config_directory,
            cache: self.cache_directory,
            variables: self.env,
        };
        (environment, self.config)
    }
}
