//! Prompts of servers as commands.
//!
//! A prompt has arguments, and only its server can write its text. So the host requests each prompt once with the
//! placeholders of commands (`$1`, `$2`) as arguments, and the answer is the template of the command.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use opencode_mcp::{PromptMessage, ServerPrompt, Servers};
use opencode_schema::command::CommandInfo;
use opencode_schema::message::ToolContent;
use parking_lot::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Number of prompts that are requested at the same time.
const CONCURRENT: usize = 8;

/// Maximum time of a request for a prompt. Without an answer, the prompt is left out.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Maximum size of a template, in bytes. Larger prompts are left out.
const MAX_TEMPLATE: usize = 256 * 1024;

/// The templates of prompts that were requested already.
#[derive(Default)]
pub(super) struct PromptTemplates {
    /// By the name of the command.
    known: Mutex<BTreeMap<String, KnownTemplate>>,
}

/// The template of a prompt.
struct KnownTemplate {
    /// The prompt. A changed prompt is another value.
    prompt: Arc<ServerPrompt>,
    template: String,
}

impl PromptTemplates {
    /// Returns the commands, in the order of the prompts. A prompt whose text the server refuses is left out.
    pub(super) async fn commands(&self, servers: &Servers) -> Vec<CommandInfo> {
        let prompts = servers.prompts();
        let numbered = prompts.clone().into_iter().enumerate();
        let mut commands: Vec<_> = futures::stream::iter(numbered)
            .map(|(at, prompt)| async move {
                let template = self.template(servers, &prompt).await;
                template.map(|template| (at, command(&prompt, template)))
            })
            .buffer_unordered(CONCURRENT)
            .filter_map(futures::future::ready)
            .collect()
            .await;
        commands.sort_unstable_by_key(|(at, _)| *at);
        self.forget_others(&prompts);
        commands.into_iter().map(|(_, command)| command).collect()
    }

    async fn template(&self, servers: &Servers, prompt: &Arc<ServerPrompt>) -> Option<String> {
        if let Some(known) = self.known.lock().get(&prompt.name)
            && Arc::ptr_eq(&known.prompt, prompt)
        {
            return Some(known.template.clone());
        }
        // A failure is not kept, because the server may be back at the next request.
        let template = timeout(MAX_WAIT, request(servers, prompt)).await.ok()??;
        let known = KnownTemplate {
            prompt: Arc::clone(prompt),
            template: template.clone(),
        };
        self.known.lock().insert(prompt.name.clone(), known);
        Some(template)
    }

    /// Forgets prompts that no server offers any more.
    fn forget_others(&self, prompts: &[Arc<ServerPrompt>]) {
        let mut known = self.known.lock();
        known.retain(|_, known| prompts.iter().any(|it| Arc::ptr_eq(it, &known.prompt)));
    }
}

async fn request(servers: &Servers, prompt: &ServerPrompt) -> Option<String> {
    let arguments = prompt.arguments.iter().enumerate();
    let arguments = arguments.map(|(at, argument)| (argument.name.clone(), format!("${}", at + 1)));
    let (arguments, cancel) = (arguments.collect(), CancellationToken::new());
    let (server, name) = (&prompt.server, &prompt.prompt);
    let requested = servers.get_prompt(server, name, &arguments, &cancel);
    let messages = requested.await.inspect_err(|error| {
        tracing::warn!(server, prompt = name, %error, "a prompt of an MCP server is no command");
    });
    let texts = messages.ok()?.into_iter().filter_map(text);
    let template = texts.collect::<Vec<_>>().join("\n\n");
    (template.len() <= MAX_TEMPLATE).then_some(template)
}

/// Returns the text of a message. A command is text, so other content is omitted.
fn text(message: PromptMessage) -> Option<String> {
    match message.content {
        ToolContent::Text { text } => Some(text),
        ToolContent::File { .. } => None,
    }
}

fn command(prompt: &ServerPrompt, template: String) -> CommandInfo {
    CommandInfo {
        name: prompt.name.clone(),
        template,
        description: prompt.description.clone(),
        agent: None,
        model: None,
        subtask: None,
    }
}
