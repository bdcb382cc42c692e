//! Parses the text of a table to an [`Encoding`].

use std::collections::BTreeMap;

use serde::Deserialize;

use super::control::ControlSpec;
use super::entry::{Layout, OpSpec, instruction};
use super::field::low;
use super::index::{alike, by_top};
use super::registers::Registers;
use super::source::{SourceSpec, Sources, bank_bits};
use super::syntax::Syntax;
use super::{Abi, Choice, Encoding, Field, Mistake, Op, Word};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, Texts, from_ron, unique_keys};

#[derive(Deserialize)]
#[serde(rename = "Encoding", deny_unknown_fields)]
struct EncodingSpec {
    name: String,
    #[allow(dead_code, reason = "for the reader of the file")]
    doc: String,
    targets: Vec<u32>,
    word_bits: u32,
    opcode: OpcodeSpec,
    guard: u32,
    control: ControlSpec,
    registers: Registers,
    slots: Vec<u32>,
    abi: Abi,
    #[serde(deserialize_with = "unique_keys")]
    sources: BTreeMap<String, SourceSpec>,
    #[serde(deserialize_with = "unique_keys")]
    choices: BTreeMap<String, String>,
    #[serde(default)]
    variants: Vec<VariantSpec>,
    instructions: Vec<OpSpec>,
}

/// A generation that shares the instructions of a table with the one that the table begins with.
#[derive(Deserialize)]
#[serde(rename = "Variant", deny_unknown_fields)]
struct VariantSpec {
    name: String,
    targets: Vec<u32>,
    /// The register files, if they differ.
    #[serde(default)]
    registers: Option<Registers>,
    /// The banks of constants, if they differ.
    #[serde(default)]
    abi: Option<Abi>,
    /// The choices whose texts differ.
    #[serde(default, deserialize_with = "unique_keys")]
    choices: BTreeMap<String, String>,
    /// The letters of the sources that the operand B cannot have.
    #[serde(default)]
    without: Vec<String>,
}

/// The bits that identify an instruction.
#[derive(Deserialize)]
#[serde(rename = "Opcode", deny_unknown_fields)]
struct OpcodeSpec {
    at: String,
    /// The bits that count in a form without a mask.
    mask: u64,
}

impl Encoding {
    /// Parses a table and returns the encoding of the generation that it begins with.
    ///
    /// # Errors
    /// The text is not a table, or descriptions of instructions are invalid; there is a diagnostic
    /// for each of them.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let spec: EncodingSpec = from_ron(source)?;
        Self::checked(source.name(), spec).map_err(|mistakes| diagnostics(source, &mistakes))
    }

    /// Parses a table and returns the encoding of the generation with this architecture.
    ///
    /// # Errors
    /// As for [`Encoding::parse`], or the table has no such generation.
    pub fn parse_for(source: &SourceText, target: u32) -> Result<Self, Diagnostics> {
        let spec: EncodingSpec = from_ron(source)?;
        let further = spec.variants.iter().position(|variant| variant.targets.contains(&target));
        let (own, spec) = match further {
            Some(index) => {
                let choices: Vec<String> = spec.variants[index].choices.keys().cloned().collect();
                (Some((index, choices)), spec.variant(index))
            }
            None if spec.targets.contains(&target) => (None, spec),
            None => {
                let message = format!("the table has no generation for sm_{target}");
                return Err(Diagnostic::general(source.name(), message).into());
            }
        };
        let moved = |wrong: Mistake| match &own {
            Some((index, choices)) => wrong.of_variant(*index, choices),
            None => wrong,
        };
        Self::checked(source.name(), spec)
            .map_err(|mistakes| diagnostics(source, &mistakes.into_iter().map(moved).collect::<Vec<_>>()))
    }

    /// Returns the encoding, or what is wrong with the table.
    fn checked(file: &str, spec: EncodingSpec) -> Result<Self, Vec<Mistake>> {
        let word_bits = spec.word_bits;
        let mut mistakes = wrong_words(&spec);
        mistakes.extend(wrong_registers(&spec.registers));
        let opcode = opcode_of(&spec.opcode, word_bits).map_err(|wrong| mistakes.push(wrong));
        let control = spec.control.checked(word_bits).map_err(|wrong| wrong.within("control").of("control"));
        let control = control.map_err(|wrong| mistakes.push(wrong));
        let sources = sources_of(&spec.sources, &spec.registers, word_bits, &mut mistakes);
        mistakes.extend(spec.abi.mistakes(bank_bits(&sources)).into_iter().map(|wrong| wrong.within("abi")));
        // mistakes in the format of words would be found again in each instruction
        let (Ok(opcode), Ok(control), true) = (opcode, control, mistakes.is_empty()) else {
            return Err(mistakes);
        };
        let choices = choices_of(&spec.choices, &mut mistakes);
        let guard = Field::at(spec.guard, guard_bits(&spec.registers));
        let layout = Layout {
            opcode: &opcode,
            usual: spec.opcode.mask,
            taken: control.mask(),
            guard: guard.mask(),
            sources: &sources,
            syntax: Syntax {
                choices: &choices,
                registers: &spec.registers,
                barrier_bits: control.barrier_bits(),
                barriers: control.barriers(),
                word_bits,
            },
        };
        let ops = instructions(spec.instructions, &spec.targets, &layout, &mut mistakes);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let by_top = by_top(&ops, &opcode);
        Ok(Self {
            name: spec.name,
            file: file.to_owned(),
            targets: spec.targets,
            word_bytes: (word_bits / 8) as usize,
            control,
            registers: spec.registers,
            abi: spec.abi,
            latencies: None,
            opcode,
            guard,
            slots: spec.slots,
            choices,
            ops,
            by_top,
        })
    }
}

impl EncodingSpec {
    /// Returns the table of another generation.
    fn variant(mut self, index: usize) -> Self {
        let variant = self.variants.swap_remove(index);
        self.instructions.iter_mut().for_each(|spec| spec.leave_out(&variant.without));
        self.choices.extend(variant.choices);
        Self {
            name: variant.name,
            targets: variant.targets,
            registers: variant.registers.unwrap_or(self.registers),
            abi: variant.abi.unwrap_or(self.abi),
            ..self
        }
    }
}

/// Returns the diagnostics of the mistakes in a table.
fn diagnostics(source: &SourceText, mistakes: &[Mistake]) -> Diagnostics {
    let texts = Texts::new(source.clone());
    let mut problems = Diagnostics::default();
    mistakes.iter().for_each(|mistake| problems.push(mistake.diagnostic(texts.root())));
    problems
}

/// Returns the number of bits of a guard: a predicate, and the bit that negates it.
fn guard_bits(registers: &Registers) -> u32 {
    registers.predicate.bits.saturating_add(1)
}

/// Returns what is wrong with the architectures, the size of words, the guard and the slots.
fn wrong_words(spec: &EncodingSpec) -> Vec<Mistake> {
    let mut found = Vec::new();
    let mut wrong = |field: &'static str, message: String, hint: String| {
        found.push(Mistake::new(field, message, hint).of(field));
    };
    if spec.targets.is_empty() {
        wrong("targets", "no architecture is given".to_owned(), "for example 61 for sm_61".to_owned());
    }
    let word_bits = spec.word_bits;
    if !matches!(word_bits, 64 | 128) {
        let message = format!("instructions of {word_bits} bits are not supported");
        wrong("word_bits", message, "instructions have 64 or 128 bits".to_owned());
    }
    let bits = guard_bits(&spec.registers);
    if spec.guard.checked_add(bits).is_none_or(|end| end > word_bits) {
        let message = format!("the guard lies beyond the {word_bits} bits of a word");
        wrong("guard", message, format!("the guard has {bits} bits and begins at bit {}", spec.guard));
    }
    if let Some(slot) = spec.slots.iter().find(|&&slot| slot >= word_bits) {
        let message = format!("bit {slot} lies beyond the {word_bits} bits of a word");
        wrong("slots", message, "a slot is given by the first bit of its register".to_owned());
    }
    found
}

/// Returns what is wrong with the register files.
fn wrong_registers(registers: &Registers) -> Vec<Mistake> {
    let files = [
        ("general", 8, Some(&registers.general)),
        ("predicate", 3, Some(&registers.predicate)),
        ("uniform", 8, registers.uniform.as_ref()),
        ("uniform_predicate", 3, registers.uniform_predicate.as_ref()),
    ];
    let mut found = Vec::new();
    for (name, most, file) in files {
        let Some(file) = file else { continue };
        let mut wrong = |field, message: String, hint: &str| {
            found.push(Mistake::new(field, message, hint).within(name).within("registers").of(name));
        };
        if !(1..=most).contains(&file.bits) {
            let message = format!("a number of {} bits", file.bits);
            wrong("bits", message, &format!("the number of one of these registers has 1 to {most} bits"));
        }
        for (field, text) in [("prefix", &file.prefix), ("fixed", &file.fixed)] {
            if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric()) {
                wrong(field, format!("`{text}` is no name of a register"), "for example \"R\" and \"RZ\"");
            }
        }
    }
    found
}

/// Returns the bits of the opcode.
fn opcode_of(spec: &OpcodeSpec, word_bits: u32) -> Result<Field, Mistake> {
    let hint = "the opcode is given by its first bit and its number of bits, such as \"48+16\"";
    let wrong = |message: String| Mistake::new("at", message, hint).within("opcode").of("opcode");
    let field = Field::parse(&spec.at, 0).map_err(wrong)?;
    if !(8..=32).contains(&field.width()) {
        return Err(wrong(format!("`{}` has {} bits, but 8 to 32 are supported", spec.at, field.width())));
    }
    if Word::BITS - field.mask().leading_zeros() > word_bits {
        return Err(wrong(format!("`{}` lies beyond the word", spec.at)));
    }
    if Word::from(spec.mask) > low(field.width()) || spec.mask == 0 {
        let message = format!("{:#x} is no mask of the {} bits of the opcode", spec.mask, field.width());
        let hint = "the mask says which bits of the opcode count in a form without a mask of its own";
        return Err(Mistake::new("mask", message, hint).within("opcode").of("opcode"));
    }
    Ok(field)
}

/// Returns the sources by their letters.
fn sources_of(
    specs: &BTreeMap<String, SourceSpec>,
    registers: &Registers,
    word_bits: u32,
    mistakes: &mut Vec<Mistake>,
) -> Sources {
    let mut sources = Sources::new();
    for (letter, spec) in specs {
        let checked = spec.checked(registers).and_then(|(source, field)| {
            if Word::BITS - field.mask().leading_zeros() > word_bits {
                let hint = format!("a word has {word_bits} bits");
                return Err(Mistake::here("the field of this source lies beyond the word", hint));
            }
            Ok((source, field))
        });
        match checked {
            Ok(source) => drop(sources.insert(letter.clone(), source)),
            Err(wrong) => mistakes.push(wrong.within(letter.clone()).within("sources").of(letter)),
        }
    }
    sources
}

/// Returns the choices. One with a mistake has no texts, so that it is found nevertheless.
fn choices_of(specs: &BTreeMap<String, String>, mistakes: &mut Vec<Mistake>) -> Vec<Choice> {
    let each = specs.iter().map(|(name, list)| {
        let texts = choice(list).unwrap_or_else(|message| {
            let hint = "texts are separated by blanks; `_` prints nothing, `?` is not known, and `0x12=.X` sets the number";
            mistakes.push(Mistake::here(message, hint).within(name.clone()).within("choices").of(name));
            vec![None; 2]
        });
        Choice { name: name.clone(), texts }
    });
    each.collect()
}

/// Parses a list of texts such as `.A .B ? N=.C`.
fn choice(list: &str) -> Result<Vec<Option<String>>, String> {
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
    if texts.len() < 2 { Err("a choice of fewer than two texts".to_owned()) } else { Ok(texts) }
}

/// Returns the instructions of some architectures without mistakes.
fn instructions(
    specs: Vec<OpSpec>,
    targets: &[u32],
    layout: &Layout,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut indices = Vec::new();
    for (index, spec) in specs.into_iter().enumerate().filter(|(_, spec)| spec.is_of(targets)) {
        let name = spec.name.clone();
        match instruction(spec, layout) {
            Ok(op) => {
                ops.push(op);
                indices.push(index);
            }
            Err(wrong) => mistakes.push(wrong.item(index).within("instructions").of(&name)),
        }
    }
    for (op, other) in alike(&ops, &by_top(&ops, layout.opcode)) {
        let message = format!("a word can be this or {}", ops[other].name);
        let hint = "give one of them `set`, `clear` or a mask with more bits";
        let wrong = Mistake::new("forms", message, hint).of(&ops[op].name);
        mistakes.push(wrong.item(indices[op]).within("instructions"));
    }
    ops
}
