//! Text from outside, made harmless.

use serde::Serialize;

/// Text as it may stand between tags and in quoted attributes.
pub fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // HTML has no other control characters
            c if c.is_control() && !matches!(c, '\n' | '\t') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// JSON as it may stand in a `<script>` element: nothing in it ends the element or begins a comment.
pub fn script_data(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("pages are made of plain data");
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
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
