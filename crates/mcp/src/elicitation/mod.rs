//! Forms of servers as questions to users, and the answers as contents.

mod field;
#[cfg(test)]
mod tests;

use opencode_schema::question::{QuestionAnswer, QuestionInfo, QuestionOption};
use serde_json::{Map, Value};

use crate::limits::cut;
use field::Field;

/// Maximum length of the message of a form, in bytes.
const MAX_MESSAGE: usize = 4096;

/// Maximum number of fields.
const MAX_FIELDS: usize = 20;

/// The answers to a form without fields.
const CONTINUE: &str = "Continue";
const DECLINE: &str = "Decline";

/// A form of a server.
pub(crate) struct Form {
    message: String,
    fields: Vec<Field>,
}

/// The form has fields that cannot be asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unsupported;

impl Form {
    /// Reads the schema of a form: an object whose members are texts, numbers, decisions or choices.
    pub(crate) fn new(message: &str, schema: &Value) -> Result<Self, Unsupported> {
        let empty = Map::new();
        let properties = match schema.get("properties") {
            Some(Value::Object(properties)) => properties,
            None | Some(Value::Null) => &empty,
            Some(_) => return Err(Unsupported),
        };
        if properties.len() > MAX_FIELDS {
            return Err(Unsupported);
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let fields = properties
            .iter()
            .map(|(name, schema)| Field::new(name, schema, is_required(name)));
        Ok(Self {
            message: cut(message.to_owned(), MAX_MESSAGE),
            fields: fields.collect::<Option<_>>().ok_or(Unsupported)?,
        })
    }

    /// Returns the questions. The first one begins with the message of the form, and with the problem of the
    /// previous answers.
    pub(crate) fn questions(&self, problem: Option<&str>) -> Vec<QuestionInfo> {
        let mut questions: Vec<_> = self.fields.iter().map(Field::question).collect();
        if questions.is_empty() {
            questions.push(confirmation());
        }
        let parts = [problem.unwrap_or(""), &self.message, &questions[0].question];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        questions[0].question = parts.collect::<Vec<_>>().join("\n\n");
        questions
    }

    /// Returns the content for the answers, or `None` if the user declined.
    ///
    /// # Errors
    ///
    /// Fails with a message for the user if an answer is not valid.
    pub(crate) fn content(&self, answers: &[QuestionAnswer]) -> Result<Option<Value>, String> {
        if self.fields.is_empty() {
            let continues = answers.first().is_some_and(|it| it == &[CONTINUE]);
            return Ok(continues.then(|| Value::Object(Map::new())));
        }
        let mut content = Map::new();
        let none = Vec::new();
        for (index, field) in self.fields.iter().enumerate() {
            let answer = answers.get(index).unwrap_or(&none);
            if let Some(value) = field.value(answer)? {
                content.insert(field.name.clone(), value);
            }
        }
        Ok(Some(Value::Object(content)))
    }
}

fn confirmation() -> QuestionInfo {
    let option = |label: &str, description: &str| QuestionOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    QuestionInfo {
        question: String::new(),
        header: "Confirmation".to_owned(),
        options: vec![
            option(CONTINUE, "Let the server continue"),
            option(DECLINE, "Tell the server that you decline"),
        ],
        multiple: None,
        custom: Some(false),
    }
}
