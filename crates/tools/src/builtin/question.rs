//! The `question` tool: asks the user and waits for the answers.

use std::sync::Arc;

use opencode_schema::{
    message::ToolContent,
    question::{QuestionInfo, QuestionOption},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use crate::ports::question::Questions;

pub(super) struct Question;

#[derive(Deserialize, JsonSchema)]
pub(super) struct QuestionInput {
    #[schemars(description = "What to ask. The user sees all of it at once.")]
    questions: Vec<Prompt>,
}

/// A [`QuestionInfo`] without `custom`, with descriptions for the model.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "QuestionV2.Prompt")]
struct Prompt {
    #[schemars(description = "The whole question.")]
    question: String,
    #[schemars(description = "The same in a few words, 30 characters at most.")]
    header: String,
    #[schemars(description = "The answers to choose from.")]
    options: Vec<Choice>,
    multiple: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "QuestionV2.Option")]
struct Choice {
    #[schemars(description = "The answer, in one to five words.")]
    label: String,
    #[schemars(description = "What choosing it means.")]
    description: String,
}

impl From<Prompt> for QuestionInfo {
    fn from(prompt: Prompt) -> Self {
        let options = prompt.options.into_iter().map(|choice| QuestionOption {
            label: choice.label,
            description: choice.description,
        });
        Self {
            question: prompt.question,
            header: prompt.header,
            options: options.collect(),
            multiple: prompt.multiple,
            custom: None,
        }
    }
}

const REFUSED: &str = "Permission denied: question";

impl TypedTool for Question {
    type Input = QuestionInput;
    type Port = Arc<dyn Questions>;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: QuestionInput,
        context: ToolContext,
        user: Arc<dyn Questions>,
    ) -> Result<ToolOutput, ToolFailure> {
        let request = context.permission_request("question", vec!["*".to_owned()]);
        context.assert(request, REFUSED).await?;
        let questions: Vec<QuestionInfo> = input.questions.into_iter().map(Into::into).collect();
        let answers = user.ask(context.question_request(questions.clone()));
        let answers = answers.await.map_err(|error| error.into_failure(REFUSED))?;
        let answer_text = answers_for_model(&questions, &answers);
        let output = ToolOutput::encode(&json!({ "answers": answers }))?;
        Ok(output.with_content(vec![ToolContent::Text { text: answer_text }]))
    }
}

const DESCRIPTION: &str = "\
Ask the user, and wait for the answers.

Use it for decisions that only the user can make and that the work depends on: a preference, a choice \
between approaches, something that is missing. Do not ask what you can find out yourself.

Each question offers options. The user may also answer in other words, so offer no option such as \
\"Other\". Put the option you recommend first. Set `multiple` where more than one may be chosen. The \
answers come as lists of labels; the user may leave a question out.";

/// Returns the answers as the model reads them.
fn answers_for_model(questions: &[QuestionInfo], answers: &[Vec<String>]) -> String {
    let pairs = questions.iter().enumerate().map(|(place, question)| {
        let labels = answers.get(place).map(|labels| labels.join(", "));
        let labels = labels.filter(|labels| !labels.is_empty());
        let labels = labels.as_deref().unwrap_or("Unanswered");
        format!("\"{}\"=\"{labels}\"", question.question)
    });
    let pairs: Vec<_> = pairs.collect();
    format!(
        "User has answered your questions: {}. You can now continue with the user's answers in mind.",
        pairs.join(", ")
    )
}
