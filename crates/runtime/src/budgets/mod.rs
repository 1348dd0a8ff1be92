//! Budgets: limits on the work of a session together with its child sessions, and of all sessions of a host.
//!
//! A session that has used up a budget pauses before its next Provider Turn. The pause is recorded, pending prompts stay
//! pending, and a run with a larger budget continues the session. A turn that has begun is never cut, so the work can
//! exceed a limit by one turn.

mod usage;

use opencode_schema::bounded::MAX_SAFE_INTEGER;
use opencode_schema::event::Paused;
use opencode_schema::id::SessionID;
use opencode_schema::session::{BudgetLimit, BudgetScope, SessionBudget, Tokens};
use opencode_store::{AppliedBudget, Spent};
use parking_lot::Mutex;

pub(crate) use usage::{UsageMeter, tokens_of};

/// The budgets that the program gives a host. Without them nothing is limited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BudgetOptions {
    /// The budget of each session that no task created and that has none of its own.
    pub session: SessionBudget,
    /// The budget of all sessions together, from the opening of the host on.
    pub host: SessionBudget,
}

/// The budgets of a host.
pub(crate) struct Budgets {
    session: SessionBudget,
    /// Locked to read or to change; never across an await.
    host: Mutex<HostWork>,
}

struct HostWork {
    budget: SessionBudget,
    spent: Spent,
}

/// The budgets that apply to one session, and the work that counts towards them.
pub(crate) struct Applied(Vec<(BudgetScope, Option<SessionID>, SessionBudget, Spent)>);

/// The state in which a session is compared with its budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextTurn {
    /// True if the model of the turn has prices. Otherwise its cost is unknown.
    pub(crate) has_prices: bool,
}

impl Budgets {
    pub(crate) fn new(options: BudgetOptions) -> Self {
        let host = HostWork {
            budget: options.host,
            spent: Spent::default(),
        };
        Self {
            session: options.session,
            host: Mutex::new(host),
        }
    }

    /// Replaces the budget of the host. The work so far still counts.
    pub(crate) fn set_host(&self, budget: SessionBudget) {
        self.host.lock().budget = budget;
    }

    /// Adds an ended Provider Turn to the work of the host.
    pub(crate) fn add_turn(&self, duration_ms: u64) {
        let spent = &mut self.host.lock().spent;
        spent.turns += 1;
        spent.duration_ms = spent.duration_ms.saturating_add(duration_ms);
    }

    /// Adds the usage of a model to the work of the host.
    pub(crate) fn add_usage(&self, tokens: &Tokens, cost: f64) {
        let spent = &mut self.host.lock().spent;
        let counts = [
            tokens.input,
            tokens.output,
            tokens.reasoning,
            tokens.cache.read,
            tokens.cache.write,
        ];
        spent.tokens = counts.into_iter().fold(spent.tokens, u64::saturating_add);
        spent.cost += cost;
    }

    /// True if sessions without a budget of their own have one.
    pub(crate) fn has_default(&self) -> bool {
        !self.session.is_empty()
    }

    /// Combines the budgets of sessions with those of the host.
    pub(crate) fn applied(&self, sessions: Vec<AppliedBudget>) -> Applied {
        let of_session = |it: AppliedBudget| {
            let default = it.is_root.then_some(self.session);
            let budget = match (it.budget, default) {
                (Some(own), Some(default)) if it.is_imported => stricter(own, default),
                (own, default) => own.or(default)?,
            };
            Some((BudgetScope::Session, Some(it.session_id), budget, it.spent))
        };
        let mut applied: Vec<_> = sessions.into_iter().filter_map(of_session).collect();
        let host = self.host.lock();
        applied.push((BudgetScope::Host, None, host.budget, host.spent));
        Applied(applied)
    }
}

impl Applied {
    /// Returns the pause for the first limit that is reached, if any.
    pub(crate) fn pause(&self, next: NextTurn) -> Option<Paused> {
        self.0.iter().find_map(|(scope, id, budget, spent)| {
            let (limit, used, allowed) = reached(budget, spent, next)?;
            Some(Paused {
                scope: *scope,
                budget_id: id.clone(),
                limit,
                used,
                allowed,
                message: message(*scope, limit, used, allowed),
            })
        })
    }
}

/// Returns the limit that is reached, the used value and the allowed value. A limit of the cost is reached at once if
/// the cost of the next turn cannot be known.
fn reached(
    budget: &SessionBudget,
    spent: &Spent,
    next: NextTurn,
) -> Option<(BudgetLimit, f64, f64)> {
    let cost = budget.cost.map(|allowed| {
        let used = match next.has_prices {
            true => spent.cost,
            false => f64::INFINITY,
        };
        (BudgetLimit::Cost, used, allowed)
    });
    let whole = |limit, used: u64, allowed: Option<u64>| {
        allowed.map(|allowed| (limit, used as f64, allowed as f64))
    };
    let all = [
        whole(BudgetLimit::Tokens, spent.tokens, budget.tokens),
        cost,
        whole(BudgetLimit::Turns, spent.turns, budget.turns),
        whole(BudgetLimit::Duration, spent.duration_ms, budget.duration_ms),
    ];
    let found = all
        .into_iter()
        .flatten()
        .find(|(_, used, allowed)| used >= allowed);
    // JSON has no infinity.
    found.map(|(limit, used, allowed)| {
        (
            limit,
            if used.is_finite() { used } else { spent.cost },
            allowed,
        )
    })
}

fn message(scope: BudgetScope, limit: BudgetLimit, used: f64, allowed: f64) -> String {
    let name = match limit {
        BudgetLimit::Tokens => "tokens",
        BudgetLimit::Cost => "cost",
        BudgetLimit::Turns => "turns",
        BudgetLimit::Duration => "durationMs",
    };
    let (owner, action) = match scope {
        BudgetScope::Session => (
            "the session",
            "set a larger one with sessions.update({ sessionID, budget }), then resume the session",
        ),
        BudgetScope::Host => (
            "the host",
            "set a larger one with setBudget({ ... }) of the host, then resume the session",
        ),
    };
    if limit == BudgetLimit::Cost && used < allowed {
        return format!(
            "The budget of {owner} limits the cost, and the model has no prices; add `cost` to the model in the configuration, or limit `tokens` instead"
        );
    }
    format!("The budget of {owner} is used up ({name}: {used} of {allowed}); {action}")
}

/// Returns the smaller limit of each kind.
fn stricter(one: SessionBudget, other: SessionBudget) -> SessionBudget {
    let smaller = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
    SessionBudget {
        tokens: smaller(one.tokens, other.tokens),
        cost: one.cost.into_iter().chain(other.cost).reduce(f64::min),
        turns: smaller(one.turns, other.turns),
        duration_ms: smaller(one.duration_ms, other.duration_ms),
    }
}

/// Checks the limits of a budget that a caller gives.
///
/// # Errors
///
/// Returns the name of the wrong limit and the problem.
pub(crate) fn check(budget: &SessionBudget) -> Result<(), (&'static str, String)> {
    let whole = [
        ("tokens", budget.tokens),
        ("turns", budget.turns),
        ("durationMs", budget.duration_ms),
    ];
    for (name, value) in whole {
        if value.is_some_and(|value| value > MAX_SAFE_INTEGER) {
            return Err((name, format!("{name} is larger than {MAX_SAFE_INTEGER}")));
        }
    }
    match budget.cost {
        Some(cost) if !(cost.is_finite() && cost >= 0.0) => {
            Err(("cost", format!("cost is {cost}; give a number from 0 on")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICED: NextTurn = NextTurn { has_prices: true };

    fn spent() -> Spent {
        Spent {
            tokens: 100,
            cost: 0.5,
            turns: 3,
            duration_ms: 2000,
        }
    }

    #[test]
    fn a_limit_is_reached_by_an_equal_value() {
        let none = SessionBudget::default();
        let cases = [
            (none, None),
            (
                SessionBudget {
                    tokens: Some(101),
                    ..none
                },
                None,
            ),
            (
                SessionBudget {
                    tokens: Some(100),
                    ..none
                },
                Some((BudgetLimit::Tokens, 100.0, 100.0)),
            ),
            (
                SessionBudget {
                    cost: Some(0.51),
                    ..none
                },
                None,
            ),
            (
                SessionBudget {
                    cost: Some(0.5),
                    ..none
                },
                Some((BudgetLimit::Cost, 0.5, 0.5)),
            ),
            (
                SessionBudget {
                    turns: Some(4),
                    ..none
                },
                None,
            ),
            (
                SessionBudget {
                    turns: Some(0),
                    ..none
                },
                Some((BudgetLimit::Turns, 3.0, 0.0)),
            ),
            (
                SessionBudget {
                    duration_ms: Some(2001),
                    ..none
                },
                None,
            ),
            (
                SessionBudget {
                    duration_ms: Some(1999),
                    ..none
                },
                Some((BudgetLimit::Duration, 2000.0, 1999.0)),
            ),
        ];
        for (budget, expected) in cases {
            assert_eq!(reached(&budget, &spent(), PRICED), expected, "{budget:?}");
        }
    }

    #[test]
    fn an_unknown_cost_reaches_every_limit_of_the_cost() {
        let unpriced = NextTurn { has_prices: false };
        let cost = SessionBudget {
            cost: Some(1e6),
            ..SessionBudget::default()
        };
        assert_eq!(
            reached(&cost, &spent(), unpriced),
            Some((BudgetLimit::Cost, 0.5, 1e6))
        );
        let tokens = SessionBudget {
            tokens: Some(1_000),
            ..SessionBudget::default()
        };
        assert_eq!(reached(&tokens, &spent(), unpriced), None);
        assert!(message(BudgetScope::Session, BudgetLimit::Cost, 0.5, 1e6).contains("no prices"));
    }

    #[test]
    fn the_default_budget_is_that_of_the_outermost_session() {
        let limit = SessionBudget {
            turns: Some(3),
            ..SessionBudget::default()
        };
        let budgets = Budgets::new(BudgetOptions {
            session: limit,
            ..BudgetOptions::default()
        });
        let of = |id: &str, is_root, budget| AppliedBudget {
            session_id: SessionID::parse(id).unwrap(),
            budget,
            is_imported: false,
            is_root,
            spent: spent(),
        };
        let pause = |sessions| {
            budgets
                .applied(sessions)
                .pause(PRICED)
                .map(|it| it.budget_id)
        };
        let root = SessionID::parse("ses_r").unwrap();
        assert_eq!(pause(vec![of("ses_r", true, None)]), Some(Some(root)));
        let larger = SessionBudget {
            turns: Some(4),
            ..SessionBudget::default()
        };
        assert_eq!(pause(vec![of("ses_r", true, Some(larger))]), None);
        assert_eq!(pause(vec![of("ses_c", false, None)]), None);
        // A budget that came with an import lifts no limit.
        let imported = |budget| AppliedBudget {
            is_imported: true,
            ..of("ses_r", true, Some(budget))
        };
        let smaller = SessionBudget {
            turns: Some(2),
            ..SessionBudget::default()
        };
        let tokens = SessionBudget {
            tokens: Some(1_000_000),
            ..SessionBudget::default()
        };
        for budget in [larger, smaller, tokens] {
            let pause = budgets.applied(vec![imported(budget)]).pause(PRICED);
            let allowed = pause.map(|it| (it.limit, it.allowed));
            let turns = budget.turns.map_or(3.0, |turns| 3_f64.min(turns as f64));
            assert_eq!(allowed, Some((BudgetLimit::Turns, turns)));
        }
    }

    #[test]
    fn the_work_of_the_host_counts_from_its_opening() {
        let limit = SessionBudget {
            tokens: Some(10),
            ..SessionBudget::default()
        };
        let budgets = Budgets::new(BudgetOptions {
            host: limit,
            ..BudgetOptions::default()
        });
        budgets.add_turn(5);
        assert_eq!(budgets.applied(Vec::new()).pause(PRICED), None);
        let tokens = Tokens {
            input: 4,
            output: 6,
            ..Tokens::default()
        };
        budgets.add_usage(&tokens, 0.1);
        let pause = budgets.applied(Vec::new()).pause(PRICED).unwrap();
        assert_eq!(
            (pause.scope, pause.limit, pause.used),
            (BudgetScope::Host, BudgetLimit::Tokens, 10.0)
        );
        budgets.set_host(SessionBudget {
            tokens: Some(11),
            ..SessionBudget::default()
        });
        assert_eq!(budgets.applied(Vec::new()).pause(PRICED), None);
    }
}
