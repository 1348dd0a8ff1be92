//! The properties of bodies.

use std::fmt::Debug;
use std::sync::LazyLock;

use opencode_protocol::decode::Decoder;
use opencode_protocol::failure::Failure;
use opencode_protocol::input::{
    CompleteAttemptPayload, ConnectKeyPayload, ConnectOauthPayload, CredentialUpdatePayload,
    MovePayload, PermissionCreatePayload, PermissionReplyPayload, PromptPayload, PtyCreatePayload,
    PtyUpdatePayload, RevertStagePayload, SessionCreatePayload, SetDeliveryPayload,
    SwitchAgentPayload, SwitchModelPayload,
};
use opencode_protocol::operation::Channel;
use opencode_schema::question::QuestionReply;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// More characters than any refusal has: a description is cut at 1024.
const MAX_MESSAGE: usize = 1_100;

type Check = Box<dyn Fn(&[u8]) + Send + Sync>;

/// Decodes the input as the body of each operation.
static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    vec![
        decoded::<SessionCreatePayload>(),
        decoded::<PromptPayload>(),
        decoded::<MovePayload>(),
        decoded::<SetDeliveryPayload>(),
        decoded::<SwitchAgentPayload>(),
        decoded::<SwitchModelPayload>(),
        decoded::<RevertStagePayload>(),
        decoded::<PermissionCreatePayload>(),
        decoded::<PermissionReplyPayload>(),
        decoded::<QuestionReply>(),
        decoded::<PtyCreatePayload>(),
        decoded::<PtyUpdatePayload>(),
        decoded::<ConnectKeyPayload>(),
        decoded::<ConnectOauthPayload>(),
        decoded::<CompleteAttemptPayload>(),
        decoded::<CredentialUpdatePayload>(),
    ]
});

/// Decoding returns an input or a typed refusal of readable length. An accepted body equals the decoding of its
/// parsed value, and is accepted again when it is encoded again.
fn decoded<T>() -> Check
where
    T: DeserializeOwned + JsonSchema + PartialEq + Debug + 'static,
{
    let decoder = Decoder::<T>::new(Channel::Payload);
    Box::new(move |bytes| match decoder.body(bytes) {
        Ok(input) => {
            let value: Value = serde_json::from_str(&String::from_utf8_lossy(bytes))
                .expect("what was read is JSON");
            assert_eq!(decoder.body(value.to_string().as_bytes()), Ok(input));
        }
        Err(failure) => check_refusal(&failure),
    })
}

fn check_refusal(failure: &Failure) {
    let Failure::InvalidRequest {
        message,
        kind: Some(Channel::Payload),
        field: None,
    } = failure
    else {
        panic!("{failure:?}");
    };
    assert!(message.chars().count() < MAX_MESSAGE, "{message}");
}

pub(crate) fn check(bytes: &[u8]) {
    CHECKS.iter().for_each(|check| check(bytes));
}
