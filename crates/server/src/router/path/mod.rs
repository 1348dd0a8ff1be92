//! Matches the path of a request with the path of an operation. Slashes may repeat or trail. Fixed segments match in
//! any case, and percent-encoded. Parameters are decoded once and may contain any text, the rest of a path included.

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod laws;

use percent_encoding::percent_decode_str;

/// The values of the parameters of a path, with their names. Sorted as in the path.
pub(crate) type Params = Vec<(&'static str, String)>;

/// The path of operations.
pub(crate) struct Template {
    segments: Vec<Segment>,
}

enum Segment {
    Fixed(&'static str),
    Parameter(&'static str),
    /// All segments that remain.
    Rest(&'static str),
}

/// Returns the segments of a path with their escapes resolved, or `None` if one is invalid.
pub(crate) fn parse_segments(path: &str) -> Option<Vec<String>> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments.map(decode).collect()
}

impl Segment {
    fn of(text: &'static str) -> Self {
        match text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(name) => match name.strip_prefix('*') {
                Some(name) => Self::Rest(name),
                None => Self::Parameter(name),
            },
            None => Self::Fixed(text),
        }
    }

    fn admits(&self, given: &str) -> bool {
        match self {
            Self::Fixed(text) => text.eq_ignore_ascii_case(given),
            Self::Parameter(_) | Self::Rest(_) => true,
        }
    }
}

impl Template {
    pub(crate) fn new(path: &'static str) -> Self {
        let segments = path.split('/').filter(|it| !it.is_empty());
        Self {
            segments: segments.map(Segment::of).collect(),
        }
    }

    /// Returns the number of segments that admit any text.
    pub(crate) fn parameters(&self) -> usize {
        let is_fixed = |it: &&Segment| matches!(it, Segment::Fixed(_));
        self.segments.len() - self.segments.iter().filter(is_fixed).count()
    }

    /// Returns the parameters in the path of a request, or `None` if it is another path.
    pub(crate) fn read(&self, segments: &[String]) -> Option<Params> {
        if !self.matches(segments) {
            return None;
        }
        let places = self.segments.iter().enumerate();
        let params = places.filter_map(|(place, segment)| match segment {
            Segment::Fixed(_) => None,
            Segment::Parameter(name) => Some((*name, segments[place].clone())),
            Segment::Rest(name) => Some((*name, rest(&segments[place..]))),
        });
        Some(params.collect())
    }

    fn matches(&self, segments: &[String]) -> bool {
        let (wanted, has_enough) = match self.segments.split_last() {
            Some((Segment::Rest(_), before)) => (before, segments.len() >= before.len()),
            _ => (&*self.segments, segments.len() == self.segments.len()),
        };
        let mut pairs = wanted.iter().zip(segments);
        has_enough && pairs.all(|(wanted, given)| wanted.admits(given))
    }
}

/// Returns segments as the rest of a path. Without segments it is the directory itself.
fn rest(segments: &[String]) -> String {
    match segments {
        [] => ".".to_owned(),
        segments => segments.join("/"),
    }
}

/// Returns a segment with its escapes resolved, or `None` if an escape or the text is invalid.
fn decode(segment: &str) -> Option<String> {
    let mut rest = segment;
    while let Some(at) = rest.find('%') {
        let digits = rest.as_bytes().get(at + 1..at + 3)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        rest = &rest[at + 3..];
    }
    percent_decode_str(segment)
        .decode_utf8()
        .ok()
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::fuzz::find;

    #[test]
    fn a_path_is_the_same_in_all_its_spellings() {
        let session = |id: &str| Some(("/api/session/{sessionID}", vec![("sessionID", id.into())]));
        let file = |path: &str| Some(("/api/fs/read/{*path}", vec![("path", path.to_owned())]));
        for (path, expected) in [
            ("/api/health", Some(("/api/health", vec![]))),
            ("//API//he%61lth/", Some(("/api/health", vec![]))),
            ("/api/session/active", Some(("/api/session/active", vec![]))),
            ("/api/session/sesX", session("sesX")),
            ("/api/session/ses_a%2Fb", session("ses_a/b")),
            ("/api/session/ses_%C3%A4", session("ses_ä")),
            ("/api/session/ses_%zz", None),
            ("/api/session/ses_%", None),
            ("/api/session/ses_%ff", None),
            (
                "/api/fs/read//src/a%20b/%2e%2E/c%2Fd/",
                file("src/a b/../c/d"),
            ),
            ("/API/fs/read", file(".")),
            ("/", None),
            ("/api/nothing", None),
        ] {
            assert_eq!(find(path), expected, "{path}");
        }
    }
}
