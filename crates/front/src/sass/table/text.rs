//! Parses the texts of a table: mnemonic, modifiers, operands.

use super::{Choice, Field, Kind, Modifier, OperandSpec, Part, Source, Values};

/// Parses the text of an instruction.
pub(super) fn parse(text: &str, choices: &[Choice]) -> Result<(Vec<Part>, Vec<OperandSpec>), String> {
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
            Piece::Braces(inner) => {
                let (name, rest) =
                    inner.split_once('=').ok_or_else(|| format!("`{inner}` is no modifier"))?;
                let (name, inverted) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
                let (text, at) =
                    rest.rsplit_once('@').ok_or_else(|| format!("`{inner}` does not say where"))?;
                modifier(name, text, inverted, at, choices)?
            }
        });
    }
    let mut found = Vec::new();
    for piece in braces(operands.trim())? {
        match piece {
            Piece::Text(text) if matches!(text.trim(), "" | ",") => {}
            Piece::Text(text) => return Err(format!("`{text}` between operands")),
            Piece::Braces(inner) => found.push(operand(inner, choices)?),
        }
    }
    Ok((parts, found))
}

enum Piece<'a> {
    Text(&'a str),
    Braces(&'a str),
}

fn braces(mut text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    while let Some(open) = text.find('{') {
        if open > 0 {
            pieces.push(Piece::Text(&text[..open]));
        }
        let close = text[open..].find('}').ok_or("a brace is not closed")? + open;
        pieces.push(Piece::Braces(&text[open + 1..close]));
        text = &text[close + 1..];
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Parses an operand such as `b:B neg@48 hide=7`.
fn operand(text: &str, choices: &[Choice]) -> Result<OperandSpec, String> {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let (name, what) = first.split_once(':').ok_or_else(|| format!("`{text}` is no operand"))?;
    let (kind, at) = what.split_once('@').map_or((what, None), |(kind, at)| (kind, Some(at)));
    let number = |text: &str| text.parse::<u32>().ok().filter(|&bits| (1..=64).contains(&bits));
    let (kind, width) = match kind {
        "R" => (Kind::Register, 8),
        // a pair of registers, named by the lower one
        "D" => (Kind::Register, 8),
        "P" => (Kind::Predicate, 3),
        "B" => (Kind::B, 0),
        "C" => (Kind::Constant, 0),
        "CX" => (Kind::IndexedConstant, 8),
        "F32" => (Kind::Single, 32),
        "T" => (Kind::Target, 24),
        "M" => (Kind::Address, 8),
        "SB" => (Kind::Barrier, 3),
        "SBS" => (Kind::Barriers, 6),
        other => {
            if let Some(bits) = other.strip_prefix("RU").and_then(number) {
                (Kind::RegisterOrNumber(bits), 8)
            } else if let Some(bits) = other.strip_prefix('U').and_then(number) {
                (Kind::Number(bits, false), bits)
            } else if let Some(bits) = other.strip_prefix('S').and_then(number) {
                (Kind::Number(bits, true), bits)
            } else {
                let (index, width) = values(other, choices)?;
                (Kind::Choice(index), width)
            }
        }
    };
    let place = match at {
        Some(at) => field(at, width)?,
        None if width == 0 => Field::default(),
        None => return Err(format!("`{text}` does not say where")),
    };
    let mut spec = OperandSpec {
        name: name.to_owned(),
        kind,
        field: place,
        number: None,
        offset: None,
        words: false,
        extended: None,
        neg: None,
        abs: None,
        inv: None,
        not: None,
        cc: None,
        half: None,
        part: None,
        hide: None,
        apart: false,
        wide: what.starts_with('D'),
        plain: false,
        next: false,
        joined: false,
        slot: None,
    };
    let mut number_at = None;
    for word in words {
        let (key, at) = word.split_once('@').unwrap_or((word, ""));
        let bit = || {
            at.parse::<u32>()
                .ok()
                .filter(|&bit| bit < 127)
                .ok_or_else(|| format!("`{word}` does not say which bit"))
        };
        match key {
            "neg" => spec.neg = Some(bit()?),
            "abs" => spec.abs = Some(bit()?),
            "inv" => spec.inv = Some(bit()?),
            "not" => spec.not = Some(bit()?),
            "cc" => spec.cc = Some(bit()?),
            "h1" => spec.half = Some(bit()?),
            "e" => spec.extended = Some(bit()?),
            "at" => number_at = Some(bit()?),
            "imm" => match kind {
                Kind::RegisterOrNumber(bits) => {
                    let from = number_at.or(spec.field.0.first().map(|&(bit, _)| bit)).unwrap_or(0);
                    spec.number = Some((Field::at(from, bits), bit()?));
                }
                _ => return Err(format!("`{word}` of an operand that is always a register")),
            },
            "part" | "half3" => {
                let (index, width) = values(key, choices)?;
                spec.part = Some((field(at, width)?, index));
            }
            "apart" => spec.apart = true,
            "words" => spec.words = true,
            "wide" => spec.wide = true,
            "plain" => spec.plain = true,
            "next" => spec.next = true,
            "joined" => spec.joined = true,
            _ => match key.split_once('=') {
                Some(("hide", value)) => {
                    spec.hide = Some(value.parse().map_err(|_| format!("`{word}` is no number"))?);
                }
                Some(("slot", number)) => {
                    spec.slot = Some(number.parse().map_err(|_| format!("`{word}` is no slot"))?);
                }
                Some(("offset", width)) => {
                    let bits = width.strip_prefix('S').and_then(number);
                    let bits = bits.ok_or_else(|| format!("`{word}` is no offset"))?;
                    spec.offset = Some((field(at, bits)?, true));
                }
                _ => return Err(format!("`{word}` says nothing of an operand")),
            },
        }
    }
    Ok(spec)
}

fn values(name: &str, choices: &[Choice]) -> Result<(usize, u32), String> {
    let index = choices.iter().position(|choice| choice.name == name);
    let index = index.ok_or_else(|| format!("there is no choice `{name}`"))?;
    let width = usize::BITS - (choices[index].texts.len() - 1).leading_zeros();
    Ok((index, width))
}

fn modifier(name: &str, text: &str, inverted: bool, at: &str, choices: &[Choice]) -> Result<Part, String> {
    let (values, width) = if text.starts_with('.') {
        (Values::Flag { text: text.to_owned(), inverted }, 1)
    } else {
        let (index, width) = values(text, choices)?;
        (Values::Choice(index), width)
    };
    Ok(Part::Modifier(Modifier { name: name.to_owned(), field: field(at, width)?, values }))
}

/// Parses a field: `48`, or `8+2,12` for two bits at 8 and one at 12. By default the width is that
/// of the value.
fn field(text: &str, width: u32) -> Result<Field, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no bit"));
    let pieces: Vec<&str> = text.split(',').collect();
    let mut found = Vec::new();
    for piece in &pieces {
        let (bit, bits) = match piece.split_once('+') {
            Some((bit, bits)) => (number(bit)?, number(bits)?),
            None => (number(piece)?, if pieces.len() == 1 { width } else { 1 }),
        };
        if bit + bits > 127 || bits > 64 {
            return Err(format!("`{text}` lies beyond every word"));
        }
        found.push((bit, bits));
    }
    Ok(Field(found))
}

impl OperandSpec {
    /// Returns the field of the operand's value in words of a form.
    pub(super) fn place(&self, source: Source) -> Field {
        let constant = || Field(vec![(20, 14), (34, 5)]);
        match (self.kind, source) {
            (Kind::B, Source::Register | Source::None) => Field::at(20, 8),
            (Kind::B, Source::Swapped) => Field::at(39, 8),
            (Kind::B, Source::Constant) | (Kind::Constant, _) => constant(),
            (Kind::B, Source::Number | Source::Single | Source::Double) => Field(vec![(20, 19), (56, 1)]),
            (Kind::IndexedConstant, _) => Field(vec![(8, 8), (20, 16), (36, 5)]),
            _ => self.field.clone(),
        }
    }
}
