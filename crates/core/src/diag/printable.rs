//! Escaping of untrusted text for a terminal or a page. Characters in names and source lines that
//! would control the terminal or reorder the text are replaced by escapes.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character has an effect rather than a glyph: control characters other than
/// newline and tab, directional marks, and line separators.
pub fn is_active(c: char) -> bool {
    // a fast path, since most characters are ASCII
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\n' | '\t');
    }
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let other = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || direction || other
}

/// Returns whether all bytes of a text are printable ASCII, newlines or tabs, as nearly always: this
/// is much faster than a look at every character.
fn is_plain(text: &str) -> bool {
    let is_odd = |byte: u8| !(b' '..0x7f).contains(&byte) && byte != b'\n' && byte != b'\t';
    // whole pieces without a branch, so that many bytes are compared at once
    text.as_bytes().chunks(64).all(|piece| !piece.iter().fold(false, |odd, &byte| odd | is_odd(byte)))
}

/// Replaces active characters by escapes such as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    replaced(text, is_active, |c, safe| safe.extend(c.escape_default()))
}

/// Replaces active characters, newlines and tabs by escapes, for a name within a line.
pub fn printable_name(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_active(c) || matches!(c, '\n' | '\t'), |c, safe| safe.extend(c.escape_default()))
}

/// Replaces active characters by escapes but keeps the sequences that set colours.
pub fn printable_in_colour(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let (before, from) = rest.split_at(at);
        safe.push_str(&printable(before));
        let codes = from[2..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        let length = if from[2 + codes..].starts_with('m') { 2 + codes + 1 } else { 0 };
        safe.push_str(&from[..length]);
        let length = if length == 0 {
            safe.push_str(&printable(&from[..1]));
            1
        } else {
            length
        };
        rest = &from[length..];
    }
    safe.push_str(&printable(rest));
    safe
}

/// Replaces active characters by JSON escapes; in JSON they occur only in strings.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if is_plain(json) {
        return Cow::Borrowed(json);
    }
    replaced(json, is_active, |c, safe| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // writing to a String cannot fail
            let _ = write!(safe, "\\u{unit:04x}");
        }
    })
}

/// Replaces active characters in a picture or page by a replacement character, since neither XML
/// nor HTML has escapes for all of them.
pub fn printable_markup(markup: &str) -> Cow<'_, str> {
    replaced(markup, is_active, |_, safe| safe.push('\u{fffd}'))
}

fn replaced(
    text: &str,
    is_wanted: impl Fn(char) -> bool,
    mut replace: impl FnMut(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&is_wanted) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_wanted(c) { replace(c, &mut safe) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "a\u{1b}]0;t\u{7}\u{9b}31m\u{202e}b\r\u{2066}c\u{7f}\u{e0041}\n\td";

    #[test]
    fn nothing_active_is_left() {
        for safe in [printable(NASTY), printable_json(NASTY), printable_markup(NASTY), printable_name(NASTY)]
        {
            assert!(!safe.contains(is_active), "{safe:?}");
        }
        assert!(!printable_name(NASTY).contains(['\n', '\t']));
        assert_eq!(printable("a\u{1b}[2J\n\tb"), "a\\u{1b}[2J\n\tb");
        assert_eq!(printable("plain µ"), "plain µ");
        assert!(matches!(printable("plain"), Cow::Borrowed("plain")));
        let json = serde_json::to_string(NASTY).unwrap();
        assert_eq!(serde_json::from_str::<String>(&printable_json(&json)).unwrap(), NASTY);
    }

    #[test]
    fn only_colour_sequences_remain() {
        assert_eq!(printable_in_colour("\u{1b}[1;31mred\u{1b}[0m"), "\u{1b}[1;31mred\u{1b}[0m");
        assert_eq!(
            printable_in_colour("\u{1b}[2Jx\u{1b}\u{9b}1m\u{1b}["),
            "\\u{1b}[2Jx\\u{1b}\\u{9b}1m\\u{1b}["
        );
    }
}
