//! Formats instructions like NVIDIA's disassemblers.

use std::fmt::Write;

use super::table::{Decoded, Operand, Register, RegisterFile, Registers, Value};

/// Returns the text of an instruction. `next` is the offset of the following instruction, and
/// `label` formats the offset of a target.
pub fn text(decoded: &Decoded, next: usize, reuse: u8, label: impl Fn(i64) -> String) -> String {
    let mut out = String::new();
    if let Some((register, negated)) = decoded.guard {
        let name = decoded.registers.predicate.name(register);
        let _ = write!(out, "@{}{name} ", if negated { "!" } else { "" });
    }
    out.push_str(&decoded.op.name);
    for piece in decoded.op.suffix() {
        match piece {
            Ok(text) => out.push_str(text),
            Err(modifier) => out.push_str(decoded.modifiers.get(modifier).map_or("", |(_, text, _)| text)),
        }
    }
    let mut separator = " ";
    for operand in decoded.operands.iter().filter(|operand| !operand.hidden) {
        out.push_str(if operand.joined { " " } else { separator });
        separator = ", ";
        let reuse = if decoded.op.reuse { reuse } else { 0 };
        write_operand(&mut out, (operand, decoded.registers), next, reuse, &label);
        if let (true, Value::Register(Register::Number(first))) = (operand.next, operand.value) {
            let step = if decoded.modifier("ty") == ".64" { 2 } else { 1 };
            let file = &decoded.registers.general;
            let _ = write!(out, ", {}", file.name(file.register(file.further(first, step))));
        }
    }
    out
}

fn write_operand(
    out: &mut String,
    (operand, registers): (&Operand, &Registers),
    next: usize,
    reuse: u8,
    label: &impl Fn(i64) -> String,
) {
    // the signs of numbers are printed after them
    let number =
        matches!(operand.value, Value::Number(_) | Value::Small(_) | Value::Single(_) | Value::Double(_));
    let (before, behind) = signs(operand);
    out.push_str(if number { "" } else { &before });
    let marked = operand.slot.is_some_and(|slot| reuse >> slot & 1 != 0);
    match operand.value {
        Value::Target(offset) => out.push_str(&label(next as i64 + offset)),
        Value::Address { register, offset, .. } => address(out, registers, register, offset, marked),
        Value::IndexedConstant { bank, register, offset } => {
            let _ = write!(out, "c[{bank:#x}]");
            address(out, registers, register, offset, false);
        }
        _ => write_value(out, operand, registers),
    }
    let half = if operand.half { ".H1" } else { "" };
    let cc = if operand.cc { ".CC" } else { "" };
    let bar = if operand.abs && !number { "|" } else { "" };
    let _ = write!(out, "{}{}{half}{bar}{cc}", if number { behind } else { "" }, operand.part);
    if marked && matches!(operand.value, Value::Register(_)) {
        out.push_str(".reuse");
    }
}

/// Writes a value that is neither a target nor an address.
fn write_value(out: &mut String, operand: &Operand, registers: &Registers) {
    let shared = |file: &Option<_>, register| {
        file.as_ref().map_or_else(String::new, |file: &RegisterFile| file.name(register))
    };
    match operand.value {
        Value::Register(register) => out.push_str(&registers.general.name(register)),
        Value::Predicate(register) => out.push_str(&registers.predicate.name(register)),
        Value::Uniform(register) => out.push_str(&shared(&registers.uniform, register)),
        Value::UniformPredicate(register) => out.push_str(&shared(&registers.uniform_predicate, register)),
        Value::Constant { bank, offset } => {
            let gap = if operand.apart { " " } else { "" };
            let _ = write!(out, "c[{bank:#x}]{gap}[");
            hex(out, offset);
            out.push(']');
        }
        Value::Number(number) => match operand.plain {
            Some(bits) => hex(out, number & i64::MAX >> (63 - bits.min(63))),
            None => hex(out, number),
        },
        Value::Small(number) => {
            let _ = write!(out, "{number:#x}");
        }
        Value::Single(bits) => out.push_str(&decimal(f32::from_bits(bits).into(), bits >> 31 != 0, true)),
        Value::Double(bits) => {
            out.push_str(&decimal(f64::from_bits(bits), bits >> 63 != 0, bits >> 51 & 1 != 0));
        }
        Value::Choice(text, _) => out.push_str(text),
        Value::Barrier(barrier) => {
            let _ = write!(out, "SB{barrier}");
        }
        Value::Barriers(mask) => {
            let all: Vec<String> =
                (0..8).rev().filter(|bit| mask >> bit & 1 != 0).map(|bit| bit.to_string()).collect();
            let _ = write!(out, "{{{}}}", all.join(","));
        }
        // `write_operand` writes them
        Value::Target(_) | Value::Address { .. } | Value::IndexedConstant { .. } => {}
    }
}

/// Returns the signs that are printed before an operand and, for a number, after it.
fn signs(operand: &Operand) -> (String, &'static str) {
    let each = [(operand.neg, "-"), (operand.inv, "~"), (operand.not, "!"), (operand.abs, "|")];
    let before = each.iter().filter(|(set, _)| *set).map(|(_, sign)| *sign).collect();
    let behind = match (operand.neg, operand.abs, operand.inv) {
        (_, _, true) => ".INV",
        (true, true, _) => ".NEG.ABS",
        (true, false, _) => ".NEG",
        (false, true, _) => ".ABS",
        (false, false, false) => "",
    };
    (before, behind)
}

fn hex(out: &mut String, number: i64) {
    let _ = write!(out, "{}{:#x}", if number < 0 { "-" } else { "" }, number.unsigned_abs());
}

fn address(out: &mut String, registers: &Registers, register: Register, offset: i64, marked: bool) {
    let reuse = if marked { ".reuse" } else { "" };
    out.push('[');
    if register == Register::Fixed && offset != 0 {
        hex(out, offset);
    } else {
        let _ = write!(out, "{}{reuse}", registers.general.name(register));
        if offset != 0 {
            out.push('+');
            hex(out, offset);
        }
    }
    out.push(']');
}

/// Formats a number with twenty significant digits, like C's `%.20g`.
fn decimal(value: f64, negative: bool, quiet: bool) -> String {
    const DIGITS: usize = 20;
    if value.is_nan() {
        return format!("{}{}NAN ", if negative { "-" } else { "+" }, if quiet { "Q" } else { "S" });
    }
    if value.is_infinite() {
        return format!("{}INF ", if negative { "-" } else { "+" });
    }
    let scientific = format!("{value:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 {
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return format!("{mantissa}e-{:02}", -exponent);
    }
    // large numbers have one more digit, and keep trailing zeros
    if value.abs() >= 1e9 {
        let scientific = format!("{value:.DIGITS$e}");
        let mantissa = scientific.split('e').next().unwrap_or_default();
        return format!("{mantissa}e+{exponent:02}");
    }
    let places = (DIGITS as i32 - 1 - exponent).max(0) as usize;
    let fixed = format!("{value:.places$}");
    if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() } else { fixed }
}
