use std::sync::Arc;

use crate::tail::Tails;

#[test]
fn a_dropped_tail_is_removed() {
    let tails = Arc::new(Tails::default());
    let registered = [1, 1, 2].map(|aggregate| tails.register(aggregate));
    for tail in registered {
        assert!(!tails.is_empty());
        drop(tail);
    }
    assert!(tails.is_empty());
}
