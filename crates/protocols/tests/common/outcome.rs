//! For every input, there is exactly one outcome and the events before it are well formed.

use opencode_llm::LlmEvent;
use opencode_protocols::Decoder;

/// Feeds the bytes to a decoder, split at these positions, and feeds them again after the outcome.
pub(crate) fn check_one_outcome(mut decoder: Box<dyn Decoder>, wire: &[u8], cuts: &[usize]) {
    let mut events = Vec::new();
    let mut errors = Vec::new();
    let mut rest = wire;
    for cut in cuts {
        let (head, tail) = rest.split_at(*cut % (rest.len() + 1));
        errors.extend(decoder.push(head, &mut events).err());
        rest = tail;
    }
    errors.extend(decoder.push(rest, &mut events).err());
    errors.extend(decoder.end(&mut events).err());
    assert!(decoder.is_over());
    let before = events.len();
    let _ = decoder.push(wire, &mut events);
    let _ = decoder.end(&mut events);
    assert_eq!(before, events.len());

    let terminals = events.iter().filter(|event| event.is_terminal()).count();
    assert_eq!(terminals + errors.len(), 1, "{events:?} {errors:?}");
    assert!(terminals == 0 || events.last().is_some_and(LlmEvent::is_terminal));
    let starts = events
        .iter()
        .filter(|event| matches!(event, LlmEvent::StepStart { .. }))
        .count();
    assert_eq!(starts, usize::from(!events.is_empty()));
    let empty = |event: &LlmEvent| match event {
        LlmEvent::TextDelta { text, .. }
        | LlmEvent::ReasoningDelta { text, .. }
        | LlmEvent::ToolInputDelta { text, .. } => text.is_empty(),
        _ => false,
    };
    assert!(!events.iter().any(empty));
}
