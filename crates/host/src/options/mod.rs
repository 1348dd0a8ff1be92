//! Options of a host, in the form in which a program gives them, with their defaults.
//!
//! Folders and the environment have no default here: nothing below reads the environment, the home directory or the
//! working directory of the process.

mod budgets;
mod oauth;
mod providers;
mod remote;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opencode_location::config::{
    HostConfiguration, HostModel, RemoteDocuments, WrongRules, parse_model, permission_rules,
    problems,
};
use opencode_location::environment::{CommandEnvironment, Environment};
use opencode_location::location::{AskTrust, Trust};
use opencode_location::secret::BaseUrl;
use opencode_protocol::failure::Failure;
use opencode_runtime::{
    CallLimits, DatabasePath, Durability, Limits, ProviderOAuth, Recovery, Unanswered,
};
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use opencode_secrets::Secret;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

pub(crate) use self::budgets::{BudgetsOption, Limited};
pub(crate) use self::oauth::ProviderOAuthOption;
pub(crate) use self::providers::{DeadlineOptions, RetryOptions};
pub(crate) use self::remote::RemoteOption;
use crate::remote::RemoteServer;
use crate::trust::TrustQuestions;

/// The machine and its configuration, from the options.
pub(crate) type MachineConfiguration = (Environment, HostConfiguration);

/// Options of a host.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostOptions {
    /// Directory of sessions and requests without one; absolute.
    pub directory: String,
    /// The database file, absolute, or `:memory:`.
    pub database: String,
    /// Home directory.
    pub home: PathBuf,
    /// Directory of durable data.
    pub data_directory: PathBuf,
    /// Directory of the user configuration.
    pub config_directory: PathBuf,
    /// Directory of files that may be deleted at any time.
    pub cache_directory: PathBuf,
    /// Configuration above the discovered documents.
    #[serde(default)]
    pub config: Option<Value>,
    /// Servers of the Model Context Protocol, as the key `mcp` of the configuration. They are stronger than it.
    #[serde(default)]
    pub mcp: Option<Value>,
    /// The time zone of the user, as the key `timezone` of the configuration. It is stronger than it.
    #[serde(default)]
    pub timezone: Option<String>,
    /// Servers of organisations that publish configuration. It is weaker than all other configuration.
    #[serde(default)]
    pub remote_config: Vec<RemoteOption>,
    /// The absolute directory of an administrator, whose configuration is stronger than all other.
    #[serde(default)]
    pub managed_config_directory: Option<PathBuf>,
    /// The model of sessions without one, as `provider/model`.
    #[serde(default)]
    pub model: Option<String>,
    /// The API key of the provider of that model.
    #[serde(default)]
    pub api_key: Option<String>,
    /// The address of the provider of that model.
    #[serde(default, rename = "baseURL")]
    pub base_url: Option<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The environment variables of processes.
    #[serde(default)]
    pub command_environment: CommandEnvironmentOptions,
    /// The failures that committed data survives.
    #[serde(default)]
    pub durability: DurabilityOption,
    /// The action at opening on sessions whose last activity was cut off.
    #[serde(default)]
    pub recovery: RecoveryOption,
    /// True if the model is reminded that its agent plans, and that prompts arrived during its work.
    #[serde(default)]
    pub reminders: bool,
    /// The decision about requests without an answer, and the rules that no other rule loosens.
    #[serde(default)]
    pub permissions: PermissionOptions,
    /// Trust in the files of projects.
    #[serde(default)]
    pub trust: TrustOption,
    /// Limits of the host.
    #[serde(default)]
    pub limits: LimitOptions,
    /// Time that a Provider Turn waits for a provider that temporarily refuses its request.
    #[serde(default)]
    pub retry: RetryOptions,
    /// True if the host keeps the list of models current.
    #[serde(default)]
    pub refresh_models: bool,
    /// True if sessions get titles from a model. Default: if the configuration names a model for titles.
    #[serde(default)]
    pub titles: Option<bool>,
    /// The sharing of sessions through functions of the program. Without it no session is shared.
    #[serde(default)]
    pub share: Option<ShareOption>,
    /// True if functions of the program keep the values of credentials.
    #[serde(default)]
    pub credentials: bool,
    /// The applications of the program at providers, for sign-ins of users.
    #[serde(default)]
    pub oauth: BTreeMap<String, ProviderOAuthOption>,
    /// Time limits of providers.
    #[serde(default)]
    pub deadlines: DeadlineOptions,
    /// Limits on the work of sessions and of the host.
    #[serde(default)]
    pub budgets: BudgetsOption,
    /// Models for turns that their provider refuses, as `provider/model`, best first.
    #[serde(default)]
    pub fallback: Vec<String>,
}

/// The environment variables of processes of agents and clients.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CommandEnvironmentOptions {
    /// Names to omit, in addition to names of secrets.
    pub omit: Vec<String>,
    /// Names to keep in any case.
    pub keep: Vec<String>,
}

impl From<CommandEnvironmentOptions> for CommandEnvironment {
    fn from(CommandEnvironmentOptions { omit, keep }: CommandEnvironmentOptions) -> Self {
        Self { omit, keep }
    }
}

/// The decision about requests without an answer, and the rules that no other rule loosens.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PermissionOptions {
    /// The treatment of permissions and questions without an answer.
    pub unanswered: UnansweredOption,
    /// Rules that no other rule loosens, in either form of the configuration.
    pub ceiling: Option<Value>,
}

/// Trust in the files of projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustOption {
    /// Projects are untrusted.
    #[default]
    Never,
    /// All projects are trusted.
    Always,
    /// The program decides for each Location.
    Ask,
}

impl TrustOption {
    /// Converts the option. `questions` delivers questions to the program.
    pub(crate) fn with(self, questions: &Arc<TrustQuestions>) -> Trust {
        match self {
            Self::Never => Trust::Never,
            Self::Always => Trust::Always,
            Self::Ask => Trust::Asked(Arc::clone(questions) as Arc<dyn AskTrust>),
        }
    }
}

/// The treatment of permissions and questions without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UnansweredOption {
    /// They wait.
    #[default]
    Wait,
    /// They are refused at once.
    Deny,
    /// They are refused after this number of milliseconds.
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

/// The failures that committed data survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurabilityOption {
    /// The death of the process.
    #[default]
    Normal,
    /// The loss of power, too.
    Full,
}

/// The action at opening on sessions whose last activity was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryOption {
    /// They wait for a call of `resume`.
    #[default]
    Manual,
    /// The host resumes them.
    Resume,
}

/// The sessions that are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareOption {
    /// Those that a client shares.
    Manual,
    /// Also each session that no other session creates.
    Auto,
}

/// Limits of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LimitOptions {
    /// Admitted Prompts of one session that may wait.
    pub inbox: u64,
    /// Steers that one Safe Provider-Turn Boundary promotes at most. `None` is as many as `inbox`.
    pub steer_batch: Option<usize>,
    /// Levels of child sessions below a session that no task made.
    pub subagent_depth: usize,
    /// Tasks of one session that may run at the same time.
    pub subagents: usize,
    /// Tool calls of one answer that may run.
    pub tool_calls_per_turn: usize,
    /// Tool calls of one answer that may run at the same time.
    pub tool_calls_at_once: usize,
}

impl Default for LimitOptions {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            inbox: limits.inbox,
            steer_batch: None,
            subagent_depth: limits.subagent_depth,
            subagents: limits.subagents,
            tool_calls_per_turn: limits.tool_calls.per_turn,
            tool_calls_at_once: limits.tool_calls.at_once,
        }
    }
}

impl From<LimitOptions> for Limits {
    fn from(limits: LimitOptions) -> Self {
        Self {
            inbox: limits.inbox,
            steer_batch: limits
                .steer_batch
                .unwrap_or_else(|| usize::try_from(limits.inbox).unwrap_or(usize::MAX)),
            subagent_depth: limits.subagent_depth,
            subagents: limits.subagents,
            tool_calls: CallLimits {
                per_turn: limits.tool_calls_per_turn,
                at_once: limits.tool_calls_at_once.max(1),
            },
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

    /// Returns the servers of organisations.
    ///
    /// # Errors
    ///
    /// `InvalidOption` for an address or a header that cannot be used.
    pub(crate) fn remote_servers(&self) -> Result<Vec<RemoteServer>, Failure> {
        remote::servers(&self.remote_config)
    }

    /// Returns the applications of the program at providers.
    ///
    /// # Errors
    ///
    /// `InvalidOption` for a setting that cannot be used.
    pub(crate) fn provider_oauth(&self) -> Result<BTreeMap<String, ProviderOAuth>, Failure> {
        oauth::provider_oauth(self.oauth.clone())
    }

    /// Returns the machine and its configuration. Fails with the name of the invalid option.
    pub(crate) fn into_machine_configuration(self) -> Result<MachineConfiguration, Failure> {
        if let Some(config) = &self.config {
            check_config("config", config)?;
        }
        let timezone = self.timezone.as_ref().map(|it| Value::from(it.as_str()));
        let own = [("mcp", self.mcp.clone()), ("timezone", timezone)];
        let own = own
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let keys = Some(own.collect::<Map<_, _>>()).filter(|keys| !keys.is_empty());
        let keys = keys.map(Value::Object);
        if let Some(keys) = &keys {
            check_config("", keys)?;
        }
        let managed = self.managed_config_directory.as_ref();
        if managed.is_some_and(|directory| !directory.is_absolute()) {
            let (option, problem) = ("managedConfigDirectory", "must be an absolute path");
            return Err(invalid(option, format!("{option} {problem}")));
        }
        let model = self.host_model()?;
        let ceiling = self.ceiling()?;
        let environment = Environment {
            home: self.home,
            data: self.data_directory,
            config: self.config_directory,
            cache: self.cache_directory,
            variables: self.env,
        };
        let config = self.config;
        let configuration = HostConfiguration {
            config,
            keys,
            model,
            ceiling,
            managed: self.managed_config_directory,
            remote: RemoteDocuments::default(),
            command_environment: self.command_environment.into(),
        };
        Ok((environment, configuration))
    }

    fn ceiling(&self) -> Result<Vec<PermissionRule>, Failure> {
        let Some(rules) = &self.permissions.ceiling else {
            return Ok(Vec::new());
        };
        permission_rules(rules, "permissions.ceiling").map_err(|wrong| {
            let WrongRules { path, message } = wrong;
            invalid(&path, message)
        })
    }

    fn host_model(&self) -> Result<Option<HostModel>, Failure> {
        let Some(name) = &self.model else {
            let needing_model = [("apiKey", &self.api_key), ("baseURL", &self.base_url)];
            return match needing_model.into_iter().find(|(_, given)| given.is_some()) {
                Some((option, _)) => Err(invalid(
                    option,
                    format!(
                        "{option} needs the option model: it belongs to the model's provider, for example {{ model: {EXAMPLE}, {option}: ... }}"
                    ),
                )),
                None => Ok(None),
            };
        };
        let model = parse_model(name).ok_or_else(|| {
            invalid(
                "model",
                format!("model must be \"provider/model\", for example {EXAMPLE}"),
            )
        })?;
        let configured = self.config.as_ref().and_then(|config| config.get("model"));
        if configured.is_some_and(|configured| read_model(configured).as_ref() != Some(&model)) {
            let message = "model and config.model name different models; give one of them";
            return Err(invalid("model", message.to_owned()));
        }
        Ok(Some(HostModel {
            model,
            api_key: self.api_key.as_deref().map(api_key).transpose()?,
            base_url: self.base_url.as_deref().map(base_url).transpose()?,
        }))
    }
}

/// Returns the model that the option `config` names, in either form.
fn read_model(value: &Value) -> Option<ModelRef> {
    match value {
        Value::String(name) => parse_model(name),
        other => ModelRef::deserialize(other).ok(),
    }
}

const EXAMPLE: &str = "\"openai/gpt-4.1-mini\"";

/// Refuses a configuration with any problem: a host that configures `deny` must not run without it because of another
/// mistake. Names the first place and lists the others. `option` is the option with the document; it is empty if the
/// keys of the document are options.
fn check_config(option: &str, config: &Value) -> Result<(), Failure> {
    const MAX_LISTED: usize = 10;
    let problems = problems(config);
    let place = |path: &str| match (option, path) {
        (option, "") => option.to_owned(),
        ("", path) => path.to_owned(),
        (option, path) => format!("{option}.{path}"),
    };
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let lines = problems.iter().take(MAX_LISTED);
    let lines = lines.map(|it| format!("{} {}", place(&it.path), it.message));
    let mut message = lines.collect::<Vec<_>>().join("\n");
    if problems.len() > MAX_LISTED {
        message += &format!("\nand {} more", problems.len() - MAX_LISTED);
    }
    Err(invalid(&place(&first.path), message))
}

/// Checks that a header can carry the key. The failure does not repeat the key.
fn api_key(text: &str) -> Result<Secret, Failure> {
    if text.is_empty() || text.chars().any(char::is_control) {
        let message = "apiKey must be a non-empty string without line ends and control characters";
        return Err(invalid("apiKey", message.to_owned()));
    }
    Ok(Secret::new(text))
}

/// Checks the address of a server. The failure does not repeat the address, because it may contain a password.
fn base_url(text: &str) -> Result<BaseUrl, Failure> {
    let url = Url::parse(text).ok();
    if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https")) {
        let message = "baseURL must be an absolute http or https URL, for example \"https://api.openai.com/v1\"";
        return Err(invalid("baseURL", message.to_owned()));
    }
    Ok(BaseUrl(text.to_owned()))
}

fn invalid(option: &str, message: String) -> Failure {
    Failure::InvalidOption {
        option: option.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests;
