//! Latencies and initiation intervals of arithmetic.
//!
//! GPGPU-Sim states a total latency and an interval for ADD, MAX, MUL, MAD and DIV of each type
//! (and SHFL as the sixth value of the integers). Here a unit is occupied for the interval and then
//! takes the rest of the latency.

use super::Import;
use super::values::{number, numbers, scalar};

/// A type with its options, its unit, and its op class.
struct Type {
    latency: &'static str,
    interval: &'static str,
    unit: &'static str,
    /// The option that states the number of units of this type. Without it, integers and doubles
    /// have no units of their own.
    own: &'static str,
    /// The unit that executes the type if it has none of its own.
    else_on: &'static str,
    op: &'static str,
}

const TYPES: [Type; 3] = [
    Type {
        latency: "-ptx_opcode_latency_int",
        interval: "-ptx_opcode_initiation_int",
        unit: "int",
        own: "-gpgpu_num_int_units",
        else_on: "fp32",
        op: "int",
    },
    Type {
        latency: "-ptx_opcode_latency_fp",
        interval: "-ptx_opcode_initiation_fp",
        unit: "fp32",
        own: "-gpgpu_num_sp_units",
        else_on: "fp32",
        op: "fp32",
    },
    Type {
        latency: "-ptx_opcode_latency_dp",
        interval: "-ptx_opcode_initiation_dp",
        unit: "fp64",
        own: "-gpgpu_num_dp_units",
        else_on: "sfu",
        op: "fp64",
    },
];

/// The op classes that take one cycle on the integer unit, whatever the lists state.
const SHORT: [&str; 5] = ["alu", "alu.vote", "control", "barrier", "fence"];

/// The options that this module translates.
pub(super) const NAMES: [&str; 10] = [
    "-ptx_opcode_latency_int",
    "-ptx_opcode_initiation_int",
    "-ptx_opcode_latency_fp",
    "-ptx_opcode_initiation_fp",
    "-ptx_opcode_latency_dp",
    "-ptx_opcode_initiation_dp",
    "-ptx_opcode_latency_sfu",
    "-ptx_opcode_initiation_sfu",
    "-ptx_opcode_latency_tesnor",
    "-ptx_opcode_initiation_tensor",
];

pub(super) fn translate(import: &mut Import<'_>) {
    for kind in &TYPES {
        translate_type(import, kind);
    }
    unit(import, "-ptx_opcode_latency_sfu", "-ptx_opcode_initiation_sfu", "sfu");
    // GPGPU-Sim spells the option this way
    unit(import, "-ptx_opcode_latency_tesnor", "-ptx_opcode_initiation_tensor", "tensor");
}

fn translate_type(import: &mut Import<'_>, kind: &Type) {
    let latencies = import.value(kind.latency, |text| numbers(text, 5));
    let intervals = import.value(kind.interval, |text| numbers(text, 5));
    let unit_count = import.optional(kind.own, scalar::<u32>).unwrap_or(0);
    let unit = if unit_count == 0 { kind.else_on } else { kind.unit };
    let (Some(latencies), Some(intervals)) = (latencies, intervals) else { return };
    let time = |n: usize| Some((*latencies.get(n)?, *intervals.get(n)?));
    let (total, interval) = (latencies[0], intervals[0]);
    let Some((init, lat)) = split(import, (kind.latency, kind.interval), (total, interval)) else { return };
    if unit == kind.unit {
        import.set(kind.interval, &format!("units.{unit}.init"), init);
        import.set(kind.latency, &format!("units.{unit}.lat"), lat);
    } else {
        op(import, kind, kind.op, unit, (total, interval));
        if kind.op == "int" {
            for short in SHORT {
                op(import, kind, short, unit, (1, 1));
            }
        }
    }
    // an operation with the same timing as the first needs no entry
    for (n, name) in [(1, "max"), (2, "mul"), (3, "mad")] {
        if let Some(time) = time(n).filter(|&time| time != (total, interval)) {
            op(import, kind, &format!("{}.{name}", kind.op), unit, time);
        }
    }
    if let Some(time) = time(4) {
        op(import, kind, &format!("{}.div", kind.op), "sfu", time);
    }
    if kind.op == "int" {
        // 24-bit multiplications take one cycle more
        for name in ["int.mul24", "int.mad24"] {
            let (total, interval) = (latencies[2], intervals[2]);
            op(import, kind, name, unit, (total.saturating_add(1), interval.saturating_add(1)));
        }
        match time(5) {
            Some(time) => op(import, kind, "shfl", unit, time),
            None => import.note(
                kind.latency,
                "without a sixth value GPGPU-Sim has no time for shfl; that of the base is kept",
            ),
        }
    }
}

/// Returns the time for which an instruction occupies its unit, and the rest of its latency, or
/// reports that the initiation interval exceeds the latency. `latency` and `interval_option` are the
/// options that state them; they may be the same option.
pub(super) fn split(
    import: &mut Import<'_>,
    (latency, interval_option): (&'static str, &'static str),
    (total, interval): (u64, u64),
) -> Option<(u64, u64)> {
    if interval == 0 {
        // In GPGPU-Sim an instruction waits for a cycle all the same, and then passes through as
        // many stages as the difference between latency and interval.
        import.note(interval_option, "with an interval of 0, an instruction occupies its unit for a cycle");
        return Some((1, total));
    }
    let rest = total.checked_sub(interval);
    if rest.is_none() {
        let message = format!("a latency of {total} cannot hold an initiation interval of {interval}");
        let suffix = if latency == interval_option { String::new() } else { format!(" ({interval_option})") };
        import.wrong(latency, message + &suffix);
    }
    rest.map(|rest| (interval, rest))
}

fn op(import: &mut Import<'_>, kind: &Type, name: &str, unit: &str, times: (u64, u64)) {
    let options = (kind.latency, kind.interval);
    if let Some((init, rest)) = split(import, options, times) {
        let op = format!("Op(unit: \"{unit}\", init: {init}, lat: {rest})");
        import.set_entry(options, ("ops", name), &op);
    }
}

fn unit(import: &mut Import<'_>, latency: &'static str, interval: &'static str, unit: &str) {
    let total = import.value(latency, number::<u64>);
    let init = import.value(interval, number::<u64>);
    if let (Some(total), Some(init)) = (total, init)
        && let Some((init, rest)) = split(import, (latency, interval), (total, init))
    {
        import.set(interval, &format!("units.{unit}.init"), init);
        import.set(latency, &format!("units.{unit}.lat"), rest);
    }
}
