//! The properties of a model that change the wire form of its conversations.

use opencode_llm::canonical::model::ResolvedModel;

use crate::media::Reads;

/// The types of sounds that the protocol carries.
const SOUNDS: &[&str] = &[
    "audio/wav",
    "audio/mp3",
    "audio/mpeg",
    "audio/aiff",
    "audio/aac",
    "audio/ogg",
    "audio/flac",
];

/// The wire form for a model. Equal styles write equal bytes.
#[derive(Clone, PartialEq)]
pub(super) struct Style {
    /// The files that the model reads.
    pub(super) reads: Reads,
    /// The model is of generation 3 or later: it requires signatures of calls, and accepts files in results of tools.
    pub(super) is_signed: bool,
}

impl Style {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        Self {
            reads: Reads::of(&model.capabilities).with_sounds(&model.capabilities, SOUNDS),
            is_signed: generation(&model.id).is_some_and(|generation| generation >= 3),
        }
    }
}

/// Returns the number after `gemini-` in the name of a model.
fn generation(model: &str) -> Option<u32> {
    let (_, rest) = model.split_once("gemini-")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::generation;

    #[test]
    fn the_name_of_a_model_has_its_generation() {
        let rows = [
            ("gemini-2.5-pro", Some(2)),
            ("gemini-3-pro-preview", Some(3)),
            ("models/gemini-3.1-flash", Some(3)),
            ("gemini-pro", None),
            ("gemma-3-27b", None),
        ];
        for (model, expected) in rows {
            assert_eq!(generation(model), expected, "{model}");
        }
    }
}
