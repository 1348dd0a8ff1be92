//! The properties of the JSON that JavaScript passes to a host, for the fuzzer.

use super::{HostOptions, ListenOptions, LogOptions};

/// More characters than any refusal has, in addition to a name of the caller.
const MAX_MORE: usize = 2_000;

/// Options are read, or refused with a message of readable length.
pub(crate) fn check(input: &[u8]) {
    let refusals = [
        serde_json::from_slice::<HostOptions>(input).err(),
        serde_json::from_slice::<ListenOptions>(input).err(),
        serde_json::from_slice::<LogOptions>(input).err(),
    ];
    for refusal in refusals.into_iter().flatten() {
        let message = refusal.to_string();
        assert!(
            message.chars().count() < input.len() + MAX_MORE,
            "{message}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::replay::replay;

    #[test]
    fn stored_fuzz_inputs_satisfy_the_properties_of_options() {
        replay("border", check);
    }
}
