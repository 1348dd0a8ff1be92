//! The tools that read the resources of servers. They exist while a server offers resources.

use std::sync::Arc;

use opencode_location::secret::Redactor;
use opencode_mcp::{CallError, ResourceContent, ResourceData, Servers};
use opencode_schema::message::ToolContent;
use opencode_tools::{PermissionRequest, Tool, ToolContext, ToolFailure, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The name of the tool that reads a resource, and the action of its permission.
pub(crate) const READ: &str = "read_mcp_resource";

/// Returns the tools with their names.
pub(super) fn resource_tools(
    servers: &Arc<Servers>,
    secrets: &Redactor,
) -> Vec<(String, Arc<dyn Tool>)> {
    let list = ListResources(Arc::clone(servers));
    let templates = ListTemplates(Arc::clone(servers));
    let read = ReadResource {
        servers: Arc::clone(servers),
        secrets: secrets.clone(),
    };
    vec![
        ("list_mcp_resources".to_owned(), list.into_tool()),
        (
            "list_mcp_resource_templates".to_owned(),
            templates.into_tool(),
        ),
        (READ.to_owned(), read.into_tool()),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct ListInput {
    /// The server.
    #[schemars(description = "Only the resources of this server. Default: of all servers.")]
    server: Option<String>,
}

struct ListResources(Arc<Servers>);

impl TypedTool for ListResources {
    type Input = ListInput;
    type Port = ();

    fn description(&self) -> String {
        "Lists the resources of the connected servers of the Model Context Protocol, such as files, records or pages: server, URI, name and description of each. Read one with read_mcp_resource.".to_owned()
    }

    async fn run(
        &self,
        input: ListInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        allow(&context, "list_mcp_resources", "*".to_owned()).await?;
        let resources = self.0.resources(&context.cancel).await;
        let resources = resources.into_iter().filter(|it| input.is_of(&it.server));
        let listed = resources.map(|it| {
            json!({
                "server": it.server, "uri": it.uri, "name": it.name,
                "description": it.description, "mimeType": it.mime,
            })
        });
        Ok(listing("resources", listed.collect()))
    }
}

impl ListInput {
    fn is_of(&self, server: &str) -> bool {
        self.server.as_deref().is_none_or(|named| named == server)
    }
}

struct ListTemplates(Arc<Servers>);

impl TypedTool for ListTemplates {
    type Input = ListInput;
    type Port = ();

    fn description(&self) -> String {
        "Lists the URI templates of resources of the connected servers of the Model Context Protocol. Fill in the variables of a template, and read the resource with read_mcp_resource.".to_owned()
    }

    async fn run(
        &self,
        input: ListInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        allow(&context, "list_mcp_resource_templates", "*".to_owned()).await?;
        let templates = self.0.resource_templates(&context.cancel).await;
        let templates = templates.into_iter().filter(|it| input.is_of(&it.server));
        let listed = templates.map(|it| {
            json!({
                "server": it.server, "uriTemplate": it.uri_template, "name": it.name,
                "description": it.description, "mimeType": it.mime,
            })
        });
        Ok(listing("templates", listed.collect()))
    }
}

fn listing(name: &str, items: Vec<Value>) -> ToolOutput {
    ToolOutput {
        structured: json!({ name: items }),
        ..ToolOutput::default()
    }
}

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// The server.
    #[schemars(description = "The server of the resource.")]
    server: String,
    /// The URI.
    #[schemars(description = "The URI of the resource, as the server lists it.")]
    uri: String,
}

struct ReadResource {
    servers: Arc<Servers>,
    secrets: Redactor,
}

impl TypedTool for ReadResource {
    type Input = ReadInput;
    type Port = ();

    fn description(&self) -> String {
        "Reads a resource of a connected server of the Model Context Protocol. list_mcp_resources lists the resources.".to_owned()
    }

    async fn run(
        &self,
        input: ReadInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        let ReadInput { server, uri } = input;
        allow(&context, READ, resource(&server, &uri)).await?;
        let reading = self.servers.read_resource(&server, &uri, &context.cancel);
        let content = reading
            .await
            .map_err(|error| failure(error, &self.secrets))?;
        Ok(ToolOutput {
            structured: json!({"server": server, "uri": uri}),
            content: clean(content.into_iter().map(part).collect(), &self.secrets),
            ..ToolOutput::default()
        })
    }
}

/// Returns a part of a resource in the form for models.
fn part(content: ResourceContent) -> ToolContent {
    match content.data {
        ResourceData::Text(text) => ToolContent::Text { text },
        ResourceData::Blob(data) => ToolContent::File {
            uri: format!("data:{};base64,{data}", content.mime),
            mime: content.mime,
            name: Some(content.uri),
        },
    }
}

/// Returns the failure of a request to a server.
pub(super) fn failure(error: CallError, secrets: &Redactor) -> ToolFailure {
    match error {
        CallError::Interrupted => ToolFailure::Interrupted,
        CallError::Failed(mut message) => {
            secrets.clean(&mut message);
            ToolFailure::new(message)
        }
    }
}

/// Returns the resource of a permission request.
pub(super) fn resource(server: &str, uri: &str) -> String {
    format!("{server}:{uri}")
}

/// Removes secrets from texts.
pub(super) fn clean(mut content: Vec<ToolContent>, secrets: &Redactor) -> Vec<ToolContent> {
    for part in &mut content {
        if let ToolContent::Text { text } = part {
            secrets.clean(text);
        }
    }
    content
}

async fn allow(context: &ToolContext, action: &str, resource: String) -> Result<(), ToolFailure> {
    let request = PermissionRequest {
        save: vec!["*".to_owned()],
        ..context.permission_request(action, vec![resource])
    };
    let refused = format!("{action} is not permitted");
    context.assert(request, &refused).await
}
