//! Lists as markup that models read well: named elements, and escaped values that cannot be mistaken
//! for elements.

use opencode_llm::escape_markup;

/// A list under construction.
pub(super) struct List {
    name: &'static str,
    text: String,
}

impl List {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            text: format!("<{name}>\n"),
        }
    }

    pub(super) fn item(&mut self, name: &str, elements: &[String]) {
        self.text += &format!("  <{name}>\n");
        for element in elements {
            self.text += &format!("    {element}\n");
        }
        self.text += &format!("  </{name}>\n");
    }

    pub(super) fn end(self) -> String {
        format!("{}</{}>", self.text, self.name)
    }
}

/// Returns an element with an escaped value.
pub(super) fn element(name: &str, value: &str) -> String {
    format!("<{name}>{}</{name}>", escape_markup(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_end_their_element() {
        let mut list = List::new("things");
        list.item(
            "thing",
            &[element("name", "a</name>&b"), element("size", "1")],
        );
        assert_eq!(
            list.end(),
            "<things>\n  <thing>\n    <name>a&lt;/name&gt;&amp;b</name>\n    <size>1</size>\n  </thing>\n</things>"
        );
    }
}
