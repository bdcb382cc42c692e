//! Parses the texts of a table: mnemonic and modifiers.

use super::operand::operand;
use super::syntax::{Syntax, Wrong};
use super::{Modifier, OperandSpec, Part, Values};

/// Parses the text of an instruction.
pub(super) fn parse(text: &str, syntax: &Syntax) -> Result<(Vec<Part>, Vec<OperandSpec>), Wrong> {
    // the mnemonic ends at the first space outside of braces
    let mut depth = 0;
    let end = text.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ' ' && depth == 0
    });
    let (mnemonic, operands) = text.split_at(end.unwrap_or(text.len()));
    let mut parts = Vec::new();
    for piece in braces(mnemonic)? {
        parts.push(match piece {
            Piece::Text(text) => Part::Text(text.to_owned()),
            Piece::Braces(inner) => Part::Modifier(modifier(inner, syntax)?),
        });
    }
    let mut found = Vec::new();
    for piece in braces(operands.trim())? {
        match piece {
            Piece::Text(text) if matches!(text.trim(), "" | ",") => {}
            Piece::Text(text) => {
                let literal = text.trim().trim_matches(',').trim();
                if literal.contains([' ', ',']) {
                    return Err((format!("`{text}` between operands"), "operands are in braces".to_owned()));
                }
                found.push(OperandSpec::literal(literal));
            }
            Piece::Braces(inner) => found.push(operand(inner, syntax)?),
        }
    }
    Ok((parts, found))
}

enum Piece<'a> {
    Text(&'a str),
    Braces(&'a str),
}

fn braces(mut text: &str) -> Result<Vec<Piece<'_>>, Wrong> {
    let mut pieces = Vec::new();
    while let Some(open) = text.find('{') {
        if open > 0 {
            pieces.push(Piece::Text(&text[..open]));
        }
        let Some(length) = text[open..].find('}') else {
            let hint = format!("add a closing brace after `{}`", &text[open..]);
            return Err(("a brace is not closed".to_owned(), hint));
        };
        pieces.push(Piece::Braces(&text[open + 1..open + length]));
        text = &text[open + length + 1..];
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Parses a modifier such as `x=.X@43` or `cmp=icmp@49`.
fn modifier(inner: &str, syntax: &Syntax) -> Result<Modifier, Wrong> {
    let hint = || "a modifier is `{x=.X@43}` or, with a choice, `{cmp=icmp@49}`".to_owned();
    let (name, rest) = inner.split_once('=').ok_or_else(|| (format!("`{inner}` is no modifier"), hint()))?;
    let (name, inverted) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
    let (text, at) =
        rest.rsplit_once('@').ok_or_else(|| (format!("`{inner}` does not say where"), hint()))?;
    let (values, width) = if text.starts_with('.') {
        (Values::Flag { text: text.to_owned(), inverted }, 1)
    } else {
        let (index, width) = syntax.choice(text)?;
        (Values::Choice(index), width)
    };
    Ok(Modifier { name: name.to_owned(), field: syntax.field(at, width)?, values })
}
