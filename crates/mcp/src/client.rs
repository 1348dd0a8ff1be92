//! The answers of the host to requests of a server.

#![expect(deprecated, reason = "the versions of the protocol in use have roots")]

use std::path::Path;
use std::sync::Arc;

use opencode_schema::display::DisplayText;
use opencode_schema::question::QuestionInfo;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, ErrorData,
    FormElicitationCapability, Implementation, ListRootsResult, ProtocolVersion, Root,
    RootsCapabilities,
};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::Value;
use tokio::sync::Semaphore;
use url::Url;

use crate::call::{Ask, AskRefused};
use crate::elicitation::Form;
use crate::link::Link;

/// Maximum number of attempts of a user to give valid answers.
const MAX_ATTEMPTS: usize = 3;

/// The answers of the host to requests of a server. A request for the model of the host is refused, because
/// the host does not offer it.
pub(crate) struct Client {
    link: Arc<Link>,
    root: Option<Root>,
    /// One question after the other.
    asking: Semaphore,
}

impl Client {
    /// Creates a client whose only root is a directory.
    pub(crate) fn new(link: &Arc<Link>, directory: &Path) -> Self {
        Self {
            link: Arc::clone(link),
            root: Url::from_directory_path(directory).ok().map(root),
            asking: Semaphore::new(1),
        }
    }

    /// Puts a form to the user of the call that the server works on.
    async fn elicit(&self, message: String, schema: Value) -> ElicitResult {
        let cancel = || ElicitResult::new(ElicitationAction::Cancel);
        let Ok(form) = Form::new(&message, &schema) else {
            self.link.log.line("a form of the server cannot be shown");
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let Ok(_turn) = self.asking.acquire().await else {
            return cancel();
        };
        let Some(call) = self.link.asking_call() else {
            return cancel();
        };
        let Some(port) = call.ask() else {
            return cancel();
        };
        let Some(_pause) = call.pause() else {
            return cancel();
        };
        tokio::select! {
            result = fill(&form, self.link.log.server(), &*port) => result,
            () = call.over() => cancel(),
            _ = self.link.ended() => cancel(),
        }
    }
}

/// Asks the questions of a form until the answers are valid.
async fn fill(form: &Form, server: &str, port: &dyn Ask) -> ElicitResult {
    let mut problem = None;
    for _ in 0..MAX_ATTEMPTS {
        match port
            .ask(named(server, form.questions(problem.as_deref())))
            .await
        {
            Ok(answers) => match form.content(&answers) {
                Ok(Some(content)) => {
                    return ElicitResult::new(ElicitationAction::Accept).with_content(content);
                }
                Ok(None) => return ElicitResult::new(ElicitationAction::Decline),
                Err(mistake) => problem = Some(mistake),
            },
            Err(AskRefused::Declined) => return ElicitResult::new(ElicitationAction::Decline),
            Err(AskRefused::Unavailable) => break,
        }
    }
    ElicitResult::new(ElicitationAction::Cancel)
}

/// Says which server asks. The server chooses the other words.
fn named(server: &str, questions: Vec<QuestionInfo>) -> Vec<QuestionInfo> {
    let server = DisplayText::line(server);
    let named = questions.into_iter().map(|asked| QuestionInfo {
        question: format!("The MCP server {server} asks: {}", asked.question),
        ..asked
    });
    named.collect()
}

fn root(mut url: Url) -> Root {
    // A directory is named without the last slash, unless it is the root of a file system.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty();
    }
    Root::new(url.as_str())
}

fn capabilities() -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    capabilities.roots = Some(RootsCapabilities::default());
    let form = FormElicitationCapability::default();
    capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
    capabilities
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let implementation = Implementation::new("opencode", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities(), implementation)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(self.root.iter().cloned().collect()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let schema = serde_json::to_value(requested_schema)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        tokio::select! {
            result = self.elicit(message, schema) => Ok(result),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        // Requests of known methods with wrong parameters arrive here, too.
        let code = match request.method.as_str() {
            "elicitation/create" | "roots/list" | "ping" => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::METHOD_NOT_FOUND,
        };
        Err(ErrorData::new(
            code,
            "the host does not accept this request",
            None,
        ))
    }
}
