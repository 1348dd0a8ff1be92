//! The intended differences of prompts and commands.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[
    Differences {
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
    },
    Differences {
        why: "Commands are run by the host, and their prompts name them.",
        what: &[
            "CommandNotFoundError: an extension",
            "POST /api/session/{sessionID}/command: an extension",
            "Prompt.command: is added",
            "PromptCommand: is added",
            "TextRange: is added",
        ],
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
        what: &[
            "SessionMessageAssistant.output: is added",
            "V2Event | session.next.output.failed: an extension",
            "V2Event | session.next.output.produced: an extension",
            "V2Event | session.next.output.rejected: an extension",
            "SessionDurableEvent | session.next.output.failed: an extension",
            "SessionDurableEvent | session.next.output.produced: an extension",
            "SessionDurableEvent | session.next.output.rejected: an extension",
            "SessionNextOutputFailed: an extension",
            "SessionNextOutputProduced: an extension",
            "SessionNextOutputRejected: an extension",
        ],
    },
    Differences {
        why: "A session may have a budget, a turn may change its model, and the log has the list of things to do.",
        what: &[
            "SessionV2Info.budget: is added",
            "Session.budget: is added",
            "v2.session.create body application/json.budget: is added",
            "BudgetLimit: is added",
            "BudgetScope: is added",
            "SessionBudget: is added",
            "SessionNextModelFallback: an extension",
            "SessionNextTodosUpdated: an extension",
            "SessionNextPaused: an extension",
            "V2Event | session.next.model.fallback: an extension",
            "V2Event | session.next.paused: an extension",
            "V2Event | session.next.todos.updated: an extension",
            "SessionDurableEvent | session.next.model.fallback: an extension",
            "SessionDurableEvent | session.next.paused: an extension",
            "SessionDurableEvent | session.next.todos.updated: an extension",
        ],
    },
];
