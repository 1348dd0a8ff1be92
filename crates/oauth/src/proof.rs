//! The random values of an authorization: its state, and the proof key of RFC 7636.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use zeroize::Zeroizing;

use opencode_secrets::Secret;

/// Returns 256 random bits as text.
///
/// # Errors
///
/// Fails if the operating system has no randomness.
pub(crate) fn random() -> Result<Secret, String> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).map_err(|error| error.to_string())?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(*bytes)))
}

/// Returns the challenge `S256` of a verifier.
pub(crate) fn challenge(verifier: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.expose().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_specification() {
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(
            challenge(&verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        assert_eq!(random().unwrap().expose().len(), 43);
    }
}
