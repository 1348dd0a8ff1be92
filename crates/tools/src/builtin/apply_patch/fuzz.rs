//! Checks the properties of patches for the fuzzer.

use super::parse::{Action, Line, parse};
use super::update::update;
use crate::builtin::text::Text;

/// The input before the first NUL is the patch; the rest is the file that it changes.
pub(crate) fn check(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    let (patch, file) = input.split_once('\0').unwrap_or((&input, ""));
    let Ok(hunks) = parse(patch) else {
        return;
    };
    for hunk in hunks {
        assert!(patch.contains(&hunk.path), "{:?}", hunk.path);
        let Action::Update(chunks) = hunk.action else {
            continue;
        };
        let Ok(edits) = update(file, &chunks, &hunk.path, true) else {
            continue;
        };
        let Ok(Ok(updated)) = Text::decode(file.into()).map(|file| file.change(&edits)) else {
            continue;
        };
        let updated = updated.text;
        // Each new line may have one byte more than in the patch.
        assert!(
            updated.len() <= file.len() + 2 * patch.len() + 2,
            "{updated:?}"
        );
        for line in chunks.iter().flat_map(|chunk| &chunk.lines) {
            if let Line::Insert(line) = line {
                assert!(updated.contains(line.as_str()), "{line:?} is lost");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::replay::replay;
    use super::check;

    #[test]
    fn stored_fuzz_inputs_satisfy_the_properties_of_patches() {
        replay("patch", check);
    }
}
