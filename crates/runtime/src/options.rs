//! Options and services of a runtime.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_llm::{ModelClient, RetryPolicy};
use opencode_location::location::Locations;
use opencode_net::Fetch;
use opencode_net::HttpClients;
use opencode_schema::clock::Clock;
use opencode_schema::id::IdSource;
use opencode_schema::model::ModelRef;
use opencode_store::{DatabasePath, Durability, TestHook};
use opencode_tools::Registry;

use crate::asks::unanswered::Unanswered;
use crate::budgets::BudgetOptions;
use crate::hooks::Hooks;
use crate::integrations::{CredentialValues, ProviderOAuth};
use crate::limits::Limits;
use crate::recovery::Recovery;
use crate::sharing::ShareService;
use crate::terminals::AskEnvironment;
use crate::timer::Timer;

/// Options and services of a runtime.
pub struct RuntimeOptions {
    /// The path of the database.
    pub database: DatabasePath,
    /// The failures that committed data survives.
    pub durability: Durability,
    /// The default directory of sessions and requests without a directory; absolute.
    pub directory: String,
    /// Locations.
    pub locations: Arc<Locations>,
    /// Tools.
    pub tools: Arc<Registry>,
    /// The treatment of permissions and questions without an answer.
    pub unanswered: Unanswered,
    /// Measures the waiting time of those requests.
    pub timer: Arc<dyn Timer>,
    /// Answers model requests.
    pub model: Arc<dyn ModelClient>,
    /// Time that a Provider Turn waits for a provider that temporarily refuses its request.
    pub retry: RetryPolicy,
    /// Fetches the instructions that the configuration names by their address.
    pub fetch: Arc<dyn Fetch>,
    /// HTTP clients for MCP servers and their authorization servers.
    pub http: HttpClients,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Identifiers.
    pub ids: Arc<IdSource>,
    /// Limits on the input of a session.
    pub limits: Limits,
    /// True if the model is reminded that its agent plans, and that prompts arrived during its work.
    pub reminders: bool,
    /// Changes prompts, requests and summaries.
    pub hooks: Arc<dyn Hooks>,
    /// Gives variables to terminals.
    pub pty_environment: Arc<dyn AskEnvironment>,
    /// Action on sessions whose last activity was cut off.
    pub recovery: Recovery,
    /// True if the list of models may be downloaded.
    pub refresh_models: bool,
    /// True if sessions get titles from the agent `title`. Default: if the configuration names a model for them.
    pub titles: Option<bool>,
    /// Limits on the work of sessions and of the host.
    pub budgets: BudgetOptions,
    /// Models for turns that their provider refuses before any output, best first.
    pub fallback: Vec<ModelRef>,
    /// Keeps the values of credentials. Without it they are in the database.
    pub credentials: Option<Arc<dyn CredentialValues>>,
    /// OAuth of providers, by provider.
    pub provider_oauth: BTreeMap<String, ProviderOAuth>,
    /// Keeps shared copies of sessions. Without it no session is shared.
    pub share: Option<ShareService>,
    /// Observes accesses to the database and injects faults; for tests only.
    pub test_hook: Option<Arc<dyn TestHook>>,
}
