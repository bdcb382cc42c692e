//! Formats instructions like NVIDIA's disassemblers.

use std::fmt::Write;

use super::table::{Decoded, Operand, Register, RegisterFile, Registers, Value};

/// Returns the text of an instruction. `next` is the offset of the following instruction, and
/// `label` formats the offset of a target.
pub fn text(decoded: &Decoded, next: usize, reuse: u8, label: impl Fn(i64) -> String) -> String {
    let mut out = String::new();
    if let Some((register, negated)) = decoded.guard {
        let registers = decoded.registers;
        let shared = registers.uniform_predicate.as_ref().filter(|_| decoded.op.uniform);
        let name = shared.unwrap_or(&registers.predicate).name(register);
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
    let number = matches!(
        operand.value,
        Value::Number(_)
            | Value::Small(_)
            | Value::Single(_)
            | Value::Double(_)
            | Value::Half(_)
            | Value::Brain(_)
    );
    let (before, behind) = signs(operand);
    out.push_str(if number { "" } else { &before });
    let marked = operand.slot.is_some_and(|slot| reuse >> slot & 1 != 0);
    match operand.value {
        Value::Target(offset) => out.push_str(&label(next as i64 + offset)),
        Value::Address { register, offset, wide, uniform, descriptor } => {
            let name = |register| registers.uniform.as_ref().map(|file| file.name(register));
            if let Some(name) = descriptor.filter(|_| operand.described).and_then(name) {
                let _ = write!(out, "desc[{name}]");
            }
            let mut first =
                format!("{}{}", registers.general.name(register), if marked { ".reuse" } else { "" });
            // a part such as .U32 is the size of the register
            let size = if wide && operand.sized && operand.part.is_empty() { ".64" } else { "" };
            let _ = write!(first, "{size}{}", operand.part);
            // beside a register of the warp, one that is zero is printed only if it is scaled, or if the
            // table says so
            let shown = match (register, uniform) {
                (Register::Number(_), _) => true,
                (Register::Fixed, Some(_)) => operand.zero || operand.part.starts_with(".X"),
                (Register::Fixed, None) => offset == 0 || descriptor.is_some(),
            };
            let first = Some(first).filter(|_| shown);
            sum(out, &[first, uniform.and_then(name)], offset);
        }
        Value::IndexedConstant { bank, register, offset } => {
            let name = Some(registers.general.name(register));
            let _ = write!(out, "c[{bank:#x}]");
            sum(out, &[name.filter(|_| register != Register::Fixed || offset == 0)], offset);
        }
        Value::UniformConstant { bank, register, offset } => {
            let name = registers.uniform.as_ref().map(|file| file.name(register));
            let _ = write!(out, "c[{bank:#x}]");
            sum(out, &[name.filter(|_| register != Register::Fixed || offset == 0)], offset);
        }
        _ => write_value(out, operand, registers),
    }
    let half = if operand.half { ".H1" } else { "" };
    let cc = if operand.cc { ".CC" } else { "" };
    let bar = if operand.abs && !number { "|" } else { "" };
    // the part of an address belongs to its register
    let part = if matches!(operand.value, Value::Address { .. }) { "" } else { operand.part };
    let reuse = if marked && matches!(operand.value, Value::Register(_)) { ".reuse" } else { "" };
    let (early, late) = if operand.part_last { (reuse, "") } else { ("", reuse) };
    let behind = if number { behind } else { "" };
    let _ = if operand.part_last {
        write!(out, "{behind}{bar}{early}{part}{half}{cc}{late}")
    } else {
        write!(out, "{behind}{early}{part}{half}{bar}{cc}{late}")
    };
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
        Value::Single(bits) => {
            // where numbers are shortened, NaN is always printed as a quiet one
            let quiet = bits >> 22 & 1 != 0 || registers.uniform.is_none();
            out.push_str(&decimal(f32::from_bits(bits).into(), bits >> 31 != 0, quiet));
        }
        Value::Double(bits) => {
            out.push_str(&decimal(f64::from_bits(bits), bits >> 63 != 0, bits >> 51 & 1 != 0));
        }
        Value::Descriptor(name, register) => {
            let _ = write!(out, "{name}[{}]", shared(&registers.uniform, register));
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
        Value::Half(0x8000) | Value::Brain(0x8000) => out.push_str("-0.0"),
        Value::Half(bits) => {
            let value = half(bits);
            out.push_str(&decimal(value, bits >> 15 != 0, bits >> 9 & 1 != 0));
        }
        Value::Brain(bits) => {
            let value = f32::from_bits(u32::from(bits) << 16);
            out.push_str(&decimal(value.into(), bits >> 15 != 0, bits >> 6 & 1 != 0));
        }
        // `write_operand` writes them
        Value::Target(_)
        | Value::Address { .. }
        | Value::IndexedConstant { .. }
        | Value::UniformConstant { .. } => {}
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

/// Returns the text of the offset of a target.
pub fn place(target: i64) -> String {
    let mut out = String::new();
    hex(&mut out, target);
    out
}

fn hex(out: &mut String, number: i64) {
    let _ = write!(out, "{}{:#x}", if number < 0 { "-" } else { "" }, number.unsigned_abs());
}

/// Writes the sum of some registers and an offset in brackets.
fn sum(out: &mut String, registers: &[Option<String>], offset: i64) {
    let names: Vec<&str> = registers.iter().flatten().map(String::as_str).collect();
    let _ = write!(out, "[{}", names.join("+"));
    if offset != 0 || names.is_empty() {
        out.push_str(if names.is_empty() { "" } else { "+" });
        hex(out, offset);
    }
    out.push(']');
}

/// Returns the value of a number of half precision.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 != 0 { -magnitude } else { magnitude }
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
