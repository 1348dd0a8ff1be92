//! Bodies about accounts, rates and content.

use serde_json::{Value, json};

/// Bodies of accounts that cannot pay, and of plans that are used up.
pub(super) fn used_up() -> Vec<Value> {
    let message = |text: &str| json!({"error": {"message": text}});
    let google = |violations: Value| {
        json!([{"error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20.5s"},
            ],
        }}])
    };
    let metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests";
    vec![
        json!({"error": {"code": "1113", "message": "Insufficient balance or no resource package. Please recharge."}}),
        json!({"error": {"code": "1308", "message": "Usage limit reached for 5 hour. Your limit will reset at 2026-01-01 10:00:00"}}),
        json!({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_in_seconds": 9000}}),
        json!({"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your current quota, please check your plan and billing details."}}),
        json!({"error": {"code": "billing_hard_limit_reached", "message": "Billing hard limit has been reached"}}),
        json!({"error": {"type": "insufficient_quota", "code": "credit_balance_exhausted", "message": "You have no credits remaining"}}),
        json!({"type": "error", "error": {"type": "billing_error", "message": "no"}}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}),
        message(
            "You have reached your specified API usage limits. You will regain access on 2026-01-01 at 00:00 UTC.",
        ),
        json!({"error": {"message": "Insufficient Balance", "type": "unknown_error", "param": null, "code": "invalid_request_error"}}),
        json!({"code": "INSUFFICIENT_CREDITS"}),
        message("Insufficient credits. Add more using https://openrouter.ai/settings/credits"),
        message(
            "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 12",
        ),
        message(
            "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
        ),
        json!({"error": {"code": "quota_exceeded", "message": "You have exceeded your free chat requests quota"}}),
        message("You have no quota. You have exceeded your premium request allowance."),
        google(
            json!([{"quotaMetric": metric, "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]),
        ),
        google(
            json!([{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}, {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]),
        ),
        message(
            "* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro\nPlease retry in 20.04s.",
        ),
        message(
            "Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Gemini 2.5 Pro Requests per day per user per tier'",
        ),
        json!({"error": {"type": "exceeded_current_quota_error", "message": "Your account is suspended, please check your plan"}}),
        message(
            "You've reached kimi monthly usage limit for this billing cycle. Your quota will be refreshed in the next cycle.",
        ),
        json!({"code": "Arrearage", "message": "Access denied, please make sure your account is in good standing."}),
        json!({"code": "AllocationQuota.FreeTierOnly", "message": "The free tier of the model has been exhausted."}),
        json!({"error": {"code": "AccountOverdueError", "message": "no"}}),
        json!({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
        json!({"code": 30001, "message": "Sorry, your account balance is insufficient", "data": null}),
        json!({"code": 403, "reason": "NOT_ENOUGH_BALANCE", "message": "not enough balance", "metadata": {}}),
        message(
            "Your team has either used all available credits or reached its monthly spending limit.",
        ),
        message(
            "Account is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.",
        ),
        message("Credit limit exceeded, please navigate to the billing page to add credit"),
        message("You have exceeded your monthly included credits for Inference Providers."),
        message("You are using a Trial key, which is limited to 1000 API calls / month"),
        json!({"type": "error", "error": {"type": "CreditsError", "message": "Insufficient balance."}}),
        json!({"type": "error", "error": {"type": "FreeUsageLimitError", "message": "no"}}),
        json!({"error": {"type": "budget_exceeded", "message": "Budget has been exceeded! Current cost: 1.0, Max budget: 0.5"}}),
        json!({"message": "Too many tokens per day, please wait before trying again."}),
        json!({"error": {"code": "token_quota_exceeded", "message": "Tokens per day limit exceeded - too many tokens processed."}}),
        message("用户余额不足"),
    ]
}

/// Bodies of limits that end soon.
pub(super) fn rate_limited() -> Vec<Value> {
    let message = |text: &str| json!({"error": {"message": text}});
    vec![
        message(
            "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 28000, Requested 9000. Please try again in 14s. Visit https://platform.openai.com/account/billing to add a payment method.",
        ),
        message(
            "Rate limit reached for model m on tokens per day (TPD): Limit 100000, Used 99000, Requested 2000. Please try again in 14m24s.",
        ),
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed your organization's rate limit of 50,000 input tokens per minute"}}),
        json!([{"error": {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED", "details": [{"violations": [{"quotaId": "GenerateContentInputTokensPerModelPerMinute"}]}, {"retryDelay": "20s"}]}}]),
        message(
            "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-pro.",
        ),
        message("Resource exhausted. Please try again later."),
        json!({"error": {"code": "1302", "message": "High concurrency usage of this API"}}),
        json!({"error": {"code": "token_quota_exceeded", "message": "Tokens per minute limit exceeded - too many tokens processed."}}),
        json!({"code": "Throttling.AllocationQuota", "message": "Allocated quota exceeded, please increase your quota limit."}),
        json!({"message": "Service tier capacity exceeded for this model.", "type": "invalid_request_error", "code": "3505"}),
        json!({"message": "Too many tokens, please wait before trying again."}),
        message("Quota exceeded: 10 requests a minute. Retry later."),
    ]
}

/// Bodies about content that the provider refuses.
pub(super) fn refused_content() -> Vec<Value> {
    vec![
        json!({"error": {"code": 403, "message": "Input was flagged", "metadata": {"reasons": ["violence"], "flagged_input": "x", "provider_name": "p"}}}),
        json!({"error": {"message": "no", "type": null, "code": "content_filter", "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
        json!({"error": {"code": "content_policy_violation", "message": "no"}}),
        json!({"code": "DataInspectionFailed", "message": "Input data may contain inappropriate content."}),
        json!({"error": {"code": "data_inspection_failed", "message": "no"}}),
        json!({"error": {"code": "1301", "message": "System detected potentially unsafe or sensitive content"}}),
        json!({"error": {"code": "prompt_blocked", "message": "no"}}),
        json!({"error": {"type": "content_filter", "message": "The request was rejected because it was considered high risk"}}),
        json!({"error": {"message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "code": "invalid_prompt"}}),
        json!({"error": "Content violates usage guidelines."}),
        json!({"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}),
        json!({"message": "blocked by safety settings"}),
    ]
}
