//! The `question` tool: asks the user and waits for the answers.

use opencode_schema::{message::ToolContent, question::QuestionInfo};
use serde::Deserialize;
use serde_json::json;

use crate::contract::input::{Field, Object, Schema};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;

pub(super) struct Question;

#[derive(Deserialize)]
pub(super) struct Input {
    questions: Vec<QuestionInfo>,
}

const REFUSED: &str = "Permission denied: question";

impl TypedTool for Question {
    const INPUT: Object = Object {
        fields: &[Field::required(
            "questions",
            Schema::Array(&Schema::Named("QuestionV2.Prompt", &QUESTION)),
        )
        .describe("What to ask. The user sees all of it at once.")],
    };

    type Input = Input;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(&self, input: Input, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let request = context.permission_request("question", vec!["*".to_owned()]);
        context.assert(request, REFUSED).await?;
        let mut questions = input.questions;
        for question in &mut questions {
            // `custom` is not a parameter of the tool, so a value from the model is ignored.
            question.custom = None;
        }
        let answers = context.ask(questions.clone(), REFUSED).await?;
        let told = answers_for_model(&questions, &answers);
        let output = ToolOutput::encode(&json!({ "answers": answers }))?;
        Ok(output.with_content(vec![ToolContent::Text { text: told }]))
    }
}

const DESCRIPTION: &str = "\
Ask the user, and wait for the answers.

Use it for decisions that only the user can make and that the work depends on: a preference, a choice \
between approaches, something that is missing. Do not ask what you can find out yourself.

Each question offers options. The user may also answer in other words, so offer no option such as \
\"Other\". Put the option you recommend first. Set `multiple` where more than one may be chosen. The \
answers come as lists of labels; the user may leave a question out.";

const QUESTION: Object = Object {
    fields: &[
        Field::required("question", Schema::String).describe("The whole question."),
        Field::required("header", Schema::String)
            .describe("The same in a few words, 30 characters at most."),
        Field::required(
            "options",
            Schema::Array(&Schema::Named("QuestionV2.Option", &OPTION)),
        )
        .describe("The answers to choose from."),
        Field::optional("multiple", Schema::Boolean),
    ],
};

const OPTION: Object = Object {
    fields: &[
        Field::required("label", Schema::String).describe("The answer, in one to five words."),
        Field::required("description", Schema::String).describe("What choosing it means."),
    ],
};

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
