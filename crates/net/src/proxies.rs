//! Proxies of requests. Only the host configures them, never the environment of the process.

use reqwest::{ClientBuilder, NoProxy, Proxy};

/// Addresses of proxies. Without an address, connections are direct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The proxy for plain requests.
    pub http: Option<String>,
    /// The proxy for encrypted requests.
    pub https: Option<String>,
    /// Hosts with direct connections, separated by commas.
    pub except: Option<String>,
}

impl Proxies {
    /// Reads the proxies from the usual variables. Lower-case names take precedence over upper-case ones.
    pub fn from_variables<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let named = |lower: &str, upper: &str| variable(lower).or_else(|| variable(upper));
        let all = named("all_proxy", "ALL_PROXY");
        Self {
            // Ignores `HTTP_PROXY`: a server that passes request headers as variables lets clients set it.
            http: variable("http_proxy").or(all).map(str::to_owned),
            https: named("https_proxy", "HTTPS_PROXY")
                .or(all)
                .map(str::to_owned),
            except: named("no_proxy", "NO_PROXY").map(str::to_owned),
        }
    }

    /// Returns the builder with these proxies only.
    pub(super) fn apply(&self, builder: ClientBuilder) -> Result<ClientBuilder, reqwest::Error> {
        let except = self.except.as_deref().and_then(NoProxy::from_string);
        let mut builder = builder.no_proxy();
        if let Some(address) = &self.http {
            builder = builder.proxy(Proxy::http(address)?.no_proxy(except.clone()));
        }
        if let Some(address) = &self.https {
            builder = builder.proxy(Proxy::https(address)?.no_proxy(except));
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_select_proxies() {
        let proxies = |set: &'static [(&str, &str)]| {
            Proxies::from_variables(|name| {
                set.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| *value)
            })
        };
        assert_eq!(proxies(&[]), Proxies::default());
        assert_eq!(proxies(&[("HTTP_PROXY", "http://a")]), Proxies::default());
        assert_eq!(
            proxies(&[
                ("http_proxy", "http://a"),
                ("HTTPS_PROXY", "http://b"),
                ("ALL_PROXY", "http://c"),
                ("NO_PROXY", "localhost,.internal"),
            ]),
            Proxies {
                http: Some("http://a".into()),
                https: Some("http://b".into()),
                except: Some("localhost,.internal".into()),
            }
        );
        assert_eq!(
            proxies(&[("ALL_PROXY", "http://c")]).https,
            Some("http://c".into())
        );
    }
}
