//! The services with which `websearch` searches the web.

use std::fmt;

use opencode_schema::id::SessionID;
use url::Url;

/// The available services and the selection between them.
#[derive(Clone, Debug)]
pub struct SearchServices {
    /// Exa.
    pub exa: SearchService,
    /// Parallel.
    pub parallel: SearchService,
    /// The service to use. If it is `None`, sessions are distributed over both.
    pub chosen: Option<SearchProvider>,
}

/// One service. `Debug` does not show the key.
#[derive(Clone)]
pub struct SearchService {
    /// The address of the service. Tests can change it.
    pub address: Url,
    /// The key of an account, if there is one.
    pub key: Option<String>,
}

/// The name of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchProvider {
    /// `exa`
    Exa,
    /// `parallel`
    Parallel,
}

impl SearchProvider {
    /// Returns the name that permissions and results show.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exa => "exa",
            Self::Parallel => "parallel",
        }
    }
}

impl SearchServices {
    /// Returns the public services, configured by these environment variables:
    /// `OPENCODE_WEBSEARCH_PROVIDER` names a service. `OPENCODE_ENABLE_PARALLEL` and
    /// `OPENCODE_EXPERIMENTAL_PARALLEL`, then `OPENCODE_EXPERIMENTAL`, `OPENCODE_ENABLE_EXA` and
    /// `OPENCODE_EXPERIMENTAL_EXA` choose one with `1` or `true`. `EXA_API_KEY` and `PARALLEL_API_KEY`
    /// are the keys.
    pub fn from_variables<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let service = |address: &str, key: &str| SearchService {
            address: Url::parse(address).expect("the address is written here"),
            key: variable(key)
                .filter(|key| !key.is_empty())
                .map(str::to_owned),
        };
        Self {
            exa: service("https://mcp.exa.ai/mcp", "EXA_API_KEY"),
            parallel: service("https://search.parallel.ai/mcp", "PARALLEL_API_KEY"),
            chosen: chosen(&variable),
        }
    }

    /// Returns the service for a session. All searches of a session use the same one.
    #[must_use]
    pub fn of_session(&self, session: &SessionID) -> SearchProvider {
        self.chosen.unwrap_or_else(|| {
            if fnv_1a(session.as_str()).is_multiple_of(2) {
                SearchProvider::Exa
            } else {
                SearchProvider::Parallel
            }
        })
    }

    pub(crate) fn get(&self, provider: SearchProvider) -> &SearchService {
        match provider {
            SearchProvider::Exa => &self.exa,
            SearchProvider::Parallel => &self.parallel,
        }
    }
}

fn chosen<'a>(variable: &impl Fn(&str) -> Option<&'a str>) -> Option<SearchProvider> {
    let is_on = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| variable(name));
        values.any(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    };
    match variable("OPENCODE_WEBSEARCH_PROVIDER") {
        Some("exa") => return Some(SearchProvider::Exa),
        Some("parallel") => return Some(SearchProvider::Parallel),
        _ => {}
    }
    if is_on(&["OPENCODE_ENABLE_PARALLEL", "OPENCODE_EXPERIMENTAL_PARALLEL"]) {
        return Some(SearchProvider::Parallel);
    }
    let exa = [
        "OPENCODE_EXPERIMENTAL",
        "OPENCODE_ENABLE_EXA",
        "OPENCODE_EXPERIMENTAL_EXA",
    ];
    is_on(&exa).then_some(SearchProvider::Exa)
}

/// Returns the 32-bit FNV-1a hash.
fn fnv_1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

impl fmt::Debug for SearchService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchService")
            .field("address", &self.address.as_str())
            .field("has_key", &self.key.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &'static str)]) -> SearchServices {
        SearchServices::from_variables(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| *value)
        })
    }

    #[test]
    fn variables_choose_the_service() {
        use SearchProvider::{Exa, Parallel};
        for (set, expected) in [
            (&[][..], None),
            (&[("OPENCODE_WEBSEARCH_PROVIDER", "exa")], Some(Exa)),
            (
                &[("OPENCODE_WEBSEARCH_PROVIDER", "parallel")],
                Some(Parallel),
            ),
            (&[("OPENCODE_WEBSEARCH_PROVIDER", "other")], None),
            (
                &[
                    ("OPENCODE_WEBSEARCH_PROVIDER", "exa"),
                    ("OPENCODE_ENABLE_PARALLEL", "1"),
                ],
                Some(Exa),
            ),
            (
                &[
                    ("OPENCODE_EXPERIMENTAL", "1"),
                    ("OPENCODE_EXPERIMENTAL_PARALLEL", "TRUE"),
                ],
                Some(Parallel),
            ),
            (&[("OPENCODE_ENABLE_PARALLEL", "0")], None),
            (&[("OPENCODE_EXPERIMENTAL", "true")], Some(Exa)),
            (&[("OPENCODE_ENABLE_EXA", "1")], Some(Exa)),
            (&[("OPENCODE_EXPERIMENTAL_EXA", "1")], Some(Exa)),
        ] {
            assert_eq!(with(set).chosen, expected, "{set:?}");
        }
    }

    #[test]
    fn sessions_are_spread_by_their_id() {
        // The published test values of the hash.
        assert_eq!(
            [fnv_1a(""), fnv_1a("a"), fnv_1a("foobar")],
            [0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968]
        );
        let of = |id: &str| with(&[]).of_session(&SessionID::parse(id).unwrap());
        let sessions = ["ses_1", "ses_2", "ses_3", "ses_4"];
        assert_eq!(
            sessions.map(|id| (fnv_1a(id) % 2, of(id).name())),
            [(0, "exa"), (1, "parallel"), (0, "exa"), (1, "parallel")]
        );
    }

    #[test]
    fn debug_shows_no_search_keys() {
        let services = with(&[("EXA_API_KEY", "k-1"), ("PARALLEL_API_KEY", "")]);
        assert_eq!(services.exa.key.as_deref(), Some("k-1"));
        assert_eq!(services.parallel.key, None);
        assert_eq!(
            format!("{services:?}"),
            "SearchServices { exa: SearchService { address: \"https://mcp.exa.ai/mcp\", has_key: true }, \
             parallel: SearchService { address: \"https://search.parallel.ai/mcp\", has_key: false }, \
             chosen: None }"
        );
    }
}
