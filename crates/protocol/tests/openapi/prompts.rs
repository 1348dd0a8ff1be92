//! The intended differences of prompts and commands.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[
    Differences {
        why: "A prompt may have settings for its activity.",
        what: &[
            "Prompt.settings: is added",
            "v2.session.prompt body application/json.agent: is added",
            "v2.session.prompt body application/json.model: is added",
            "v2.session.prompt body application/json.output: is added",
            "v2.session.prompt body application/json.system: is added",
            "v2.session.prompt body application/json.tools: is added",
            "v2.session.prompt body application/json.variant: is added",
        ],
    },
    Differences {
        why: "Commands are run by the host, and their prompts name them.",
        what: &["Prompt.command: is added"],
    },
    Differences {
        why: "Mentions are expanded and media is stored at the promotion.",
        what: &[
            "Prompt.mentions: is added",
            "SessionMessageSynthetic.files: is added",
            "SessionNextSynthetic.data.files: is added",
            "v2.session.prompt body application/json.mentions: is added",
        ],
    },
    Differences {
        why: "A prompt may ask for a structured output.",
        what: &["SessionMessageAssistant.output: is added"],
    },
    Differences {
        why: "A session may have a budget, a turn may change its model, and the log has the list of things to do.",
        what: &[
            "SessionV2Info.budget: is added",
            "Session.budget: is added",
            "v2.session.create body application/json.budget: is added",
        ],
    },
];
