//! Checks the variants for each package and name, and the options of each variant.

use serde_json::json;

use super::*;
use crate::catalogue::platform;
use crate::model::{ApiKind, released};

fn reasoning<'a>(package: &str, wire_id: &'a str) -> ReasoningModel<'a> {
    ReasoningModel {
        platform: platform::of(Some(&ApiKind::Package(package.to_owned()))),
        wire_id,
        released: 0,
        output: 64_000,
        options: None,
    }
}

fn names(reasoning: &ReasoningModel<'_>) -> String {
    let variants = reasoning.variants();
    let names: Vec<_> = variants.iter().map(|(id, _)| id.as_str()).collect();
    names.join(" ")
}

fn options(reasoning: &ReasoningModel<'_>) -> Vec<Value> {
    let variants = reasoning.variants().into_iter();
    variants
        .map(|(_, options)| Value::Object(options.0))
        .collect()
}

#[test]
fn package_and_model_determine_the_names_of_variants() {
    const OPENAI: &str = "@ai-sdk/openai";
    const COMPATIBLE: &str = "@ai-sdk/openai-compatible";
    const CLAUDE: &str = "@ai-sdk/anthropic";
    const BEDROCK: &str = "@ai-sdk/amazon-bedrock";
    const GOOGLE: &str = "@ai-sdk/google";
    const ROUTER: &str = "@openrouter/ai-sdk-provider";
    const COPILOT: &str = "@ai-sdk/github-copilot";
    for (package, id, expected) in [
        (OPENAI, "o4-mini-deep-research", "medium"),
        (OPENAI, "gpt-5-chat-latest", ""),
        (OPENAI, "gpt-5.2-chat-latest", "medium"),
        (OPENAI, "gpt-5-pro", "high"),
        (OPENAI, "gpt-5.2-pro", "medium high xhigh"),
        (OPENAI, "gpt-5.3-codex", "none low medium high xhigh"),
        (OPENAI, "gpt-5.2-codex", "low medium high xhigh"),
        (OPENAI, "gpt-5.1-codex-max", "low medium high xhigh"),
        (OPENAI, "gpt-5.1-codex", "low medium high"),
        (OPENAI, "gpt-5-codex", "low medium high"),
        (OPENAI, "gpt-5.1", "none low medium high"),
        (OPENAI, "gpt-5.2", "none low medium high xhigh"),
        (OPENAI, "gpt-5", "minimal low medium high"),
        (OPENAI, "gpt-5-mini-2025-08-07", "minimal low medium high"),
        (OPENAI, "o3", "low medium high"),
        ("@ai-sdk/azure", "gpt-5.1", "none low medium high"),
        (CLAUDE, "claude-opus-4-7", "low medium high xhigh max"),
        (CLAUDE, "claude-sonnet-5", "low medium high xhigh max"),
        (CLAUDE, "claude-sonnet-4.6", "low medium high max"),
        (CLAUDE, "claude-sonnet-4-20250514", "high max"),
        (CLAUDE, "claude-3-7-sonnet-20250219", "high max"),
        (
            BEDROCK,
            "us.anthropic.claude-opus-4-6-v1",
            "low medium high max",
        ),
        (BEDROCK, "amazon.nova-2-lite", "low medium high"),
        (GOOGLE, "gemini-2.5-pro", "high max"),
        (GOOGLE, "gemini-3-pro-preview", "low high"),
        (GOOGLE, "gemini-3.1-flash", "minimal low medium high"),
        (GOOGLE, "gemini-3-flash-image", "minimal high"),
        (GOOGLE, "gemini-3-pro-image", "high"),
        (GOOGLE, "gemma-4-31b", "minimal high"),
        (GOOGLE, "gemini-2.0-flash-thinking", ""),
        (ROUTER, "openai/gpt-5", "minimal low medium high"),
        (ROUTER, "z/large", "low medium high"),
        (ROUTER, "deepseek/deepseek-r1", ""),
        (COPILOT, "gpt-5.2", "low medium high xhigh"),
        (COPILOT, "gpt-5", "low medium high"),
        (COPILOT, "gemini-3-pro", ""),
        (
            "@ai-sdk/groq",
            "openai/gpt-oss-120b",
            "none low medium high",
        ),
        ("@ai-sdk/mistral", "magistral-medium", "high"),
        ("@ai-sdk/xai", "grok-3-mini", "low high"),
        ("@ai-sdk/xai", "grok-4", ""),
        (COMPATIBLE, "large", "low medium high"),
        (COMPATIBLE, "deepseek-v4-pro", "low medium high max"),
        (COMPATIBLE, "deepseek-v3.1", ""),
        (COMPATIBLE, "GLM-5.2", "high max"),
        (COMPATIBLE, "glm-4.7", ""),
        (COMPATIBLE, "qwen3-max", ""),
        ("@ai-sdk/perplexity", "sonar", ""),
        ("somebodys-package", "large", ""),
    ] {
        assert_eq!(names(&reasoning(package, id)), expected, "{package} {id}");
    }
}

#[test]
fn newer_openai_models_have_more_efforts() {
    for (date, expected) in [
        ("2025-11-12", "low medium high"),
        ("2025-11-13", "none low medium high"),
        ("2025-12-04", "none low medium high xhigh"),
    ] {
        let reasoning = ReasoningModel {
            released: released(date).unwrap(),
            ..reasoning("@ai-sdk/openai", "o9")
        };
        assert_eq!(names(&reasoning), expected, "{date}");
    }
}

#[test]
fn every_package_has_its_own_form() {
    for (package, id, first) in [
        (
            "@ai-sdk/openai",
            "gpt-5-pro",
            json!({
                "reasoningEffort": "high", "reasoningSummary": "auto",
                "include": ["reasoning.encrypted_content"],
            }),
        ),
        (
            "@ai-sdk/anthropic",
            "claude-opus-4-7",
            json!({"thinking": {"type": "adaptive", "display": "summarized"}, "effort": "low"}),
        ),
        (
            "@ai-sdk/anthropic",
            "claude-opus-4-6",
            json!({"thinking": {"type": "adaptive"}, "effort": "low"}),
        ),
        (
            "@ai-sdk/anthropic",
            "claude-opus-4-1",
            json!({"thinking": {"type": "enabled", "budgetTokens": 16_000}}),
        ),
        (
            "@ai-sdk/amazon-bedrock",
            "anthropic.claude-opus-4-6",
            json!({"reasoningConfig": {"type": "adaptive", "maxReasoningEffort": "low"}}),
        ),
        (
            "@ai-sdk/google",
            "gemini-2.5-flash",
            json!({"thinkingConfig": {"includeThoughts": true, "thinkingBudget": 16_000}}),
        ),
        (
            "@ai-sdk/google",
            "gemini-3-pro",
            json!({"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"}}),
        ),
        (
            "@openrouter/ai-sdk-provider",
            "z/large",
            json!({"reasoning": {"effort": "low"}}),
        ),
        (
            "@ai-sdk/openai-compatible",
            "large",
            json!({"reasoningEffort": "low"}),
        ),
    ] {
        assert_eq!(options(&reasoning(package, id))[0], first, "{package} {id}");
    }
}

#[test]
fn budgets_leave_room_for_the_answer() {
    let budgets = |output| {
        let reasoning = ReasoningModel {
            output,
            ..reasoning("@ai-sdk/anthropic", "claude-3-7-sonnet")
        };
        let options = options(&reasoning).into_iter();
        let budgets = options.map(|it| it["thinking"]["budgetTokens"].as_u64().unwrap());
        budgets.collect::<Vec<_>>()
    };
    assert_eq!(budgets(64_000), [16_000, 31_999]);
    assert_eq!(budgets(8_192), [4_095, 8_191]);
    assert_eq!(budgets(0), [0_u64; 0]);
    assert_eq!(budgets(1), [0_u64; 0]);
}

#[test]
fn a_list_of_efforts_overrides_names() {
    let listed = |package: &str, options: &[ReasoningOption]| {
        let reasoning = ReasoningModel {
            options: Some(options),
            ..reasoning(package, "claude-3-7-sonnet")
        };
        let variants = reasoning.variants().into_iter();
        let shown = variants.map(|(id, options)| format!("{id}={}", Value::Object(options.0)));
        shown.collect::<Vec<_>>()
    };
    let efforts = [ReasoningOption::Effort(vec![None, Some("tiny".to_owned())])];
    assert_eq!(
        listed("@ai-sdk/openai-compatible", &efforts),
        [
            r#"none={"reasoningEffort":"none"}"#,
            r#"tiny={"reasoningEffort":"tiny"}"#
        ]
    );
    let budget = |min, max| [ReasoningOption::Budget { min, max }];
    for (options, high, max) in [
        (budget(None, None), 16_000, 31_999),
        (budget(Some(1024), Some(20_000)), 10_000, 20_000),
        (budget(Some(15_000), Some(20_000)), 15_000, 20_000),
        (budget(Some(9), Some(3)), 3, 3),
    ] {
        let thinking =
            |tokens| format!(r#"{{"thinking":{{"type":"enabled","budgetTokens":{tokens}}}}}"#);
        assert_eq!(
            listed("@ai-sdk/anthropic", &options),
            [
                format!("high={}", thinking(high)),
                format!("max={}", thinking(max))
            ]
        );
    }
    assert_eq!(
        listed("@ai-sdk/openai-compatible", &budget(None, None)),
        [""; 0]
    );
    assert_eq!(listed("@ai-sdk/anthropic", &[]), [""; 0]);
}
