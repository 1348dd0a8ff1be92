//! Checks of the fields that callers choose for a session.

use opencode_schema::display::disturbs;
use opencode_schema::event::RecordedRule;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::SessionBudget;

use crate::budgets;
use crate::error::RuntimeError;

/// Maximum size in bytes of a name. The agent or model is looked up only when it is used.
const MAX_NAME_BYTES: usize = 1024;

/// Maximum size in bytes of a title. Each list of sessions contains the titles.
const MAX_TITLE_BYTES: usize = 1024;

/// Maximum number of permission rules of a session. Each decision evaluates all of them.
const MAX_RULES: usize = 256;

/// Maximum size in bytes of a pattern in a permission rule.
const MAX_PATTERN_BYTES: usize = 4096;

pub(crate) fn check_agent(agent: &str) -> Result<(), RuntimeError> {
    check_name("agent", agent)
}

pub(crate) fn check_model(model: &ModelRef) -> Result<(), RuntimeError> {
    let variant = model.variant.as_deref().unwrap_or_default();
    [&*model.id, &*model.provider_id, variant]
        .into_iter()
        .try_for_each(|name| check_name("model", name))
}

pub(crate) fn check_name(field: &'static str, name: &str) -> Result<(), RuntimeError> {
    let (bytes, limit) = (name.len(), MAX_NAME_BYTES);
    if bytes > limit {
        return Err(RuntimeError::NameTooLong {
            field,
            bytes,
            limit,
        });
    }
    Ok(())
}

/// Refuses a title that is too long, shows nothing, or contains control characters.
pub(super) fn check_title(title: &str) -> Result<(), RuntimeError> {
    let bytes = title.len();
    let problem = if bytes > MAX_TITLE_BYTES {
        format!("The title has {bytes} bytes, and at most {MAX_TITLE_BYTES} are accepted")
    } else if title.trim().is_empty() {
        "The title is empty; give at least one visible character".to_owned()
    } else if title.contains(disturbs) {
        "The title contains a control character or a mark for the direction of text; give one line of text".to_owned()
    } else {
        return Ok(());
    };
    Err(RuntimeError::InvalidField {
        field: "title",
        message: problem,
    })
}

/// Refuses a budget with an impossible limit.
pub(crate) fn check_budget(budget: &SessionBudget) -> Result<(), RuntimeError> {
    budgets::check(budget).map_err(|(limit, problem)| RuntimeError::InvalidField {
        field: "budget",
        message: format!("budget.{limit}: {problem}"),
    })
}

/// Refuses too many rules, and rules that no caller may write. A rule without an action would begin a limit.
pub(super) fn check_permission(rules: &[PermissionRule]) -> Result<(), RuntimeError> {
    let problem = if rules.len() > MAX_RULES {
        let count = rules.len();
        Some(format!(
            "The session would have {count} permission rules, and at most {MAX_RULES} are accepted"
        ))
    } else {
        let mut problems = rules.iter().enumerate().filter_map(|(at, rule)| {
            let pattern = [("action", &rule.action), ("resource", &rule.resource)];
            let mut wrong = pattern.into_iter().filter_map(|(name, text)| {
                Some(format!(
                    "permission[{at}].{name} {}",
                    pattern_problem(text)?
                ))
            });
            wrong.next()
        });
        problems.next()
    };
    problem.map_or(Ok(()), |message| {
        Err(RuntimeError::InvalidField {
            field: "permission",
            message,
        })
    })
}

fn pattern_problem(pattern: &str) -> Option<String> {
    let bytes = pattern.len();
    if pattern.is_empty() {
        Some("is empty; write \"*\" for everything".to_owned())
    } else if bytes > MAX_PATTERN_BYTES {
        Some(format!(
            "has {bytes} bytes, and at most {MAX_PATTERN_BYTES} are accepted"
        ))
    } else if pattern.contains('\0') {
        Some("contains a NUL character, which no action and no resource has".to_owned())
    } else {
        None
    }
}

/// Returns the limits among the rules of a session, which only the host writes.
pub(super) fn limits_of(rules: &[PermissionRule]) -> Vec<PermissionRule> {
    let (_, others) = PermissionRule::split_own(rules);
    let is_limit = |list: &&[PermissionRule]| list.first().is_some_and(PermissionRule::is_limit);
    others.filter(is_limit).flatten().cloned().collect()
}

/// Returns the rules in the form of the session record. `None` if there are none.
pub(super) fn recorded(rules: Vec<PermissionRule>) -> Option<Vec<RecordedRule>> {
    let rules = rules.into_iter().map(RecordedRule::from).collect();
    Some(rules).filter(|rules: &Vec<_>| !rules.is_empty())
}
