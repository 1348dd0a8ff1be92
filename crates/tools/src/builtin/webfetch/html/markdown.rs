//! Converts a page to Markdown.

use std::rc::Rc;

use htmd::{
    Element, HtmlToMarkdown, Node,
    element_handler::{HandlerResult, Handlers},
    options::{BulletListMarker, Options},
};
use markup5ever_rcdom::NodeData;

/// Converts a tree that is within the limits.
pub(super) fn convert(page: &Rc<Node>) -> String {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    HtmlToMarkdown::builder()
        .options(options)
        .skip_tags(vec!["script", "style", "meta", "link"])
        .add_handler(vec!["hr"], |_: &dyn Handlers, _: Element<'_>| {
            Some(HandlerResult::from("\n\n---\n\n"))
        })
        .add_handler(vec!["table"], table)
        .build()
        .tree_to_markdown(page)
}

/// Converts a table with headings. A table without headings is layout, and only its cells are
/// converted.
///
/// Columns are not aligned, because a single long cell would add as many spaces to every row.
fn table(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let rows = rows(element.node);
    let has_headings = rows.iter().flatten().any(|cell| is(cell, "th"));
    if !has_headings || is_in_table(element.node) {
        let content = handlers.walk_children(element.node).content;
        return Some(format!("\n\n{}\n\n", content.trim_matches('\n')).into());
    }
    let mut lines = Vec::new();
    for row in rows {
        let cells: Vec<_> = row.iter().map(|cell| text(handlers, cell)).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
        if lines.len() == 1 {
            lines.push(format!("|{}", " --- |".repeat(cells.len())));
        }
    }
    Some(format!("\n\n{}\n\n", lines.join("\n")).into())
}

/// Returns the cells of each row, without the cells of nested tables.
fn rows(table: &Rc<Node>) -> Vec<Vec<Rc<Node>>> {
    let groups = children(table).into_iter().flat_map(|child| {
        let is_group = ["thead", "tbody", "tfoot"]
            .iter()
            .any(|tag| is(&child, tag));
        if is_group {
            children(&child)
        } else {
            vec![child]
        }
    });
    let rows = groups.filter(|child| is(child, "tr")).map(|row| {
        let mut cells = children(&row);
        cells.retain(|cell| is(cell, "td") || is(cell, "th"));
        cells
    });
    rows.filter(|cells| !cells.is_empty()).collect()
}

/// Returns the content of a cell on one line.
fn text(handlers: &dyn Handlers, cell: &Rc<Node>) -> String {
    let content = handlers.handle(cell).map(|result| result.content);
    let words: Vec<_> = content
        .iter()
        .flat_map(|text| text.split_whitespace())
        .collect();
    words.join(" ").replace('|', "\\|")
}

fn is_in_table(node: &Rc<Node>) -> bool {
    let mut inside = parent(node);
    while let Some(around) = inside {
        if is(&around, "table") {
            return true;
        }
        inside = parent(&around);
    }
    false
}

fn parent(node: &Rc<Node>) -> Option<Rc<Node>> {
    let weak = node.parent.take();
    let parent = weak.as_ref().and_then(std::rc::Weak::upgrade);
    node.parent.set(weak);
    parent
}

fn children(node: &Rc<Node>) -> Vec<Rc<Node>> {
    node.children.borrow().clone()
}

fn is(node: &Rc<Node>, tag: &str) -> bool {
    match &node.data {
        NodeData::Element { name, .. } => &*name.local == tag,
        _ => false,
    }
}
