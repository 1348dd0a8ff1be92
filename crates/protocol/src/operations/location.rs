//! A Location, and what its configuration and its folders define.

use opencode_schema::agent::AgentInfo;
use opencode_schema::catalogue::{ModelInfo, ProviderInfo};
use opencode_schema::command::CommandInfo;
use opencode_schema::location::LocationInfo;
use opencode_schema::reference::ReferenceInfo;
use opencode_schema::skill::SkillInfo;

use crate::input::{LocationSelection, ProviderParams};
use crate::operation::operations;
use crate::output::{ConfigurationDiagnostic, Located};

operations! {
    /// Says which Location a request selects, and which project is around it.
    LocationGet = "v2.location.get" => "location.get" {
        Get "/api/location",
        query: LocationSelection,
        success: whole(LocationInfo),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the problems of the configuration of a Location. A wrong part has no effect; the rest has.
    LocationDiagnostics = "v2.location.diagnostics" => "location.diagnostics" {
        Get "/api/location/diagnostics",
        query: LocationSelection,
        success: whole(Located<Vec<ConfigurationDiagnostic>>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Reads the configuration of a Location again. A Provider Turn that is under way keeps the former one.
    LocationReload = "v2.location.reload" => "location.reload" {
        Post "/api/location/reload",
        query: LocationSelection,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// The agents, hidden ones included.
    AgentList = "v2.agent.list" => "agents.list" {
        Get "/api/agent",
        query: LocationSelection,
        success: whole(Located<Vec<AgentInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// The models, newest first. Secrets in them are replaced by `<redacted>`.
    ModelList = "v2.model.list" => "models.list" {
        Get "/api/model",
        query: LocationSelection,
        success: whole(Located<Vec<ModelInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// The providers of models. Secrets in them are replaced by `<redacted>`.
    ProviderList = "v2.provider.list" => "providers.list" {
        Get "/api/provider",
        query: LocationSelection,
        success: whole(Located<Vec<ProviderInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// One provider of models. Secrets in it are replaced by `<redacted>`.
    ProviderGet = "v2.provider.get" => "providers.get" {
        Get "/api/provider/{providerID}",
        params: ProviderParams,
        query: LocationSelection,
        success: whole(Located<ProviderInfo>),
        errors: [ProviderNotFound],
        middleware: [Authorization, Location],
    }

    /// The commands.
    CommandList = "v2.command.list" => "commands.list" {
        Get "/api/command",
        query: LocationSelection,
        success: whole(Located<Vec<CommandInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// The skills, as they are on disk now.
    SkillList = "v2.skill.list" => "skills.list" {
        Get "/api/skill",
        query: LocationSelection,
        success: whole(Located<Vec<SkillInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// The references.
    ReferenceList = "v2.reference.list" => "references.list" {
        Get "/api/reference",
        query: LocationSelection,
        success: whole(Located<Vec<ReferenceInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }
}
