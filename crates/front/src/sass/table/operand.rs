//! Parses the operands in the texts of a table.

use super::field::Field;
use super::syntax::{Syntax, Wrong};
use super::{Kind, OperandSpec};

/// Parses an operand such as `b:B neg@48 hide=7`.
pub(super) fn operand(text: &str, syntax: &Syntax) -> Result<OperandSpec, Wrong> {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let hint = || "an operand is a name, a kind and its first bit, as in `{a:R@8}`".to_owned();
    let (name, what) = first.split_once(':').ok_or_else(|| (format!("`{text}` is no operand"), hint()))?;
    let (word, at) = what.split_once('@').map_or((what, None), |(kind, at)| (kind, Some(at)));
    let (kind, width) = kind(word, syntax)?;
    let field = match (at, kind) {
        (None, Kind::B) => Field::default(),
        (Some(_), Kind::B) => {
            let hint = "the form says where B is; an operand with its own place has another kind";
            return Err((format!("`{first}` says where"), hint.to_owned()));
        }
        (Some(at), _) => syntax.field(at, width)?,
        (None, _) => return Err((format!("`{text}` does not say where"), hint())),
    };
    let mut spec = OperandSpec::new(name, kind, field);
    spec.wide = word == "D";
    let mut number_at = None;
    for word in words {
        let (key, at) = word.split_once('@').unwrap_or((word, ""));
        if key == "at" {
            number_at = Some(syntax.bit(word, at)?);
        } else if !(spec.flag(key) || spec.bit(key, word, at, syntax)?) {
            spec.attribute(word, (key, at), number_at, syntax)?;
        }
    }
    spec.complete(text)
}

/// Returns the kind of an operand, and the number of bits that it has if its place does not say so.
fn kind(word: &str, syntax: &Syntax) -> Result<(Kind, u32), Wrong> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|&bits| (1..=64).contains(&bits));
    let missing = |what: &str, name: &str| {
        (format!("the table has no {what}"), format!("add `{name}` to `registers`, or give another kind"))
    };
    let general = syntax.registers.general.bits;
    Ok(match word {
        // D is a pair of registers, named by the lower one
        "R" | "D" => (Kind::Register, general),
        "P" => (Kind::Predicate, syntax.registers.predicate.bits),
        "UR" => {
            let file = syntax.registers.uniform.as_ref();
            (Kind::Uniform, file.ok_or_else(|| missing("uniform registers", "uniform"))?.bits)
        }
        "UP" => {
            let file = syntax.registers.uniform_predicate.as_ref();
            let missing = || missing("uniform predicates", "uniform_predicate");
            (Kind::UniformPredicate, file.ok_or_else(missing)?.bits)
        }
        "B" => (Kind::B, 0),
        "CX" => (Kind::IndexedConstant, general),
        "UCX" => {
            let file = syntax.registers.uniform.as_ref();
            (Kind::UniformConstant, file.ok_or_else(|| missing("uniform registers", "uniform"))?.bits)
        }
        "UM" | "DESC" | "GDESC" => {
            let file = syntax.registers.uniform.as_ref();
            let bits = file.ok_or_else(|| missing("uniform registers", "uniform"))?.bits;
            match word {
                "UM" => (Kind::UniformAddress, bits),
                "DESC" => (Kind::Descriptor("desc"), bits),
                _ => (Kind::Descriptor("gdesc"), bits),
            }
        }
        "F32" => (Kind::Single, 32),
        "F16" => (Kind::Half, 16),
        "BF16" => (Kind::Brain, 16),
        "T" => (Kind::Target, 0),
        "M" => (Kind::Address, general),
        "SB" => (Kind::Barrier, syntax.barrier_bits),
        "SBS" => (Kind::Barriers, syntax.barriers),
        other => {
            if let Some(bits) = other.strip_prefix("RU").and_then(number) {
                (Kind::RegisterOrNumber(bits), general)
            } else if let Some(bits) = other.strip_prefix('U').and_then(number) {
                (Kind::Number(false), bits)
            } else if let Some(bits) = other.strip_prefix('S').and_then(number) {
                (Kind::Number(true), bits)
            } else {
                let (index, width) = syntax.choice(other)?;
                (Kind::Choice(index), width)
            }
        }
    })
}

impl OperandSpec {
    /// Creates the operand for a text that is always the same.
    pub(super) fn literal(text: &str) -> Self {
        Self::new(text, Kind::Literal, Field::default())
    }

    fn new(name: &str, kind: Kind, field: Field) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            field,
            number: None,
            offset: None,
            bank: None,
            uniform: None,
            descriptor: None,
            described: false,
            sized: false,
            zero: false,
            silent: false,
            words: false,
            extended: None,
            neg: None,
            abs: None,
            inv: None,
            not: None,
            cc: None,
            half: None,
            part: None,
            part_last: false,
            complement: false,
            hide: None,
            with: None,
            apart: false,
            sign: false,
            wide: false,
            plain: false,
            next: false,
            joined: false,
            slot: None,
        }
    }

    /// Sets an attribute that is a word alone; returns whether there is one with this name.
    fn flag(&mut self, key: &str) -> bool {
        let flag = match key {
            "apart" => &mut self.apart,
            "complement" => &mut self.complement,
            "sign" => &mut self.sign,
            "words" => &mut self.words,
            "wide" => &mut self.wide,
            "plain" => &mut self.plain,
            "next" => &mut self.next,
            "joined" => &mut self.joined,
            "sized" => &mut self.sized,
            "zero" => &mut self.zero,
            "silent" => &mut self.silent,
            _ => return false,
        };
        *flag = true;
        true
    }

    /// Sets the bit of an attribute such as `neg@48`; returns whether there is one with this name.
    fn bit(&mut self, key: &str, word: &str, at: &str, syntax: &Syntax) -> Result<bool, Wrong> {
        let bit = match key {
            "neg" => &mut self.neg,
            "abs" => &mut self.abs,
            "inv" => &mut self.inv,
            "not" => &mut self.not,
            "cc" => &mut self.cc,
            "h1" => &mut self.half,
            "e" => &mut self.extended,
            "with" => &mut self.with,
            _ => return Ok(false),
        };
        *bit = Some(syntax.bit(word, at)?);
        Ok(true)
    }

    /// Sets an attribute with a value of its own. `number_at` is the first bit of a number that may
    /// replace a register, if it is not that of the register.
    fn attribute(
        &mut self,
        word: &str,
        (key, at): (&str, &str),
        number_at: Option<u32>,
        syntax: &Syntax,
    ) -> Result<(), Wrong> {
        let no_number = || (format!("`{word}` is no number"), "for example hide=7 or slot=2".to_owned());
        match (key, key.split_once('=')) {
            ("imm", _) => {
                let Kind::RegisterOrNumber(bits) = self.kind else {
                    let hint = "a register or a number of 5 bits is written as `RU5`".to_owned();
                    return Err((format!("`{word}` of an operand that is always a register"), hint));
                };
                let from = number_at.or(self.field.first()).unwrap_or(0);
                let field = syntax.field(&format!("{from}+{bits}"), bits)?;
                self.number = Some((field, syntax.bit(word, at)?));
            }
            (choice, _) if !at.is_empty() && syntax.choice(choice).is_ok() => {
                let (index, width) = syntax.choice(choice)?;
                self.part = Some((syntax.field(at, width)?, index));
                self.part_last = !matches!(choice, "part" | "half3");
            }
            ("bank", _) => self.bank = Some(syntax.field(at, 0)?),
            ("ur", _) => self.uniform = Some(syntax.uniform(at)?),
            ("desc" | "hidden_desc", _) => {
                self.descriptor = Some(syntax.uniform(at)?);
                self.described = key == "desc";
            }
            (_, Some(("hide", value))) => self.hide = Some(value.parse().map_err(|_| no_number())?),
            (_, Some(("slot", value))) => self.slot = Some(value.parse().map_err(|_| no_number())?),
            (_, Some(("offset", width))) => {
                let bits = width.strip_prefix('S').and_then(|bits| bits.parse().ok());
                let hint = || "an offset of 24 bits is written as `offset=S24@20`".to_owned();
                let bits = bits.ok_or_else(|| (format!("`{word}` is no offset"), hint()))?;
                self.offset = Some(syntax.field(at, bits)?);
            }
            _ => {
                let hint = "the head of isa/pascal.ron lists what can be said of an operand".to_owned();
                return Err((format!("`{word}` says nothing of an operand"), hint));
            }
        }
        Ok(())
    }

    /// Returns the operand, if nothing that its kind needs is missing.
    fn complete(self, text: &str) -> Result<Self, Wrong> {
        if matches!(self.kind, Kind::IndexedConstant | Kind::UniformConstant)
            && (self.offset.is_none() || self.bank.is_none())
        {
            let hint = "for example `{m:CX@8 offset=S16@20 bank@36+5}`".to_owned();
            return Err((format!("`{text}` has no offset or no bank"), hint));
        }
        Ok(self)
    }
}
