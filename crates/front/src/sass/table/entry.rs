//! Parses the description of one instruction.

use serde::Deserialize;

use super::source::Sources;
use super::syntax::Syntax;
use super::text;
use super::{
    Condition, Field, Form, Kind, Meaning, Mistake, Modifier, Op, OperandSpec, Part, Source, Timing, Word,
};
use warpbound_core::isa::Space;

#[derive(Deserialize)]
#[serde(rename = "Op", deny_unknown_fields)]
pub(super) struct OpSpec {
    pub name: String,
    #[serde(default)]
    sem: Option<Meaning>,
    class: String,
    #[serde(default)]
    space: Option<Space>,
    #[serde(default)]
    timing: Timing,
    #[serde(default)]
    reuse: Option<bool>,
    forms: String,
    #[serde(default)]
    set: Option<String>,
    #[serde(default)]
    clear: Option<String>,
    /// The values of fields that the instruction fixes, such as `87+4=15`.
    #[serde(default)]
    fixed: Option<String>,
    /// Conditions on the values of fields, one of which holds in all words of the entry.
    #[serde(default)]
    when: Option<String>,
    /// The first architecture that has the instruction, if not all do.
    #[serde(default)]
    since: Option<u32>,
    /// The last architecture that has the instruction, if not all do.
    #[serde(default)]
    until: Option<u32>,
    /// Whether the threads of a warp execute it together, so that its guard is one of their common
    /// predicates.
    #[serde(default)]
    uniform: bool,
    #[serde(default = "yes")]
    guarded: bool,
    text: String,
}

fn yes() -> bool {
    true
}

impl OpSpec {
    /// Leaves out the forms with one of these sources.
    pub(super) fn leave_out(&mut self, letters: &[String]) {
        let left = |form: &&str| !letters.iter().any(|letter| form.split_whitespace().next() == Some(letter));
        let forms: Vec<&str> = self.forms.split(';').filter(left).collect();
        self.forms = forms.join(";");
    }

    /// Returns whether all of these architectures have the instruction.
    pub(super) fn is_of(&self, targets: &[u32]) -> bool {
        let within = |target: &u32| {
            self.since.is_none_or(|since| since <= *target) && self.until.is_none_or(|until| *target <= until)
        };
        targets.iter().all(within) && !self.forms.is_empty()
    }
}

/// What the instructions of a table have in common.
pub(super) struct Layout<'a> {
    pub opcode: &'a Field,
    /// The bits of the opcode that count in a form without a mask.
    pub usual: u64,
    pub guard: Word,
    /// The bits of an instruction word that are control codes.
    pub taken: Word,
    pub sources: &'a Sources,
    pub syntax: Syntax<'a>,
}

/// Returns an instruction, or what is wrong with its description.
pub(super) fn instruction(spec: OpSpec, layout: &Layout) -> Result<Op, Mistake> {
    let forms: Vec<Form> =
        spec.forms.split(';').map(|form| form_of(form.trim(), layout)).collect::<Result<_, _>>()?;
    let (mnemonic, operands) = text::parse(&spec.text, &layout.syntax)
        .map_err(|(message, hint)| Mistake::new("text", message, hint))?;
    let set = bits("set", spec.set.as_deref(), layout)?;
    let clear = bits("clear", spec.clear.as_deref(), layout)?;
    let (ones, zeros) = fixed(spec.fixed.as_deref().unwrap_or_default(), layout)?;
    let (set, clear) = (set | ones, clear | zeros);
    if set & clear != 0 {
        let hint = format!("these bits are in both: {:#x}", set & clear);
        return Err(Mistake::new("clear", "a bit is both in `set` and in `clear`", hint));
    }
    let when = conditions(spec.when.as_deref(), layout)?;
    // Modifiers may use bits that the entry fixes, but not those that the forms fix.
    let own: Vec<Word> = forms.iter().map(|form| form.mask & !form.b.mask()).collect();
    let completed = |form: Form| Form { bits: form.bits | set, mask: form.mask | set | clear, ..form };
    let op = Op {
        name: spec.name,
        meaning: spec.sem,
        class: spec.class,
        space: spec.space,
        timing: spec.timing,
        reuse: spec.reuse.unwrap_or(spec.timing == Timing::Fixed),
        guarded: spec.guarded,
        uniform: spec.uniform,
        when,
        forms: forms.into_iter().map(completed).collect(),
        mnemonic,
        operands,
    };
    let guard = if op.guarded { layout.guard } else { 0 };
    for (form, own) in op.forms.iter().zip(own) {
        overlaps(&op, form, own | guard | layout.taken)?;
    }
    Ok(op)
}

/// Refuses fields that share bits with others or with bits that are taken.
fn overlaps(op: &Op, form: &Form, mut taken: Word) -> Result<(), Mistake> {
    let destination = op.operands.iter().find(|operand| operand.name == "d");
    for operand in &op.operands {
        if operand.kind == Kind::B && form.source == Source::None {
            let hint = "give the operand a kind with a place, or another form";
            return Err(Mistake::new("text", format!("`{}` is B of a form without B", operand.name), hint));
        }
    }
    for (name, mask) in op.fields(form) {
        // one register that is both source and destination
        let twice = name == "c"
            && destination
                .is_some_and(|d| op.operands.iter().any(|c| c.name == "c" && c.place(form) == d.place(form)));
        if mask & taken != 0 && !twice {
            let hint = format!(
                "bits {:#x} belong to the opcode, to the guard, to control codes, or to another field",
                mask & taken
            );
            return Err(Mistake::new("text", format!("the bits of `{name}` mean something else, too"), hint));
        }
        taken |= mask;
    }
    Ok(())
}

/// Parses a word of fixed bits such as `0x500`.
fn bits(field: &'static str, text: Option<&str>, layout: &Layout) -> Result<Word, Mistake> {
    let Some(text) = text else { return Ok(0) };
    let hint = || "bits are written as \"0x500\"".to_owned();
    let word = text.strip_prefix("0x").and_then(|digits| Word::from_str_radix(digits, 16).ok());
    let Some(word) = word else {
        return Err(Mistake::new(field, format!("`{text}` is no word of bits"), hint()));
    };
    if Word::BITS - word.leading_zeros() > layout.syntax.word_bits {
        let hint = format!("a word has {} bits", layout.syntax.word_bits);
        return Err(Mistake::new(field, format!("`{text}` lies beyond the word"), hint));
    }
    Ok(word)
}

/// Parses conditions such as `24+8=255 32+32=power`.
fn conditions(text: Option<&str>, layout: &Layout) -> Result<Vec<Condition>, Mistake> {
    let each = text.unwrap_or_default().split_whitespace().map(|item| {
        let wrong = |message: String| {
            Mistake::new("when", message, "a field and its value, such as \"24+8=255\" or \"32+32=power\"")
        };
        let (at, value) = item.split_once('=').ok_or_else(|| wrong(format!("`{item}` has no value")))?;
        let field = layout.syntax.field(at, 1).map_err(|(message, _)| wrong(message))?;
        let value = match value {
            "power" => None,
            number => Some(number.parse().map_err(|_| wrong(format!("`{number}` is no number")))?),
        };
        Ok(Condition { field, value })
    });
    each.collect()
}

/// Parses the values of fixed fields, such as `87+4=15 72=1`; returns the bits that are ones and
/// those that are zeros.
fn fixed(text: &str, layout: &Layout) -> Result<(Word, Word), Mistake> {
    let (mut ones, mut zeros) = (0, 0);
    for item in text.split_whitespace() {
        let wrong = |message: String| {
            Mistake::new("fixed", message, "a field and its value, such as \"87+4=15\" or \"72=1\"")
        };
        let (at, value) = item.split_once('=').ok_or_else(|| wrong(format!("`{item}` has no value")))?;
        let field = layout.syntax.field(at, 1).map_err(|(message, _)| wrong(message))?;
        let value = value.parse::<u64>().ok().filter(|&value| field.get(field.put(value)) == value);
        let value = value.ok_or_else(|| wrong(format!("`{item}` has no value that fits its field")))?;
        ones |= field.put(value);
        zeros |= field.mask() & !field.put(value);
    }
    Ok((ones, zeros))
}

/// Parses a form such as `r 5c10 fff8`.
fn form_of(text: &str, layout: &Layout) -> Result<Form, Mistake> {
    let wrong = |message: String| {
        let letters: Vec<&str> = layout.sources.keys().map(String::as_str).collect();
        let hint = format!(
            "a form is a source ({}), the bits of the opcode and, if it differs from the usual one, their mask",
            letters.join(", ")
        );
        Mistake::new("forms", message, hint)
    };
    let mut words = text.split_whitespace();
    let letter = words.next().unwrap_or_default();
    let (source, b) = layout.sources.get(letter).ok_or_else(|| wrong(format!("`{letter}` is no form")))?;
    let mut number = |what: &str| match words.next() {
        None => Ok(None),
        Some(word) => match u64::from_str_radix(word, 16) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(wrong(format!("`{word}` is no {what}"))),
        },
    };
    let bits = number("bit pattern")?.ok_or_else(|| wrong("a form needs its bits".to_owned()))?;
    // a number may use bits of the opcode
    let mask = number("mask")?.unwrap_or(layout.usual & !layout.opcode.get(b.mask()));
    let most = super::field::low(layout.opcode.width());
    if words.next().is_some() || bits & !mask != 0 || Word::from(bits | mask) > most {
        let digits = layout.opcode.width().div_ceil(4);
        return Err(wrong(format!("`{text}`: {digits} digits of bits, and a mask that covers them")));
    }
    let [bits, mask] = [bits, mask].map(|value| layout.opcode.put(value));
    Ok(Form { source: *source, b: b.clone(), bits, mask })
}

impl Op {
    /// Returns the names and masks of the modifiers and operands of a form.
    fn fields<'a>(&'a self, form: &'a Form) -> impl Iterator<Item = (&'a str, Word)> {
        let modifiers = self.mnemonic.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Modifier(Modifier { name, field, .. }) => Some((name.as_str(), field.mask())),
        });
        let operands = self.operands.iter().map(move |operand| (operand.name.as_str(), operand.mask(form)));
        modifiers.chain(operands)
    }
}

impl OperandSpec {
    /// Returns the mask of the operand's bits.
    fn mask(&self, form: &Form) -> Word {
        let bits = [self.neg, self.abs, self.inv, self.not, self.cc, self.half];
        let mut mask = self.place(form).mask();
        mask |= bits.iter().filter_map(|&bit| self.sign(bit, form)).fold(0, |mask, bit| mask | 1 << bit);
        if let Some((field, bit)) = &self.number {
            mask |= field.mask() | 1 << bit;
        }
        if let Some((field, _)) = &self.part {
            mask |= field.mask();
        }
        let further = [&self.offset, &self.bank, &self.uniform, &self.descriptor];
        mask |= further.into_iter().flatten().fold(0, |mask, field| mask | field.mask());
        // a modifier describes the same bit
        self.extended.map_or(mask, |bit| mask & !(1 << bit))
    }
}
