//! The JSON Schema of the input of a tool.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::canonical::model::ToolSchema;

/// The JSON Schema of the input of a tool.
///
/// Protocols send other forms of it, which take longer to make than the rest of a request. A form is made once. Clones
/// share the schema and its forms, so a tool of many sessions has each form once.
#[derive(Clone)]
pub struct InputSchema(Arc<Shared>);

struct Shared {
    schema: Value,
    /// At most one of each kind. Locked to find and to add a form, not while one is made.
    forms: Mutex<Vec<(SchemaForm, Arc<Value>)>>,
}

/// A kind of form. Only the schema and the kind decide about a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaForm {
    /// The normal form, of which all others are made.
    Normal,
    /// The form for the protocols of OpenAI.
    OpenAi(ToolSchema),
    /// The form for Anthropic and Bedrock.
    Anthropic(ToolSchema),
    /// The form for Gemini.
    Gemini,
    /// The form for a model of the program.
    Program(ToolSchema),
}

impl InputSchema {
    /// Returns a form. Only the first call for a kind makes one.
    pub fn form(&self, kind: SchemaForm, make: impl FnOnce() -> Value) -> Arc<Value> {
        if let Some(known) = self.known(kind) {
            return known;
        }
        let made = Arc::new(make());
        let mut forms = self.0.forms.lock();
        // Another thread may have added it since.
        if let Some((_, known)) = forms.iter().find(|(it, _)| *it == kind) {
            return Arc::clone(known);
        }
        forms.push((kind, Arc::clone(&made)));
        made
    }

    fn known(&self, kind: SchemaForm) -> Option<Arc<Value>> {
        let forms = self.0.forms.lock();
        let known = forms.iter().find(|(it, _)| *it == kind);
        known.map(|(_, form)| Arc::clone(form))
    }
}

impl From<Value> for InputSchema {
    fn from(schema: Value) -> Self {
        Self(Arc::new(Shared {
            schema,
            forms: Mutex::default(),
        }))
    }
}

impl Deref for InputSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.schema
    }
}

impl PartialEq for InputSchema {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl Serialize for InputSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_form_is_made_once_for_all_clones() {
        let schema = InputSchema::from(json!({}));
        let clone = schema.clone();
        let gemini = schema.form(SchemaForm::Gemini, || json!(1));
        let again = clone.form(SchemaForm::Gemini, || json!(2));
        assert!(Arc::ptr_eq(&gemini, &again));
        for (kind, value) in [
            (SchemaForm::OpenAi(ToolSchema::Standard), json!(3)),
            (SchemaForm::OpenAi(ToolSchema::Gemini), json!(4)),
            (SchemaForm::Anthropic(ToolSchema::Standard), json!(5)),
        ] {
            assert_eq!(*clone.form(kind, || value.clone()), value);
        }
        let equal = InputSchema::from(json!({}));
        assert_eq!(schema, equal);
        assert_eq!(*equal.form(SchemaForm::Gemini, || json!(6)), json!(6));
    }
}
