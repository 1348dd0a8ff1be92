//! Compiles JSON Schema to the types of the IR.
//!
//! Only the keywords that our own types produce are supported. Other keywords are refused: without them, the IR would
//! be less strict than the wire.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::forms::{
    doc, is_reference, number, one_of, pascal_case, prefixed, string, text, undocumented,
    without_null,
};
use super::{ContractError, Definition, Field, TAG_KEY, Type, Variant};

/// Members that may distinguish the variants of a union.
const DISCRIMINATORS: &[&str] = &["type", "status", TAG_KEY];

/// All supported keywords. `format` and `default` are hints without effect.
const KEYWORDS: &[&str] = &[
    "$ref",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "anyOf",
    "oneOf",
    "additionalProperties",
    "patternProperties",
    "description",
    "title",
    "format",
    "default",
    "x-extension",
];

/// The schema of items without a description.
static ANYTHING: Value = Value::Bool(true);

pub(super) type Result<T> = std::result::Result<T, ContractError>;
type Types = BTreeMap<String, Definition>;

/// Compiles the types of one direction: sent or received.
pub(super) struct Compiler<'a> {
    /// The schemas of named types.
    schemas: &'a Map<String, Value>,
    /// The compiled types.
    types: Types,
    /// Types being compiled, which may refer to themselves.
    open: BTreeSet<&'a str>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(schemas: &'a Map<String, Value>) -> Self {
        Self {
            schemas,
            types: Types::new(),
            open: BTreeSet::new(),
        }
    }

    /// The named types that were found so far.
    pub(super) fn into_types(self) -> Types {
        self.types
    }

    /// Resolves a reference. Returns any other type unchanged.
    pub(super) fn resolve<'t>(&'t self, r#type: &'t Type) -> &'t Type {
        match r#type {
            Type::Ref { name } => self.types.get(name).map_or(r#type, |found| &found.r#type),
            other => other,
        }
    }

    /// Returns the members of a schema. Fails if the schema is not an object.
    pub(super) fn fields(&mut self, at: &str, schema: &'a Value) -> Result<Vec<Field>> {
        let schema = self.target(schema).unwrap_or(schema);
        match self.schema(at, schema)? {
            Type::Object { fields } => Ok(fields),
            _ => Err(error(at, "must be an object with declared members")),
        }
    }

    /// Returns the type of a schema.
    pub(super) fn schema(&mut self, at: &str, schema: &'a Value) -> Result<Type> {
        self.schema_of(at, None, schema)
    }

    /// Returns the type of a schema that is the definition of the named type.
    fn schema_of(&mut self, at: &str, name: Option<&str>, schema: &'a Value) -> Result<Type> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(Type::Unknown),
            Value::Object(keywords) => keywords,
            _ => return Err(error(at, "is a schema that nothing fits")),
        };
        if let Some(other) = keywords
            .keys()
            .find(|key| !KEYWORDS.contains(&key.as_str()))
        {
            return Err(error(
                at,
                &format!("has a keyword without meaning here: {other}"),
            ));
        }
        if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
            return if keywords.contains_key("properties") {
                self.extended(at, keywords, schema)
            } else {
                self.named(at, target.rsplit('/').next().unwrap_or_default())
            };
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(variants)) = keywords.get(key) {
                if keywords.contains_key("type") || keywords.contains_key("properties") {
                    return Err(error(at, "mixes alternatives with what they share"));
                }
                return self.union(at, name, variants);
            }
        }
        if let Some(value) = keywords.get("const") {
            return Ok(Type::Literal {
                value: value.clone(),
            });
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            let literal = |value: &Value| Type::Literal {
                value: value.clone(),
            };
            return Ok(one_of(
                values.iter().map(literal).map(undocumented).collect(),
            ));
        }
        self.plain(at, keywords)
    }

    /// Returns the type that `type` describes, or a union of such types.
    fn plain(&mut self, at: &str, keywords: &'a Map<String, Value>) -> Result<Type> {
        match keywords.get("type") {
            None => Ok(Type::Unknown),
            Some(Value::String(name)) => self.kind(at, name, keywords),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                let types = names.map(|name| self.kind(at, name, keywords));
                let types = types.collect::<Result<Vec<_>>>()?;
                Ok(one_of(types.into_iter().map(undocumented).collect()))
            }
            Some(_) => Err(error(at, "has a malformed type")),
        }
    }

    fn kind(&mut self, at: &str, name: &str, keywords: &'a Map<String, Value>) -> Result<Type> {
        match name {
            "null" => Ok(Type::Null),
            "boolean" => Ok(Type::Boolean),
            "string" => string(at, keywords),
            "integer" | "number" => Ok(number(name == "integer", keywords)),
            "array" => {
                let items = keywords.get("items").unwrap_or(&ANYTHING);
                let items = Box::new(self.schema(&format!("{at}[]"), items)?);
                Ok(Type::Array { items })
            }
            "object" => self.object(at, keywords),
            other => Err(error(at, &format!("has the unknown type {other}"))),
        }
    }

    fn object(&mut self, at: &str, keywords: &'a Map<String, Value>) -> Result<Type> {
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let others = keywords.get("additionalProperties");
        let properties = keywords.get("properties").and_then(Value::as_object);
        let (keys, values) = match (properties, patterns, others) {
            (None, Some(patterns), _) if patterns.len() == 1 => {
                let (pattern, values) = patterns.iter().next().expect("there is one");
                (prefixed(at, pattern)?, values)
            }
            (None, None, Some(values)) if *values != Value::Bool(false) => (text(), values),
            (_, None, None | Some(Value::Bool(_))) => {
                let fields = properties.into_iter().flatten();
                let fields = fields.map(|(name, schema)| self.field(at, name, schema, keywords));
                let fields = fields.collect::<Result<_>>()?;
                return Ok(Type::Object { fields });
            }
            _ => return Err(error(at, "mixes declared members with others")),
        };
        Ok(Type::Record {
            keys: Box::new(keys),
            values: Box::new(self.schema(&format!("{at}[*]"), values)?),
        })
    }

    fn field(
        &mut self,
        at: &str,
        name: &str,
        schema: &'a Value,
        object: &Map<String, Value>,
    ) -> Result<Field> {
        let required = object.get("required").and_then(Value::as_array);
        let required = required.is_some_and(|names| names.iter().any(|other| other == name));
        let r#type = self.schema(&format!("{at}.{name}"), schema)?;
        Ok(Field {
            name: name.to_owned(),
            required,
            doc: doc(schema),
            r#type: if required {
                r#type
            } else {
                without_null(r#type)
            },
        })
    }

    /// Returns an object with its own members before those of the referenced type. Tagged variants of named types have
    /// this form.
    fn extended(
        &mut self,
        at: &str,
        keywords: &'a Map<String, Value>,
        schema: &'a Value,
    ) -> Result<Type> {
        let Type::Object { mut fields } = self.object(at, keywords)? else {
            return Err(error(
                at,
                "extends a type with something that has no members",
            ));
        };
        let target = self
            .target(schema)
            .ok_or_else(|| error(at, "refers to nothing"))?;
        fields.extend(self.fields(at, target)?);
        Ok(Type::Object { fields })
    }

    /// Returns a reference, or the type itself if it is a literal that explains itself.
    fn named(&mut self, at: &str, name: &str) -> Result<Type> {
        let schemas = self.schemas;
        let (name, schema) = schemas
            .get_key_value(name)
            .ok_or_else(|| error(at, &format!("refers to {name}, which is not declared")))?;
        if !self.types.contains_key(name) && self.open.insert(name) {
            let r#type = self.schema_of(name, Some(name), schema)?;
            self.open.remove(name.as_str());
            if matches!(r#type, Type::Literal { .. }) {
                return Ok(r#type);
            }
            self.define(name, schema, r#type)?;
        }
        Ok(Type::Ref { name: name.clone() })
    }

    fn define(&mut self, name: &str, schema: &Value, r#type: Type) -> Result<()> {
        let definition = Definition {
            doc: doc(schema),
            extension: schema["x-extension"] == true,
            r#type,
        };
        if let Some(other) = self.types.get(name).filter(|other| **other != definition) {
            return Err(error(
                name,
                &format!("is two different types, one of them: {}", other.doc),
            ));
        }
        self.types.insert(name.to_owned(), definition);
        Ok(())
    }

    fn union(&mut self, at: &str, name: Option<&str>, variants: &'a [Value]) -> Result<Type> {
        let objects: Vec<&Value> = variants.iter().filter(|one| self.is_object(one)).collect();
        let discriminator = (objects.len() > 1).then(|| self.discriminator(at, &objects));
        let discriminator = discriminator.transpose()?;
        let mut compiled = Vec::with_capacity(variants.len());
        for variant in variants {
            let is_inline = self.is_object(variant) && !is_reference(variant);
            compiled.push(match discriminator {
                Some(key) if is_inline => self.variant(at, name, key, variant)?,
                _ => Variant {
                    doc: doc(variant),
                    r#type: self.schema(at, variant)?,
                },
            });
        }
        match one_of(compiled) {
            Type::Union { variants, .. } => Ok(Type::Union {
                discriminator: discriminator.map(str::to_owned),
                variants,
            }),
            only => Ok(only),
        }
    }

    /// Returns a name for an unnamed variant of a named union, from the names of both.
    fn variant(
        &mut self,
        at: &str,
        union: Option<&str>,
        key: &str,
        schema: &'a Value,
    ) -> Result<Variant> {
        let union = union.ok_or_else(|| error(at, "is a union of objects without a name"))?;
        let tag = self.literal(schema, key).and_then(Value::as_str);
        let tag = tag.ok_or_else(|| error(at, "has a variant whose tag is no text"))?;
        let name = if key == TAG_KEY {
            tag.to_owned()
        } else {
            format!("{union}{}", pascal_case(tag))
        };
        let r#type = self.schema(&name, schema)?;
        self.define(&name, schema, r#type)?;
        Ok(undocumented(Type::Ref { name }))
    }

    fn discriminator(&self, at: &str, objects: &[&Value]) -> Result<&'static str> {
        let tells_apart = |key: &&&str| {
            let literals = objects.iter().map(|schema| self.literal(schema, key));
            let literals: Option<BTreeSet<String>> =
                literals.map(|literal| Some(literal?.to_string())).collect();
            literals.is_some_and(|literals| literals.len() == objects.len())
        };
        let found = DISCRIMINATORS.iter().find(tells_apart);
        found
            .copied()
            .ok_or_else(|| error(at, "is a union whose variants nothing tells apart"))
    }

    /// Returns the literal value of a required member of an object.
    fn literal<'s>(&'s self, schema: &'s Value, key: &str) -> Option<&'s Value> {
        let of = |schema: &'s Value| schema.get("properties")?.get(key);
        let member = of(schema).or_else(|| of(self.target(schema)?))?;
        let member = self.target(member).unwrap_or(member);
        match member.get("oneOf").and_then(Value::as_array) {
            Some(one) if one.len() == 1 => one[0].get("const"),
            _ => member.get("const"),
        }
    }

    fn is_object(&self, schema: &Value) -> bool {
        let is = |schema: &Value| {
            let variants = schema.get("oneOf").and_then(Value::as_array);
            schema["type"] == "object"
                || variants
                    .is_some_and(|variants| variants.iter().all(|one| one["type"] == "object"))
        };
        is(self.target(schema).unwrap_or(schema))
    }

    fn target<'s>(&'s self, schema: &'s Value) -> Option<&'a Value> {
        let name = schema.get("$ref")?.as_str()?.rsplit('/').next()?;
        self.schemas.get(name)
    }
}

pub(super) fn error(at: &str, problem: &str) -> ContractError {
    ContractError {
        at: at.to_owned(),
        problem: problem.to_owned(),
    }
}
