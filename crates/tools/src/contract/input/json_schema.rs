//! Converts parameters to the JSON Schema for a provider.

use serde_json::{Map, Value, json};

use super::{Object, Schema};

impl Object {
    /// Returns the schema of a whole input, with the definitions that it references.
    #[must_use]
    pub fn json_schema(&self) -> Value {
        let mut definitions = Map::new();
        let mut schema = self.body(&mut definitions);
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        schema
    }

    fn body(&self, definitions: &mut Map<String, Value>) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in self.fields {
            let mut property = field.schema.body(definitions);
            if let Some(description) = field.description {
                property["description"] = description.into();
            }
            properties.insert(field.name.to_owned(), property);
            if field.required {
                required.push(field.name);
            }
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

impl Schema {
    fn body(&self, definitions: &mut Map<String, Value>) -> Value {
        match self {
            Self::String => json!({"type": "string"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::PositiveInteger { maximum } => positive("integer", *maximum),
            Self::PositiveNumber { maximum } => positive("number", Some(*maximum)),
            Self::OneOf(texts) => json!({"type": "string", "enum": texts}),
            Self::Array(items) => json!({"type": "array", "items": items.body(definitions)}),
            Self::Named(name, named) => {
                if !definitions.contains_key(*name) {
                    let body = named.body(definitions);
                    definitions.insert((*name).to_owned(), body);
                }
                json!({"$ref": format!("#/$defs/{name}")})
            }
        }
    }
}

fn positive(kind: &str, maximum: Option<u32>) -> Value {
    let mut bounds = vec![json!({"exclusiveMinimum": 0})];
    bounds.extend(maximum.map(|maximum| json!({"maximum": maximum})));
    json!({"type": kind, "allOf": bounds})
}
