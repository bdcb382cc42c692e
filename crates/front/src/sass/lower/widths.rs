//! The number of registers of an operand.

use super::{Decoded, Operand, Value};

/// Returns the number of registers that an operand names by its first one. The registers of an
/// address are counted by [`super::accesses`].
pub(super) fn width(d: &Decoded, operand: &Operand) -> u8 {
    if operand.wide {
        return 2;
    }
    match operand.value {
        Value::Descriptor("desc", _) => return 2,
        Value::Descriptor(..) => return 4,
        _ => {}
    }
    let (name, parts) = (operand.name, d.parts());
    let has = |wanted: &[&str]| parts.iter().any(|part| wanted.contains(part));
    if let Some(count) = matrix(&parts, name).or_else(|| super::image::width(d, operand)) {
        return count;
    }
    match parts.first().copied().unwrap_or_default() {
        "SYNCS" if has(&["EXCH"]) || has(&["ARRIVE"]) && name == "d" => 2,
        "SYNCS" => 1,
        "UBLKCP" | "UBLKRED" | "UBLKPF" => 1,
        "LDSM" if name == "d" => number(&parts).unwrap_or(1),
        "F2I" if name == "d" && d.modifier("to").ends_with("64") => 2,
        "MATCH" if name == "a" && has(&["U64"]) => 2,
        // code addresses
        "RET" | "BRX" | "CALL" if name == "a" => 2,
        "LEPC" if name == "d" => 2,
        "UIMAD" if has(&["WIDE"]) && matches!(name, "d" | "c") => 2,
        _ if d.op.uniform && has(&["128"]) => 4,
        "UISETP" | "UIMNMX" if has(&["S64", "U64"]) => 2,
        _ if d.op.uniform && has(&["64"]) => 2,
        _ if moves_memory(d) && has(&["128"]) => 4,
        _ if moves_memory(d) && has(&["64", "S64", "U64", "F64"]) => 2,
        _ => 1,
    }
}

/// Returns whether an instruction moves data between registers and memory.
fn moves_memory(d: &Decoded) -> bool {
    let memory =
        |operand: &Operand| matches!(operand.value, Value::Address { .. } | Value::IndexedConstant { .. });
    d.operands.iter().any(memory)
}

/// Returns the number that is a part of the mnemonic.
fn number(parts: &[&str]) -> Option<u8> {
    parts.iter().filter(|part| part.len() == 1).find_map(|part| part.parse().ok())
}

/// Returns the number of registers of an operand of a product of matrices.
fn matrix(parts: &[&str], name: &str) -> Option<u8> {
    let has = |wanted: &str| parts.contains(&wanted);
    let [a, b, sum] = match *parts.first()? {
        "IMMA" if has("8816") || has("8832") => [1, 1, 2],
        "IMMA" if has("16816") || has("16832") && (has("S4") || has("U4")) => [2, 1, 4],
        "IMMA" => [4, 2, 4],
        "QMMA" => {
            let b = if has("16816") { 1 } else { 2 };
            [2 * b, b, if has("F16") { 2 } else { 4 }]
        }
        "HMMA" => {
            // the rows of A that a lane holds, and the columns
            let columns = match (has("16816"), has("1684"), has("TF32")) {
                (true, ..) => 4,
                (_, true, _) => 2,
                (.., true) => 4,
                _ => 2,
            };
            [columns, columns / 2, if has("F16") { 2 } else { 4 }]
        }
        _ => return None,
    };
    match name {
        "a" => Some(a),
        "b" => Some(b),
        "c" | "d" => Some(sum),
        _ => None,
    }
}
