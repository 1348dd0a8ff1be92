//! Properties that hold for every input. The fuzzing targets include these files too.

pub(crate) mod bodies;
pub(crate) mod cursors;
pub(crate) mod queries;

#[cfg(test)]
mod tests {
    use super::{bodies, cursors, queries};
    use crate::replay::replay;

    #[test]
    fn kept_inputs_keep_their_properties() {
        replay("bodies", bodies::check);
        replay("cursors", cursors::check);
        replay("queries", queries::check);
    }
}
