use std::sync::Arc;

use crate::integer::SessionKey;
use crate::tail::Tails;

#[test]
fn a_dropped_tail_is_removed() {
    let tails = Arc::new(Tails::default());
    let registered = [1, 1, 2].map(|aggregate| tails.register(SessionKey(aggregate)));
    for tail in registered {
        assert!(!tails.is_empty());
        drop(tail);
    }
    assert!(tails.is_empty());
}
