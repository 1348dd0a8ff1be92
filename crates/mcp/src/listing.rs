//! Lists of servers, page by page.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, RequestError};
use crate::content::take;
use crate::limits::{MAX_CURSOR, MAX_PAGES};

/// The failure of a listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("The answer to {method} has no list \"{key}\".")]
    NoList {
        method: &'static str,
        key: &'static str,
    },
    #[error("{0} has a page that refers to an earlier page.")]
    RepeatedCursor(&'static str),
    #[error("{0} has too many pages or a cursor that is too long.")]
    TooMuch(&'static str),
}

/// Gives each item of a list to a function until it breaks.
pub(crate) async fn list(
    connection: &Connection,
    method: &'static str,
    key: &'static str,
    cancel: &CancellationToken,
    mut each: impl FnMut(Value) -> ControlFlow<()>,
) -> Result<(), ListError> {
    let mut seen = HashSet::new();
    let mut params = Map::new();
    for _ in 0..MAX_PAGES {
        let params_now = Value::Object(params.clone());
        let mut page = connection.request(method, params_now, None, cancel).await?;
        let Some(Value::Array(items)) = page.get_mut(key).map(Value::take) else {
            return Err(ListError::NoList { method, key });
        };
        for item in items {
            if each(item).is_break() {
                return Ok(());
            }
        }
        let Some(cursor) = take(&mut page, "nextCursor").filter(|cursor| !cursor.is_empty()) else {
            return Ok(());
        };
        if cursor.len() > MAX_CURSOR {
            break;
        }
        if !seen.insert(cursor.clone()) {
            return Err(ListError::RepeatedCursor(method));
        }
        params.insert("cursor".to_owned(), Value::String(cursor));
    }
    Err(ListError::TooMuch(method))
}
