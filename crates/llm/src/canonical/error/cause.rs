//! Causes that a provider names in words, whatever the status: no credit, refused content, a wrong key.

use super::report::Report;

/// Words for an account without credit, whatever else the report says.
const NO_CREDIT: [&str; 46] = [
    " insufficient balance",
    " insufficient account balance",
    " insufficient credit",
    " insufficient quota",
    " insufficient user quota",
    " insufficient fund",
    " insufficient token quota",
    " balance is insufficient",
    " balance insufficient",
    " balance is not enough",
    " balance not enough",
    " balance is too low",
    " balance too low",
    " balance exhausted",
    " negative balance",
    " not enough balance",
    " not enough credit",
    " not enough fund",
    " no credits",
    " no credit ",
    " no remaining credit",
    " any credits or licenses",
    " out of credit",
    " credits exhausted",
    " credits have been exhausted",
    " used all available credits",
    " credits expired",
    " monthly included credits",
    " credits error ",
    " requires more credits",
    " credit limit",
    " can only afford",
    " spending limit",
    " spending cap",
    " spend limit",
    " billing hard limit",
    " billing error",
    " billing not active",
    " billing is not active",
    " check your billing",
    " payment required",
    " account overdue",
    " arrearage",
    " in arrears",
    " please recharge",
    " budget exceeded",
];

/// The same in Chinese, without spaces between words.
const NO_CREDIT_WITHOUT_SPACES: [&str; 5] =
    ["余额不足", "欠费", "余额已用完", "额度已用完", "额度不足"];

/// Words for a plan or a quota that is used up. With a short period they describe a rate limit.
const USED_UP: [&str; 36] = [
    " quota exceeded",
    " quotaexceeded",
    " exceeded your current quota",
    " exceeded current quota",
    " exceeded your quota",
    " exceeded your monthly",
    " exceeded your weekly",
    " quota exhausted",
    " quota has been exhausted",
    " quota is exhausted",
    " quota has been exceeded",
    " out of quota",
    " no quota",
    " chat requests quota",
    " budget has been exceeded",
    " usage limit",
    " usage quota",
    " usage not included",
    " usage cap",
    " monthly limit",
    " weekly limit",
    " monthly token limit",
    " weekly rate limited",
    " plan limit",
    " plan has expired",
    " plan expired",
    " package has expired",
    " premium request",
    " free tier only",
    " free tier of the model has been exhausted",
    " free usage limit",
    " free quota",
    " trial has ended",
    " trial expired",
    " free trial has expired",
    " extra usage is required",
];

/// Words for a quota of one day or longer. Such a limit ends with the period, so a retry of some minutes is useless.
const LONG_PERIOD: [&str; 11] = [
    " per day",
    " perday",
    " daily",
    " per week",
    " weekly",
    " per month",
    " permonth",
    " monthly",
    " month ",
    " 5 hour",
    " five hour",
];

/// Words for a limit of a short period.
const SHORT_PERIOD: [&str; 15] = [
    " per min",
    " permin",
    " per sec",
    " persec",
    " per hour",
    " a minute",
    " per 1 min",
    " tpm ",
    " rpm ",
    " tps ",
    " rps ",
    " concurren",
    " rate limit exceeded",
    " reset after 0s",
    " throttling",
];

/// Words of limits.
const LIMIT: [&str; 6] = [
    " limit",
    " quota",
    " exhausted",
    " exceeded",
    " too many",
    " throttl",
];

/// Codes of a used-up account: 1113 (balance), 1304 (calls of a day), 1308 and 1310 (usage of a plan) and 1309
/// (expired plan) are of z.ai, 1008 and 2056 of `MiniMax`, 30001 of `SiliconFlow`.
const USED_UP_CODES: [&str; 8] = [
    "1113", "1304", "1308", "1309", "1310", "1008", "2056", "30001",
];

/// Words for content that the provider refuses.
const REFUSED_CONTENT: [&str; 41] = [
    " content policy",
    " contentpolicy",
    " content filter",
    " contentfilter",
    " content management policy",
    " content moderation",
    " content violat",
    " content is not allowed",
    " moderation",
    " was flagged",
    " been flagged",
    " is flagged",
    " safety settings",
    " safety system",
    " safety filter",
    " safety polic",
    " safety reasons",
    " safety check",
    " safety guard",
    " safety violation",
    " for safety",
    " due to safety",
    " blocked by safety",
    " data inspection failed",
    " inappropriate content",
    " responsible ai policy",
    " prompt blocked",
    " prompt was blocked",
    " prohibited content",
    " prohibited use",
    " usage polic",
    " usage guideline",
    " acceptable use",
    " sensitive content",
    " sensitive word",
    " sensitive information",
    " new sensitive",
    " guardrail",
    " considered high risk",
    " cyber policy",
    " unsafe content",
];

/// The same in Chinese.
const REFUSED_CONTENT_WITHOUT_SPACES: [&str; 3] = ["敏感", "不安全", "违规"];

/// Codes of refused content: 1301 is of z.ai, 1026 and 1027 are of `MiniMax`.
const REFUSED_CONTENT_CODES: [&str; 5] = ["1301", "1026", "1027", "safety", "SAFETY"];

/// Words for a key that the provider does not accept.
const WRONG_KEY: [&str; 16] = [
    " api key not valid",
    " api key not found",
    " api key invalid",
    " api key is invalid",
    " api key is not valid",
    " api key expired",
    " api key has expired",
    " invalid api key",
    " invalid x api key",
    " incorrect api key",
    " invalid authentication",
    " authentication error",
    " authentication failed",
    " authentication fails",
    " unauthenticated",
    " organization has been disabled",
];

/// True if the account has no credit, or its plan is used up. `asks_to_wait` is true if the response names a wait.
pub(super) fn is_quota(report: &Report, asks_to_wait: bool) -> bool {
    if report.is_labelled(&USED_UP_CODES)
        || report.says_apart_from_names(&NO_CREDIT)
        || report.says_apart_from_names(&NO_CREDIT_WITHOUT_SPACES)
    {
        return true;
    }
    if names_long_period(report) && report.says(&LIMIT) && !asks_to_wait && !names_wait(report) {
        return true;
    }
    if !report.says_apart_from_names(&USED_UP) {
        return false;
    }
    // A limit of 0 is a feature that the plan does not have.
    let never = report.says(&[" limit 0 "]);
    never || names_long_period(report) || !(report.says(&SHORT_PERIOD) || report.wait_ms.is_some())
}

/// True if the provider refuses the content of the request.
pub(super) fn is_refused_content(report: &Report) -> bool {
    report.is_labelled(&REFUSED_CONTENT_CODES)
        || report.says_apart_from_names(&REFUSED_CONTENT)
        || report.says_apart_from_names(&REFUSED_CONTENT_WITHOUT_SPACES)
}

/// True if the provider does not accept the key.
pub(super) fn is_wrong_key(report: &Report) -> bool {
    report.says(&WRONG_KEY)
}

fn names_long_period(report: &Report) -> bool {
    report.says_apart_from_names(&LONG_PERIOD)
}

/// True if a text names the time after which the provider accepts requests again.
fn names_wait(report: &Report) -> bool {
    let waits = [" try again in ", " retry in ", " retry after "];
    report.wait_ms.is_some() || report.says(&waits)
}
