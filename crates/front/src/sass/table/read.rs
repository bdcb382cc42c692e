//! Parses the text of a table to an [`Encoding`].

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Choice, ControlPlace, Encoding, Form, Modifier, Op, OperandSpec, Part, Source, Timing, Word, low, text,
};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::isa::Space;

#[derive(Deserialize)]
#[serde(rename = "Encoding", deny_unknown_fields)]
struct EncodingSpec {
    name: String,
    #[allow(dead_code, reason = "for the reader of the file")]
    doc: String,
    targets: Vec<u32>,
    word_bits: u32,
    control: ControlPlace,
    guard: u32,
    choices: BTreeMap<String, String>,
    instructions: Vec<OpSpec>,
}

#[derive(Deserialize)]
#[serde(rename = "Op", deny_unknown_fields)]
struct OpSpec {
    name: String,
    sem: String,
    class: String,
    #[serde(default)]
    space: Option<Space>,
    #[serde(default)]
    timing: Timing,
    #[serde(default)]
    reuse: Option<bool>,
    forms: String,
    #[serde(default)]
    set: u64,
    #[serde(default)]
    clear: u64,
    #[serde(default = "yes")]
    guarded: bool,
    text: String,
}

fn yes() -> bool {
    true
}

impl Encoding {
    /// Parses a table.
    ///
    /// # Errors
    /// The text is not a table, or descriptions of instructions are invalid; there is a diagnostic
    /// for each of them.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let spec: EncodingSpec = warpbound_core::diag::from_ron(source)?;
        let mut problems = Diagnostics::default();
        let mut problem = |what: &str, message: String| {
            problems.push(Diagnostic::general(source.name(), format!("{what}: {message}")));
        };
        if !matches!(spec.word_bits, 64 | 128) || spec.guard + 4 > spec.word_bits {
            problem("word_bits", "instructions have 64 or 128 bits, and the guard lies within".to_owned());
        }
        let control = match spec.control {
            ControlPlace::Bundle { instructions, bits } => {
                instructions > 0 && instructions as u32 * bits <= spec.word_bits && bits >= 21
            }
            ControlPlace::Inside { bit } => bit + 21 <= spec.word_bits,
        };
        if !control {
            problem("control", "the control codes, 21 bits each, do not fit a word".to_owned());
        }
        let mut choices = Vec::new();
        for (name, texts) in spec.choices {
            match choice(&name, &texts) {
                Ok(choice) => choices.push(choice),
                Err(message) => problem(&name, message),
            }
        }
        let mut ops = Vec::new();
        for op in spec.instructions {
            let name = op.name.clone();
            match instruction(op, &choices, spec.word_bits, spec.guard) {
                Ok(op) => ops.push(op),
                Err(message) => problem(&name, message),
            }
        }
        let by_top = by_top(&ops, spec.word_bits);
        for (op, other) in alike(&ops, &by_top) {
            problem(&ops[op].name, format!("a word can be this or {}", ops[other].name));
        }
        problems.into_result(Self {
            name: spec.name,
            targets: spec.targets,
            word_bytes: (spec.word_bits / 8) as usize,
            control: spec.control,
            guard: spec.guard,
            choices,
            ops,
            by_top,
        })
    }
}

/// Parses a list of texts such as `.A .B ? N=.C`.
fn choice(name: &str, list: &str) -> Result<Choice, String> {
    let mut texts: Vec<Option<String>> = Vec::new();
    for item in list.split_whitespace() {
        let text = match item.split_once('=') {
            None => item,
            Some((number, text)) => {
                let digits = number.strip_prefix("0x").ok_or("numbers are written as 0x12")?;
                let at = usize::from_str_radix(digits, 16).map_err(|_| format!("`{number}` is no number"))?;
                if at < texts.len() || at > 255 {
                    return Err(format!("{number} is not above the numbers before it, or is too large"));
                }
                texts.resize(at, None);
                text
            }
        };
        texts.push(match text {
            "?" => None,
            "_" => Some(String::new()),
            text => Some(text.to_owned()),
        });
    }
    if texts.len() < 2 {
        Err("a choice of fewer than two texts".to_owned())
    } else {
        Ok(Choice { name: name.to_owned(), texts })
    }
}

fn instruction(spec: OpSpec, choices: &[Choice], word_bits: u32, guard: u32) -> Result<Op, String> {
    let forms: Vec<Form> =
        spec.forms.split(';').map(|form| form_of(form.trim(), word_bits)).collect::<Result<_, _>>()?;
    let (mnemonic, operands) = text::parse(&spec.text, choices)?;
    let (set, clear) = (Word::from(spec.set), Word::from(spec.clear));
    if set & clear != 0 {
        return Err("a bit is both in `set` and in `clear`".to_owned());
    }
    // Modifiers may use bits that the entry fixes, but not those that the forms fix.
    let own: Vec<Word> = forms.iter().map(|form| form.mask & !free_sign(form.source)).collect();
    let fixed = |form: Form| Form { bits: form.bits | set, mask: form.mask | set | clear, ..form };
    let forms = forms.into_iter().map(fixed).collect();
    let op = Op {
        name: spec.name,
        sem: spec.sem,
        class: spec.class,
        space: spec.space,
        timing: spec.timing,
        reuse: spec.reuse.unwrap_or(spec.timing == Timing::Fixed),
        guarded: spec.guarded,
        forms,
        mnemonic,
        operands,
    };
    let guard = if op.guarded { low(4) << guard } else { 0 };
    for (form, own) in op.forms.iter().zip(own) {
        let mut taken = own | guard;
        for (name, mask) in op.fields(form.source) {
            // one register that is both source and destination
            let twice = name == "c"
                && op.operands.iter().any(|operand| {
                    operand.name == "d" && operand.mask(form.source) & mask & low(8) == low(8)
                });
            if mask & taken != 0 && !twice {
                return Err(format!("the bits of `{name}` mean something else, too"));
            }
            taken |= mask;
        }
        if op.fields(form.source).any(|(_, mask)| mask >> (word_bits - 1) > 1) {
            return Err("a field lies beyond the word".to_owned());
        }
    }
    Ok(op)
}

/// Returns the sign bit of a number as an operand, which the mask of its form excludes.
fn free_sign(source: Source) -> Word {
    match source {
        Source::Number | Source::Single | Source::Double => 1 << 56,
        _ => 0,
    }
}

/// Parses a form such as `r 5c10 fff8`.
fn form_of(text: &str, word_bits: u32) -> Result<Form, String> {
    let mut words = text.split_whitespace();
    let source = match words.next() {
        Some("-") => Source::None,
        Some("r") => Source::Register,
        Some("c") => Source::Constant,
        Some("s") => Source::Swapped,
        Some("i") => Source::Number,
        Some("f") => Source::Single,
        Some("d") => Source::Double,
        other => return Err(format!("`{}` is no form", other.unwrap_or_default())),
    };
    let usual = if free_sign(source) == 0 { 0xfff8 } else { 0xfef8 };
    let mut number = |what: &str| match words.next() {
        None => Ok(None),
        Some(word) => Word::from_str_radix(word, 16).map(Some).map_err(|_| format!("`{word}` is no {what}")),
    };
    let bits = number("bit pattern")?.ok_or("a form needs its bits")?;
    let mask = number("mask")?.unwrap_or(usual);
    if words.next().is_some() || bits & !mask != 0 || bits > 0xffff || mask > 0xffff {
        return Err(format!("`{text}`: four digits of bits, and a mask that covers them"));
    }
    let shift = word_bits - 16;
    Ok(Form { source, bits: bits << shift, mask: mask << shift })
}

impl Op {
    /// Returns the names and masks of the modifiers and operands of a form.
    pub(super) fn fields(&self, source: Source) -> impl Iterator<Item = (&str, Word)> {
        let modifiers = self.mnemonic.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Modifier(Modifier { name, field, .. }) => Some((name.as_str(), field.mask())),
        });
        let operands = self.operands.iter().map(move |operand| (operand.name.as_str(), operand.mask(source)));
        modifiers.chain(operands)
    }
}

impl OperandSpec {
    /// Returns the mask of the operand's bits.
    pub(super) fn mask(&self, source: Source) -> Word {
        let bits = [self.extended, self.neg, self.abs, self.inv, self.not, self.cc, self.half];
        let mut mask = self.place(source).mask();
        mask |= bits.iter().flatten().fold(0, |mask, bit| mask | 1 << bit);
        if let Some((field, bit)) = &self.number {
            mask |= field.mask() | 1 << bit;
        }
        if let Some((field, _)) = &self.offset {
            mask |= field.mask();
        }
        if let Some((field, _)) = &self.part {
            mask |= field.mask();
        }
        // a modifier describes the same bit
        if let Some(bit) = self.extended {
            mask &= !(1 << bit);
        }
        mask
    }
}

/// Returns the possible forms for each value of the upper byte.
fn by_top(ops: &[Op], word_bits: u32) -> Vec<Vec<(u16, u8)>> {
    let top = word_bits - 8;
    let mut lists = vec![Vec::new(); 256];
    for (byte, list) in lists.iter_mut().enumerate() {
        for (index, op) in ops.iter().enumerate() {
            for (number, form) in op.forms.iter().enumerate() {
                let (bits, mask) = ((form.bits >> top) as usize, (form.mask >> top) as usize);
                if byte & mask == bits {
                    list.push((index as u16, number as u8));
                }
            }
        }
        list.sort_by_key(|&(op, form)| {
            std::cmp::Reverse(ops[op as usize].forms[form as usize].mask.count_ones())
        });
    }
    lists
}

/// Returns pairs of forms that match the same word and have the same number of fixed bits.
fn alike(ops: &[Op], by_top: &[Vec<(u16, u8)>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for list in by_top {
        for (at, &(op, form)) in list.iter().enumerate() {
            for &(other, second) in &list[at + 1..] {
                let (a, b) =
                    (ops[op as usize].forms[form as usize], ops[other as usize].forms[second as usize]);
                let together = a.mask & b.mask;
                let same = a.bits & together == b.bits & together;
                if same
                    && a.mask.count_ones() == b.mask.count_ones()
                    && !found.contains(&(op as usize, other as usize))
                {
                    found.push((op as usize, other as usize));
                }
            }
        }
    }
    found
}
