//! Options that are given as one text, as in a shell.

use clap::Parser;

/// Parses a text that contains options.
///
/// # Errors
/// If the text is not what a shell would accept, or if it is no list of these options: the message.
pub fn quoted<T: Parser>(text: &str) -> Result<T, String> {
    let words = shlex::split(text).ok_or(UNCLOSED)?;
    parsed(&words)
}

/// The message for a text that a shell would not accept.
pub const UNCLOSED: &str = "a quotation mark is not closed, or nothing follows a backslash";

/// Parses words as options.
///
/// # Errors
/// If they are no list of these options: the message.
pub fn parsed<T: Parser>(words: &[String]) -> Result<T, String> {
    T::try_parse_from(words).map_err(|error| {
        // the message and perhaps a tip; the usage after them would be that of another command
        let text = error.render().to_string();
        let message = text.split("\nUsage:").next().unwrap_or_default().trim_start_matches("error: ");
        message.split_whitespace().collect::<Vec<_>>().join(" ")
    })
}
