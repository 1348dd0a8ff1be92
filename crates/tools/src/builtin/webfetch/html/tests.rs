//! Tests with ordinary pages and with malicious pages.

use std::time::Duration;

use super::{text, to_markdown_within};

/// Long enough for a busy machine.
const ENOUGH: Duration = Duration::from_secs(600);

fn to_markdown(html: &str) -> Option<String> {
    to_markdown_within(html, ENOUGH, ENOUGH)
}

fn to_text(html: &str) -> Option<String> {
    text::extract(html, ENOUGH)
}

#[test]
fn a_page_is_converted_to_markdown() {
    for (html, expected) in [
        ("", ""),
        ("plain", "plain"),
        (
            "<h1>One</h1><h3>Three <em>and</em> <b>bold</b></h3>",
            "# One\n\n### Three *and* **bold**",
        ),
        ("<p>a<hr>b", "a\n\n---\n\nb"),
        (
            "<ul><li>a<li>b<ol><li>c<li>d</ol></ul>",
            "- a\n- b\n  1. c\n  2. d",
        ),
        ("<ol start=9><li>a<li>b</ol>", "9.  a\n10. b"),
        (
            "<pre><code class='language-rust'>fn a() {\n    1 &lt; 2\n}\n</code></pre>",
            "```rust\nfn a() {\n    1 < 2\n}\n```",
        ),
        ("<p>use <code>a_b</code>, not a_b", "use `a_b`, not a\\_b"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n> \n> b"),
        (
            "<a href='/x?a=1&amp;b=2' title=t>see</a> <img src=i.png alt=Pic>",
            "[see](/x?a=1&b=2 \"t\") ![Pic](i.png)",
        ),
        (
            "<head><title>T</title><meta name=a><link rel=b><style>p{}</style></head>\
             <body><script>x()</script>seen<noscript><p>no scripts</noscript>",
            "T\n\nseen\n\nno scripts",
        ),
        ("<p>a<!-- b --><template>c</template>d", "ad"),
        ("<b><p>mis</b>nested</p>", "**mis**nested"),
        ("a&nbsp;b &copy; &#x41;", "a\u{a0}b © A"),
    ] {
        assert_eq!(to_markdown(html).as_deref(), Some(expected), "{html}");
    }
}

#[test]
fn only_tables_with_headings_become_markdown_tables() {
    for (html, expected) in [
        (
            "<table><thead><tr><th>A<th>B</thead><tr><td>1<td>two<br>lines<tr><td>a|b<td></table>",
            "| A | B |\n| --- | --- |\n| 1 | two lines |\n| a\\|b |  |",
        ),
        (
            "<table><tr><th>Key<td>value</table>",
            "| Key | value |\n| --- | --- |",
        ),
        ("<table><tr><td>menu<td><p>page</table>", "menu\n\npage"),
        ("<table><tr><td><table><tr><th>in</table></table>", "in"),
    ] {
        assert_eq!(to_markdown(html).as_deref(), Some(expected), "{html}");
    }
}

#[test]
fn the_text_of_a_page_is_its_visible_text() {
    for (html, expected) in [
        ("", ""),
        (" <p>a</p><p>b <b>c</b></p>\n", "ab c"),
        (
            "<title>T &amp; t</title><script>if (a<b) '</p>'</script>x<style>p{}</style>y\
             <noscript>z<b>z</b></noscript><iframe src=a><p>z</iframe>\
             <object>z<object>z</object>z</object><embed src=a>.",
            "T & txy.",
        ),
        ("<textarea><b></textarea></script>a", "<b>a"),
        ("a<script>b", "a"),
        ("&lt;p&gt; &#8364;", "<p> €"),
    ] {
        assert_eq!(to_text(html).as_deref(), Some(expected), "{html}");
    }
}

/// The stack of a thread is large enough for this depth.
#[test]
fn a_hundred_levels_are_converted() {
    for (open, levels) in [
        ("<div>", 97),
        ("<blockquote>", 97),
        ("<ul><li>", 48),
        ("<ol><li>", 48),
        ("<b>", 97),
        ("<em>", 97),
        ("<code>", 97),
        ("<span>", 97),
        ("<table><tr><td>", 24),
        ("<table><tr><th>", 24),
        ("<section><b><ul><li>", 24),
    ] {
        let page = format!("{}x*", open.repeat(levels));
        let markdown = to_markdown(&page).unwrap();
        assert!(
            markdown.contains("x\\*") || open == "<code>",
            "{open}: {markdown}"
        );
    }
}

#[test]
fn expensive_pages_are_returned_as_plain_text() {
    let deep = |open: &str| format!("{}*", open.repeat(100_000));
    let many = |part: &str, count: usize| part.repeat(count);
    let options = "<select><button><selectedcontent></selectedcontent></button><option selected>";
    let formatting: String = (0..1000).map(|n| format!("<b a{n}>")).collect();
    let attributes: String = (0..1000).map(|n| format!(" a{n}")).collect();
    for (page, expected) in [
        (deep("<div>"), "*".to_owned()),
        (deep("<b>"), "*".to_owned()),
        (deep("<ul><li>"), "*".to_owned()),
        (deep("<blockquote>"), "*".to_owned()),
        (deep("<table><tr><td>"), "*".to_owned()),
        (deep("<svg><g>"), "*".to_owned()),
        (format!("{options}{}", deep("<div>")), "*".to_owned()),
        (many("<p>*", 210_000), many("*", 210_000)),
        (many("<b>*</b>", 10_001), many("*", 10_001)),
        // A thousand elements are opened again in each paragraph.
        (
            format!("{formatting}{}", many("<p>*</p>", 1000)),
            many("*", 1000),
        ),
        // The attributes are repeated with the elements.
        (
            format!("<p><b{attributes}>{}", many("<p>*", 1000)),
            many("*", 1000),
        ),
        // Two bytes become hundreds of bytes.
        (
            format!("{}<pre>{}", many("<blockquote>", 90), many("*\n", 50_000)),
            many("*\n", 50_000).trim().to_owned(),
        ),
    ] {
        let start: String = page.chars().take(40).collect();
        // Building a tree would take minutes for some pages.
        let markdown = to_markdown_within(&page, Duration::from_secs(2), ENOUGH);
        assert!(markdown == Some(expected), "{start}");
    }
}

/// The cells of a table are not padded: a single long cell would add that much to each row.
#[test]
fn a_wide_table_stays_small() {
    let page = format!(
        "<table><tr><th>{}{}</table>",
        "x".repeat(100_000),
        "<tr><td>y".repeat(9_000)
    );
    let expected = format!(
        "| {} |\n| --- |{}",
        "x".repeat(100_000),
        "\n| y |".repeat(9_000)
    );
    assert!(to_markdown(&page) == Some(expected));
}

#[test]
fn reading_a_page_times_out() {
    let attributes: String = (0..700_000).map(|n| format!(" {n}")).collect();
    let page = format!("<p{attributes}>*");
    let limit = Duration::from_millis(100);
    assert_eq!(to_markdown_within(&page, limit, limit), None);
    assert_eq!(text::extract(&page, limit), None);
}
