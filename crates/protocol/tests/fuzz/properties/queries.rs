//! The properties of queries and of the parameters of paths.

use std::fmt::Debug;
use std::sync::LazyLock;

use opencode_protocol::decode::Decoder;
use opencode_protocol::failure::Failure;
use opencode_protocol::input::{
    EventsQuery, FilesFindQuery, FilesListQuery, FilesReadParams, HistoryQuery, InputParams,
    LocationSelection, MessageParams, MessagesQuery, PermissionParams, PtyConnectQuery, PtyParams,
    QuestionParams, SavedPermissionsQuery, SessionParams, SessionsQuery,
};
use opencode_protocol::operation::Channel;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

const MAX_MESSAGE: usize = 1_100;

pub(crate) type Pairs = Vec<(String, String)>;

/// Names and values. The router decodes them before this point.
pub(crate) fn pairs(bytes: &[u8]) -> Pairs {
    let text = String::from_utf8_lossy(bytes);
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (name.to_owned(), value.to_owned())
    };
    text.split('&').map(pair).collect()
}

type Check = Box<dyn Fn(&Pairs) + Send + Sync>;

/// Decodes the input as the query and the path of each operation.
static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let (query, path) = (Channel::Query, Channel::Params);
    vec![
        decoded::<SessionsQuery>(query),
        decoded::<MessagesQuery>(query),
        decoded::<HistoryQuery>(query),
        decoded::<EventsQuery>(query),
        decoded::<LocationSelection>(query),
        decoded::<SavedPermissionsQuery>(query),
        decoded::<FilesListQuery>(query),
        decoded::<FilesFindQuery>(query),
        decoded::<PtyConnectQuery>(query),
        decoded::<SessionParams>(path),
        decoded::<MessageParams>(path),
        decoded::<InputParams>(path),
        decoded::<PermissionParams>(path),
        decoded::<QuestionParams>(path),
        decoded::<PtyParams>(path),
        decoded::<FilesReadParams>(path),
    ]
});

/// Decoding returns an input or a typed refusal of readable length.
fn decoded<T>(channel: Channel) -> Check
where
    T: DeserializeOwned + JsonSchema + PartialEq + Debug + 'static,
{
    let decoder = Decoder::<T>::new(channel);
    Box::new(move |pairs| match decoder.pairs(pairs) {
        Ok(input) => {
            // Undeclared parameters have no effect.
            let mut more = pairs.clone();
            more.insert(0, ("undeclared".into(), "x".into()));
            more.push(("undeclared[limit]".into(), "y".into()));
            assert_eq!(decoder.pairs(&more), Ok(input));
        }
        Err(Failure::InvalidRequest {
            message,
            kind: Some(kind),
            field: None,
        }) => {
            assert_eq!(kind, channel);
            assert!(message.chars().count() < MAX_MESSAGE, "{message}");
        }
        Err(other) => panic!("{other:?}"),
    })
}

pub(crate) fn check_pairs(pairs: &Pairs) {
    CHECKS.iter().for_each(|check| check(pairs));
}

/// Splits a text into names and values, like the query of an address.
pub(crate) fn check(bytes: &[u8]) {
    check_pairs(&pairs(bytes));
}
