//! Any bytes lead to exactly one outcome, and the places of cuts change nothing.

use proptest::prelude::*;

use super::outcome::check_one_outcome;
use super::*;

proptest! {
    #[test]
    fn any_bytes_have_one_outcome(wire in proptest::collection::vec(any::<u8>(), 0..400), cuts in proptest::collection::vec(any::<usize>(), 0..4)) {
        check_one_outcome(decoder(), &wire, &cuts);
    }

    #[test]
    fn any_payload_has_one_outcome(name in "(messageStart|contentBlock(Start|Delta|Stop)|messageStop|metadata|x)", payload in "\\PC{0,60}") {
        let headers = [(":message-type", "event"), (":event-type", name.as_str())];
        check_one_outcome(decoder(), &frame(&headers, &payload), &[]);
    }

    #[test]
    fn any_part_of_a_stream_has_one_outcome(end in any::<prop::sample::Index>(), cuts in proptest::collection::vec(any::<usize>(), 0..4)) {
        let wire = turn();
        let end = end.index(wire.len() + 1);
        check_one_outcome(decoder(), &wire[..end], &cuts);
    }
}

#[test]
fn a_stream_may_be_split_at_every_byte() {
    let wire = turn();
    let (whole, outcome) = decode(&wire);
    assert_eq!(outcome, Ok(()));
    for at in 0..wire.len() {
        let mut decoder = decoder();
        let mut events = Vec::new();
        let (head, tail) = wire.split_at(at);
        decoder.push(head, &mut events).unwrap();
        decoder.push(tail, &mut events).unwrap();
        decoder.end(&mut events).unwrap();
        assert_eq!(events, whole, "split at {at}");
    }
}
