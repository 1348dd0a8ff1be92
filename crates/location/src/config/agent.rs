//! What configuration says about agents, in both generations of the format: `agents`, and `agent`
//! or, older still, `mode`.

use opencode_schema::model::ModelRef;
use serde_json::Value;

use super::decode::{Decoded, Invalid, boolean, entries, object, optional, text};
use super::selection;

/// What is said about an agent: every field may be left unsaid.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AgentPatch {
    /// The model of sessions that have chosen none.
    pub model: Option<ModelRef>,
    /// The variant of that model.
    pub variant: Option<String>,
    /// Provider Turns per input.
    pub steps: Option<u32>,
    /// Whether it is taken away.
    pub disabled: Option<bool>,
}

/// Reads the agents of the newer generation.
pub(super) fn decode(value: &Value) -> Decoded<Vec<(String, AgentPatch)>> {
    agents(value, &["steps"], "disabled")
}

/// Reads the agents of the older generation.
pub(super) fn decode_older(value: &Value) -> Decoded<Vec<(String, AgentPatch)>> {
    agents(value, &["maxSteps", "steps"], "disable")
}

/// Reads agents whose number of steps stands under the last of these names that is there.
fn agents(
    value: &Value,
    names_of_steps: &[&str],
    disabled: &str,
) -> Decoded<Vec<(String, AgentPatch)>> {
    entries(value, |id, value| {
        let source = object(value)?;
        let mut patch = AgentPatch {
            model: optional(source, "model", selection::decode)?,
            variant: optional(source, "variant", text)?,
            steps: None,
            disabled: optional(source, disabled, boolean)?,
        };
        for name in names_of_steps {
            patch.steps = optional(source, name, steps)?.or(patch.steps);
        }
        Ok((id.to_owned(), patch))
    })
}

fn steps(value: &Value) -> Decoded<u32> {
    let whole = value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 1.0);
    // The conversion saturates: more steps than anybody can make are as good as that many.
    whole
        .map(|steps| steps as u32)
        .ok_or_else(|| Invalid::new("must be a whole number of at least 1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_generations_end_in_the_same_patches() {
        let patch = AgentPatch {
            model: selection::parse_model("p/m#low"),
            variant: Some("high".to_owned()),
            steps: Some(7),
            disabled: Some(false),
        };
        let (model, variant) = ("p/m#low", "high");
        let newer = json!({"model": model, "variant": variant, "steps": 7, "disabled": false});
        let older = json!({"model": model, "variant": variant, "maxSteps": 7, "disable": false});
        let expected = Ok(vec![("a".to_owned(), patch)]);
        assert_eq!(decode(&json!({ "a": newer })), expected);
        assert_eq!(decode_older(&json!({ "a": older })), expected);
        let both = json!({"a": {"steps": 2, "maxSteps": 3}});
        assert_eq!(decode_older(&both).unwrap()[0].1.steps, Some(2));
    }

    #[test]
    fn steps_are_whole_and_some() {
        let steps = |value: Value| {
            let decoded = decode(&json!({"a": {"steps": value}}));
            decoded.map(|agents| agents[0].1.steps)
        };
        for (value, expected) in [(json!(1), 1), (json!(3.0), 3), (json!(1e12), u32::MAX)] {
            assert_eq!(steps(value), Ok(Some(expected)));
        }
        for value in [json!(0), json!(-1), json!(1.5), json!("5"), json!(null)] {
            assert_eq!(
                steps(value).unwrap_err().to_string(),
                "a.steps must be a whole number of at least 1"
            );
        }
    }
}
