//! A Location, and the definitions in its configuration and its folders.

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
    /// Returns the Location that the request selects, and its project.
    LocationGet = "v2.location.get" => "location.get" {
        Get "/api/location",
        query: LocationSelection,
        success: whole(LocationInfo),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the problems of the configuration of a Location. Only the wrong parts have no effect.
    LocationDiagnostics = "v2.location.diagnostics" => "location.diagnostics" {
        Get "/api/location/diagnostics",
        query: LocationSelection,
        success: whole(Located<Vec<ConfigurationDiagnostic>>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Reads the configuration of a Location again. A running Provider Turn keeps the previous configuration.
    LocationReload = "v2.location.reload" => "location.reload" {
        Post "/api/location/reload",
        query: LocationSelection,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Lists the agents, including hidden agents.
    AgentList = "v2.agent.list" => "agents.list" {
        Get "/api/agent",
        query: LocationSelection,
        success: whole(Located<Vec<AgentInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the models, newest first. `<redacted>` replaces secrets.
    ModelList = "v2.model.list" => "models.list" {
        Get "/api/model",
        query: LocationSelection,
        success: whole(Located<Vec<ModelInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the providers of models. `<redacted>` replaces secrets.
    ProviderList = "v2.provider.list" => "providers.list" {
        Get "/api/provider",
        query: LocationSelection,
        success: whole(Located<Vec<ProviderInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Returns a provider of models. `<redacted>` replaces secrets.
    ProviderGet = "v2.provider.get" => "providers.get" {
        Get "/api/provider/{providerID}",
        params: ProviderParams,
        query: LocationSelection,
        success: whole(Located<ProviderInfo>),
        errors: [ProviderNotFound],
        middleware: [Authorization, Location],
    }

    /// Lists the commands.
    CommandList = "v2.command.list" => "commands.list" {
        Get "/api/command",
        query: LocationSelection,
        success: whole(Located<Vec<CommandInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the skills that are on the disk now.
    SkillList = "v2.skill.list" => "skills.list" {
        Get "/api/skill",
        query: LocationSelection,
        success: whole(Located<Vec<SkillInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Lists the references.
    ReferenceList = "v2.reference.list" => "references.list" {
        Get "/api/reference",
        query: LocationSelection,
        success: whole(Located<Vec<ReferenceInfo>>),
        errors: [],
        middleware: [Authorization, Location],
    }
}
