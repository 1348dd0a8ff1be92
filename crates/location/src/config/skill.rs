//! Sources of skills in the configuration: `skills`.

use serde_json::Value;

use super::decode::{Decoded, few, object, optional, texts};
use super::document::Draft;
use super::step::Step;

/// Reads the sources of skills: one list, or in the older generation of the format one list of paths and one of URLs.
pub(super) fn read(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
    let lists = match value {
        Value::Object(_) => vec![
            (Some("paths"), list(value, "paths")?),
            (Some("urls"), list(value, "urls")?),
        ],
        _ => {
            few(value)?;
            vec![(None, texts(value)?)]
        }
    };
    for (member, places) in lists {
        for (index, place) in places.into_iter().enumerate() {
            let key = |name: &str| Step::Key(name.to_owned());
            let mut path = vec![key("skills")];
            path.extend(member.map(key));
            path.push(Step::Index(index));
            let place = draft.located_at(&path, place);
            draft.document.skills.push(place);
        }
    }
    Ok(())
}

fn list(value: &Value, member: &str) -> Decoded<Vec<String>> {
    let read = |value: &Value| few(value).and_then(|()| texts(value));
    Ok(optional(object(value)?, member, read)?.unwrap_or_default())
}
