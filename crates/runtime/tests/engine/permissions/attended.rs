//! Programs that observe each request when it arrives.

use futures::{FutureExt, StreamExt};
use opencode_runtime::RequestNotice;
use opencode_schema::id::PermissionID;
use opencode_schema::permission::{PermissionReply, PermissionRequest};
use opencode_testkit::{Fixture, Reply};

use super::{ask, open, reply};

type Notice = RequestNotice<PermissionRequest, PermissionID>;

async fn next(
    f: &Fixture,
    requests: &mut (impl futures::Stream<Item = Notice> + Unpin),
) -> Option<Notice> {
    f.within("the next notice", requests.next()).await
}

fn asked(request: &PermissionRequest) -> Option<Notice> {
    Some(RequestNotice::Asked(request.clone()))
}

fn ended(request: &PermissionRequest) -> Option<Notice> {
    Some(RequestNotice::Ended(request.id.clone()))
}

#[tokio::test]
async fn each_pending_and_new_request_is_delivered_once() {
    let f = open().await;
    let (one, two) = (f.session().await, f.session().await);
    let mut live = f.live();
    let first = ask(&f, &mut live, &one, &["x"]).await.remove(0);
    let mut requests = Box::pin(f.runtime().asked_permissions());
    assert_eq!(next(&f, &mut requests).await, asked(&first));
    assert_eq!(requests.next().now_or_never(), None);
    let second = ask(&f, &mut live, &two, &["y"]).await.remove(0);
    assert_eq!(next(&f, &mut requests).await, asked(&second));
    f.model.reply(Reply::says("Well."));
    reply(&f, &first, PermissionReply::Once).await;
    f.wait(&one).await;
    assert_eq!(next(&f, &mut requests).await, ended(&first));
    assert_eq!(requests.next().now_or_never(), None);
    // A later observer does not see requests that have ended.
    let mut late = Box::pin(f.runtime().asked_permissions());
    assert_eq!(next(&f, &mut late).await, asked(&second));
    assert_eq!(late.next().now_or_never(), None);
    f.close().await;
    assert_eq!(next(&f, &mut requests).await, ended(&second));
    assert_eq!(next(&f, &mut late).await, ended(&second));
    assert_eq!(next(&f, &mut requests).await, None);
    assert_eq!(next(&f, &mut late).await, None);
}

#[tokio::test]
async fn concurrent_requests_are_delivered_in_order() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let mut requests = Box::pin(f.runtime().asked_permissions());
    let names: Vec<_> = (0..20).map(|number| format!("x{number:02}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    ask(&f, &mut live, &session, &names).await;
    let listed = f.runtime().permissions(&session).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..20 {
        seen.extend(next(&f, &mut requests).await);
    }
    let all: Vec<_> = listed.iter().filter_map(asked).collect();
    assert_eq!(seen, all);
    f.interrupt(&session).await;
    for request in &listed {
        assert_eq!(next(&f, &mut requests).await, ended(request));
    }
    assert_eq!(requests.next().now_or_never(), None);
}
