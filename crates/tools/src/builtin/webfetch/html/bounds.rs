//! Limits for trees to convert. The conversion recurses for every level, and repeats the prefixes of
//! lists and quotations before each line.

use std::rc::Rc;

use markup5ever_rcdom::{Handle, NodeData};

/// Maximum depth of a tree.
const MAX_DEPTH: usize = 100;

/// Maximum number of children of one node. They are compared with their neighbors and merged one by
/// one.
const MAX_CHILDREN: usize = 10_000;

/// Maximum total number of bytes in the prefixes of lists and quotations.
const MAX_INDENTATION: usize = 8 * 1024 * 1024;

/// Maximum length of the prefix of one list or quotation, in bytes.
const INDENT: usize = 4;

pub(super) fn are_met(root: &Handle) -> bool {
    let mut indentation = 0;
    let mut waiting = vec![(Rc::clone(root), 0, 0)];
    while let Some((node, depth, indents)) = waiting.pop() {
        let children = node.children.borrow();
        indentation += lines(&node.data) * indents * INDENT;
        if depth > MAX_DEPTH || children.len() > MAX_CHILDREN || indentation > MAX_INDENTATION {
            return false;
        }
        let indents = indents + usize::from(is_indented(&node.data));
        waiting.extend(
            children
                .iter()
                .map(|child| (Rc::clone(child), depth + 1, indents)),
        );
    }
    true
}

/// Returns the maximum number of lines that a node adds itself.
fn lines(data: &NodeData) -> usize {
    match data {
        NodeData::Text { contents } => contents.borrow().matches('\n').count(),
        NodeData::Element { .. } => 2,
        _ => 0,
    }
}

fn is_indented(data: &NodeData) -> bool {
    match data {
        NodeData::Element { name, .. } => matches!(&*name.local, "li" | "blockquote"),
        _ => false,
    }
}
