//! The intended differences because of settings of prompts.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[Differences {
    why: "A prompt may have settings for its activity.",
    what: &[
        "Prompt.settings: is added",
        "PromptOutput: is added",
        "PromptSettings: is added",
        "v2.session.prompt body application/json.agent: is added",
        "v2.session.prompt body application/json.model: is added",
        "v2.session.prompt body application/json.output: is added",
        "v2.session.prompt body application/json.system: is added",
        "v2.session.prompt body application/json.tools: is added",
        "v2.session.prompt body application/json.variant: is added",
    ],
}];
