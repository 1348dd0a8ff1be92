//! A JSON value from which unusable parts are removed, with the original paths of the remaining parts.

use serde_json::Value;

use super::step::Step;

/// Maximum number of values that are removed individually from a document. Each later removal removes
/// the whole top-level key.
const MAX_SINGLE: usize = 32;

/// A value without its unusable parts.
pub(crate) struct Pruned {
    value: Value,
    /// Original paths of the removed array elements, sorted by index.
    elements: Vec<Vec<Step>>,
    /// Number of removed values.
    count: usize,
}

impl Pruned {
    pub(crate) fn new(value: Value) -> Self {
        Self {
            value,
            elements: Vec::new(),
            count: 0,
        }
    }

    /// The remaining value.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// Removes the value at the end of a path. If it does not exist, removes the innermost existing
    /// value on the path. Returns the path of the removed value in the original value.
    pub(crate) fn remove(&mut self, path: &[Step]) -> Vec<Step> {
        self.count += 1;
        let most = if self.count > MAX_SINGLE {
            1
        } else {
            path.len()
        };
        let path = &path[..present(&self.value, &path[..most.min(path.len())])];
        let original = self.original(path);
        if let Some((last, parents)) = path.split_last()
            && let Some(parent) = at(&mut self.value, parents)
        {
            match (last, parent) {
                (Step::Key(key), Value::Object(members)) => {
                    members.shift_remove(key);
                }
                (Step::Index(index), Value::Array(elements)) => {
                    elements.remove(*index);
                    self.elements.push(original.clone());
                    self.elements.sort_by_key(|path| last_index(path));
                }
                _ => {}
            }
        }
        original
    }

    /// Converts a path in the remaining value to the path in the original value.
    pub(crate) fn original(&self, path: &[Step]) -> Vec<Step> {
        let mut original: Vec<Step> = Vec::with_capacity(path.len());
        for step in path {
            let Step::Index(index) = step else {
                original.push(step.clone());
                continue;
            };
            let mut index = *index;
            for removed in &self.elements {
                let (Some((Step::Index(gone), array)), true) =
                    (removed.split_last(), removed.len() == original.len() + 1)
                else {
                    continue;
                };
                if array == original.as_slice() && *gone <= index {
                    index += 1;
                }
            }
            original.push(Step::Index(index));
        }
        original
    }
}

fn last_index(path: &[Step]) -> usize {
    match path.last() {
        Some(Step::Index(index)) => *index,
        _ => 0,
    }
}

/// Number of leading steps of a path that lead to an existing value.
fn present(value: &Value, path: &[Step]) -> usize {
    let mut value = value;
    for (depth, step) in path.iter().enumerate() {
        let next = match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        };
        match next {
            Some(next) => value = next,
            None => return depth,
        }
    }
    path.len()
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}

/// Returns the paths of the texts and names in a value for which `find` returns a result. Later paths come first, so
/// that removals in this order do not change the paths that follow. Does not search below a matching name.
pub(crate) fn texts_with<T>(
    value: &Value,
    find: &impl Fn(&str) -> Option<T>,
) -> Vec<(Vec<Step>, T)> {
    let mut found = Vec::new();
    search(value, &mut Vec::new(), find, &mut found);
    found.reverse();
    found
}

fn search<T>(
    value: &Value,
    path: &mut Vec<Step>,
    find: &impl Fn(&str) -> Option<T>,
    found: &mut Vec<(Vec<Step>, T)>,
) {
    match value {
        Value::String(text) => found.extend(find(text).map(|it| (path.clone(), it))),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                path.push(Step::Index(index));
                search(element, path, find, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                path.push(Step::Key(name.clone()));
                match find(name) {
                    Some(it) => found.push((path.clone(), it)),
                    None => search(member, path, find, found),
                }
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str) -> Step {
        Step::Key(name.to_owned())
    }

    #[test]
    fn remaining_elements_keep_their_original_paths() {
        let mut pruned = Pruned::new(json!({"a": [0, 1, 2, 3, 4], "b": {"c": 1}}));
        let removed = |pruned: &mut Pruned, index| pruned.remove(&[key("a"), Step::Index(index)]);
        assert_eq!(removed(&mut pruned, 1), [key("a"), Step::Index(1)]);
        assert_eq!(removed(&mut pruned, 1), [key("a"), Step::Index(2)]);
        assert_eq!(removed(&mut pruned, 0), [key("a"), Step::Index(0)]);
        assert_eq!(pruned.value()["a"], json!([3, 4]));
        assert_eq!(
            pruned.original(&[key("a"), Step::Index(1), key("x")]),
            [key("a"), Step::Index(4), key("x")]
        );
        assert_eq!(pruned.remove(&[key("b"), key("c")]), [key("b"), key("c")]);
        assert_eq!(pruned.value()["b"], json!({}));
    }

    #[test]
    fn an_object_without_a_required_member_is_removed() {
        let mut pruned = Pruned::new(json!({"rules": [{"action": "a"}]}));
        let path = [key("rules"), Step::Index(0), key("effect")];
        assert_eq!(pruned.remove(&path), path[..2]);
        assert_eq!(pruned.value(), &json!({"rules": []}));
    }

    #[test]
    fn a_key_with_many_wrong_values_is_dropped() {
        let members: serde_json::Map<_, _> =
            (0..50).map(|it| (it.to_string(), json!(it))).collect();
        let mut pruned = Pruned::new(json!({"a": members, "b": 1}));
        for number in 0..=MAX_SINGLE {
            pruned.remove(&[key("a"), key(&number.to_string())]);
        }
        assert_eq!(pruned.value(), &json!({"b": 1}));
    }

    #[test]
    fn texts_are_found_at_any_depth() {
        let value = json!({"a": ["x", "!y", {"!z": ["!"]}], "b": "!"});
        let found = texts_with(&value, &|text| text.starts_with('!').then_some(()));
        let paths: Vec<_> = found.into_iter().map(|(path, ())| path).collect();
        let expected: [Vec<Step>; 3] = [
            vec![key("b")],
            vec![key("a"), Step::Index(2), key("!z")],
            vec![key("a"), Step::Index(1)],
        ];
        assert_eq!(paths, expected);
    }
}
