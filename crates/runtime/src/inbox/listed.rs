//! The mentions of a prompt that its caller did not list as files or agents.

use opencode_schema::prompt::{Prompt, PromptSource};

use super::mention_scan::{Mention, scan};

/// Returns the ranges of the text without mentions to expand, in UTF-16 code units: those that the caller listed as files
/// or agents, and those that come from programs.
pub(super) fn listed_ranges(prompt: &Prompt) -> Vec<(f64, f64)> {
    let outputs = prompt.command.iter().flat_map(|it| &it.outputs);
    let outputs = outputs.map(|it| (it.start as f64, it.end as f64));
    let files = prompt.files.iter().flatten();
    let agents = prompt.agents.iter().flatten();
    let files = files.filter_map(|it| it.source.as_ref());
    let sources = files.chain(agents.filter_map(|it| it.source.as_ref()));
    let sources = sources.map(|PromptSource { start, end, .. }| (*start, *end));
    sources.chain(outputs).collect()
}

/// Returns the mentions of a text that overlap none of the listed ranges.
pub(super) fn unlisted(text: &str, listed: &[(f64, f64)]) -> Vec<Mention> {
    let mut mentions = scan(text);
    if listed.is_empty() {
        return mentions;
    }
    let (mut bytes, mut units) = (0, 0);
    let mut position = |at: usize| {
        units += text[bytes..at].encode_utf16().count();
        bytes = at;
        units as f64
    };
    mentions.retain(|mention| {
        let (start, end) = (position(mention.range.start), position(mention.range.end));
        !listed
            .iter()
            .any(|(first, last)| *first < end && start < *last)
    });
    mentions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_range_hides_its_mention() {
        let text = "\u{1f980} @a.ts and @b.ts";
        let names = |listed: &[(f64, f64)]| {
            let mentions = unlisted(text, listed);
            let names = mentions.iter().map(|it| &text[it.range.clone()]);
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["@a.ts", "@b.ts"]);
        assert_eq!(names(&[(3.0, 8.0)]), ["@b.ts"]);
        assert_eq!(names(&[(13.0, 18.0)]), ["@a.ts"]);
        assert_eq!(names(&[(8.0, 13.0)]), ["@a.ts", "@b.ts"]);
        assert_eq!(names(&[(f64::NAN, f64::NAN)]), ["@a.ts", "@b.ts"]);
        assert_eq!(names(&[(f64::MIN, f64::MAX)]), [""; 0]);
    }
}
