//! Finds the mentions in the text of a prompt: `@path`, `@agent`, `@reference:name`, `@mcp:server/resource`.
//!
//! The scan depends on the text alone. A mention that names nothing stays plain text, so an email address or a
//! decorator in the text has no effect.

use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of mentions of one prompt. Later ones stay plain text.
pub(super) const MAX_MENTIONS: usize = 100;

/// Maximum length of a mention in bytes. A longer one stays plain text.
pub(super) const MAX_BYTES: usize = 4_096;

/// A range of lines, counted from 1, as the text gives it.
pub(super) type LineRange = (u64, u64);

/// A possible mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Its place in the text in bytes, with the `@`.
    pub(super) range: Range<usize>,
    pub(super) target: MentionTarget,
}

/// The target of a mention. It may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MentionTarget {
    /// A file, a directory or an agent.
    Name {
        name: String,
        lines: Option<LineRange>,
    },
    /// A configured reference, or a path in it.
    Reference {
        name: String,
        path: Option<String>,
        lines: Option<LineRange>,
    },
    /// A resource of an MCP server.
    Resource { server: String, uri: String },
}

/// True if the text may contain mentions. It is true for every text in which [`scan`] finds one.
pub(super) fn may_mention(text: &str) -> bool {
    text.contains('@')
}

/// Returns the mentions of a text, in their order.
pub(super) fn scan(text: &str) -> Vec<Mention> {
    if !may_mention(text) {
        return Vec::new();
    }
    let mut mentions: Vec<Mention> = Vec::new();
    let mut code = code_ranges(text).into_iter().peekable();
    for (at, _) in text.match_indices('@') {
        if mentions.len() == MAX_MENTIONS {
            break;
        }
        while code.next_if(|range| range.end <= at).is_some() {}
        let is_code = code.peek().is_some_and(|range| range.start <= at);
        let is_inside = mentions.last().is_some_and(|last| at < last.range.end);
        let before = text[..at].chars().next_back();
        if !is_code && !is_inside && before.is_none_or(may_precede) {
            mentions.extend(mention(text, at));
        }
    }
    mentions
}

/// True if a mention may follow this character: a blank, an opening bracket, a quotation mark, a comma, a semicolon, a
/// colon, or a sign outside of ASCII that is no letter or digit.
fn may_precede(character: char) -> bool {
    match character.is_ascii() {
        true => character.is_ascii_whitespace() || "([{<\"',;:".contains(character),
        false => !character.is_alphanumeric(),
    }
}

fn mention(text: &str, at: usize) -> Option<Mention> {
    let rest = &text[at + 1..];
    let (name, length) = match rest.strip_prefix('"') {
        Some(quoted) => {
            let limit = quoted.floor_char_boundary(MAX_BYTES);
            let end = quoted[..limit].find(['"', '\n'])?;
            let name = quoted[..end].to_owned();
            if !quoted[end..].starts_with('"') {
                return None;
            }
            let lines = &quoted[end + 1..];
            let fragment = &lines[..word_end(lines)];
            let fragment = without_punctuation(fragment);
            match fragment.starts_with("#L") && lines_of(&fragment[1..]).is_some() {
                true => (name + fragment, end + 2 + fragment.len()),
                false => (name, end + 2),
            }
        }
        None => {
            let word = without_punctuation(&rest[..word_end(rest)]);
            (word.to_owned(), word.len())
        }
    };
    if name.len() > MAX_BYTES {
        return None;
    }
    Some(Mention {
        range: at..at + 1 + length,
        target: target(&name)?,
    })
}

/// Returns the end of the word at the beginning of a text.
fn word_end(text: &str) -> usize {
    let limit = text.floor_char_boundary(MAX_BYTES + 4);
    let ends = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || "\"`<>|".contains(character)
            || "，。；：！？、（）「」『』《》“”".contains(character)
    };
    text[..limit].find(ends).unwrap_or(limit)
}

/// Removes the punctuation that ends a sentence or closes a bracket around the word.
fn without_punctuation(word: &str) -> &str {
    let mut word = word;
    // The numbers of brackets are counted once, because a hostile word has thousands of them.
    let count = |word: &str, bracket: char| word.matches(bracket).count();
    let mut open = [(')', '('), (']', '['), ('}', '{')]
        .map(|(close, open)| (close, count(word, close) as i64 - count(word, open) as i64));
    while let Some(last) = word.chars().next_back() {
        if let Some((_, excess)) = open.iter_mut().find(|(close, _)| *close == last) {
            if *excess <= 0 {
                break;
            }
            *excess -= 1;
        } else if !".,;:!?'*".contains(last) {
            break;
        }
        word = &word[..word.len() - last.len_utf8()];
    }
    word
}

fn target(word: &str) -> Option<MentionTarget> {
    if let Some(rest) = word.strip_prefix("mcp:") {
        let (server, uri) = rest.split_once('/')?;
        let is_named = !server.is_empty() && !uri.is_empty();
        return is_named.then(|| MentionTarget::Resource {
            server: server.to_owned(),
            uri: uri.to_owned(),
        });
    }
    let (name, lines) = match word.rsplit_once('#') {
        Some((name, fragment)) => match lines_of(fragment) {
            Some(lines) => (name, Some(lines)),
            None => (word, None),
        },
        None => (word, None),
    };
    if let Some(rest) = name.strip_prefix("reference:") {
        let (name, path) = match rest.split_once('/') {
            Some((name, path)) => (name, Some(path).filter(|path| !path.is_empty())),
            None => (rest, None),
        };
        return (!name.is_empty()).then(|| MentionTarget::Reference {
            name: name.to_owned(),
            path: path.map(str::to_owned),
            lines,
        });
    }
    (!name.is_empty()).then(|| MentionTarget::Name {
        name: name.to_owned(),
        lines,
    })
}

/// Reads `L10`, `L10-20` or `L10-L20`.
pub(super) fn lines_of(fragment: &str) -> Option<LineRange> {
    let (first, last) = match fragment.split_once('-') {
        Some((first, last)) => (first, last.strip_prefix('L').unwrap_or(last)),
        None => (fragment, fragment.strip_prefix('L')?),
    };
    Some((number(first.strip_prefix('L')?)?, number(last)?))
}

/// Reads a number without a sign.
pub(super) fn number(digits: &str) -> Option<u64> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Returns the places of code in a Markdown text, in order: code spans, and blocks between fences.
fn code_ranges(text: &str) -> Vec<Range<usize>> {
    if !text.contains('`') && !text.contains("~~~") {
        return Vec::new();
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut spans = Spans::of(text);
    let mut fence: Option<(Fence, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        match (&fence, Fence::of(line)) {
            (Some((open, begin)), Some(close)) if open.is_closed_by(&close) => {
                ranges.push(*begin..end);
                fence = None;
            }
            (Some(_), _) => {}
            // A fence in a code span that began earlier is part of the span.
            (None, Some(open)) if !spans.covers(start) => fence = Some((open, start)),
            (None, _) => ranges.extend(spans.in_line(start..end)),
        }
    }
    ranges.extend(fence.map(|(_, begin)| begin..text.len()));
    ranges
}

/// A line that begins or ends a block of code.
struct Fence {
    mark: char,
    length: usize,
    has_info: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(['\n', '\r']);
        let marks = line.trim_start_matches(' ');
        let mark = marks.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let info = marks.trim_start_matches(mark);
        let length = marks.len() - info.len();
        let is_fence = line.len() - marks.len() <= 3 && length >= 3;
        // A code span in one line begins like a fence, but its line contains another backtick.
        (is_fence && !(mark == '`' && info.contains('`'))).then(|| Self {
            mark,
            length,
            has_info: !info.trim().is_empty(),
        })
    }

    fn is_closed_by(&self, other: &Self) -> bool {
        other.mark == self.mark && other.length >= self.length && !other.has_info
    }
}

/// The runs of backticks in a text.
struct Spans {
    /// Start and length of each run, in order.
    runs: Vec<(usize, usize)>,
    /// Indices into `runs` by length.
    by_length: HashMap<usize, Vec<usize>>,
    /// The next run to look at.
    next: usize,
    /// The end of the last span.
    end: usize,
}

impl Spans {
    fn of(text: &str) -> Self {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (at, _) in text.match_indices('`') {
            match runs.last_mut() {
                Some((start, length)) if *start + *length == at => *length += 1,
                _ => runs.push((at, 1)),
            }
        }
        let mut by_length: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, (_, length)) in runs.iter().enumerate() {
            by_length.entry(*length).or_default().push(index);
        }
        Self {
            runs,
            by_length,
            next: 0,
            end: 0,
        }
    }

    fn covers(&self, at: usize) -> bool {
        at < self.end
    }

    /// Returns the spans that begin in a line. A span ends at the next run of the same length, in any later line.
    fn in_line(&mut self, line: Range<usize>) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        while let Some(&(start, length)) = self.runs.get(self.next) {
            if start >= line.end {
                break;
            }
            let this = self.next;
            self.next += 1;
            if start < line.start || start < self.end {
                continue;
            }
            let same = &self.by_length[&length];
            let Some(close) = same.get(same.partition_point(|index| *index <= this)) else {
                continue;
            };
            self.next = close + 1;
            self.end = self.runs[*close].0 + length;
            spans.push(start..self.end);
        }
        spans
    }
}

#[cfg(test)]
mod tests;
