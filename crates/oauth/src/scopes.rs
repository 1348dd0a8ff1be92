//! Lists of scopes (RFC 6749, section 3.3).

/// Maximum number of scopes that a server may name.
pub const MAX_SCOPES: usize = 100;

/// Maximum length of a scope.
const MAX_SCOPE_BYTES: usize = 256;

/// Splits a list of scopes. Omits those that no request may contain.
#[must_use]
pub fn scopes(list: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in list.split(' ').filter(|scope| is_scope(scope)) {
        if scopes.len() < MAX_SCOPES && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// True for a text that RFC 6749 accepts as a scope.
#[must_use]
pub fn is_scope(text: &str) -> bool {
    let fits = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !text.is_empty() && text.len() <= MAX_SCOPE_BYTES && text.bytes().all(fits)
}
