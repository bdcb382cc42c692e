//! Escaping of text from outside.

use serde::Serialize;

use warpbound_core::diag::{is_active, printable_json};

/// Escapes text for use between tags and in quoted attributes.
pub fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // control characters are invalid in HTML, and names must not change the direction of
            // text
            c if is_active(c) => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Returns JSON for a `<script>` element, escaped so that it cannot end the element or begin a
/// comment.
pub fn script_data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("pages are made of plain data");
    let mut safe = String::with_capacity(json.len());
    for c in printable_json(&json).chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out() {
        let nasty = "</script><img src=x onerror='a()'> & \"b\" <!-- \u{2028} \u{1}";
        let shown = text(nasty);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{1}']), "{shown}");
        assert!(shown.starts_with("&lt;/script&gt;") && shown.contains(" &amp; "), "{shown}");
        let data = script_data(&nasty);
        assert!(!data.contains(['<', '>', '&', '\u{2028}']), "{data}");
        assert_eq!(serde_json::from_str::<String>(&data).unwrap(), nasty);
    }
}
