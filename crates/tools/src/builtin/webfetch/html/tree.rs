//! Parses a page into a tree.

use std::{borrow::Cow, cell::Cell, time::Duration};

use html5ever::{
    Attribute, ExpandedName, QualName,
    interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
    tendril::StrTendril,
    tokenizer::{Token, TokenSink, TokenSinkResult},
    tree_builder::{TreeBuilder, TreeBuilderOpts},
};
use markup5ever_rcdom::{Handle, RcDom};

use super::read;

/// Maximum number of nodes and attributes of a tree. A long article has about ten thousand.
const MAX_SIZE: usize = 200_000;

/// Returns the tree of a page, or `None` if it is too large or takes too long.
pub(super) fn parse(html: &str, limit: Duration) -> Option<Handle> {
    let options = TreeBuilderOpts {
        // Scripts do not run here, so the content of `noscript` is visible.
        scripting_enabled: false,
        ..TreeBuilderOpts::default()
    };
    let sink = Bounded(TreeBuilder::new(Tree::default(), options));
    let bounded = read(html, limit, sink, Bounded::is_full)?;
    Some(bounded.0.sink.dom.document)
}

/// Stops adding to the tree when it is full. A single tag can open all open elements again, so the tree
/// becomes at most twice as large.
struct Bounded(TreeBuilder<Handle, Tree>);

impl Bounded {
    fn is_full(&self) -> bool {
        self.0.sink.size.get() > MAX_SIZE
    }
}

impl TokenSink for Bounded {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if self.is_full() {
            return TokenSinkResult::Continue;
        }
        self.0.process_token(token, line)
    }

    fn end(&self) {
        self.0.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.0
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A tree that counts its size. Texts are between nodes, so they are not counted. Unlike the inner
/// tree, it does not copy options into the list of a `select`, because that recurses for each level.
#[derive(Default)]
struct Tree {
    dom: RcDom,
    size: Cell<usize>,
}

impl Tree {
    fn grow(&self, by: usize) {
        self.size.set(self.size.get() + by);
    }
}

impl TreeSink for Tree {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        flags: ElementFlags,
    ) -> Handle {
        self.grow(1 + attributes.len());
        self.dom.create_element(name, attributes, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.grow(1);
        self.dom.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.grow(1);
        self.dom.create_pi(target, data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.dom.append(parent, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        self.dom
            .append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        self.dom.get_template_contents(target)
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        self.dom.same_node(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        self.dom.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        self.grow(attributes.len());
        self.dom.add_attrs_if_missing(target, attributes);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.dom.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        self.dom.reparent_children(node, parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(target)
    }
}
