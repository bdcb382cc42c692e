//! Latencies and initiation intervals of machine code: `trace.config` of Accel-Sim, for its trace
//! mode.
//!
//! These options apply to whole kinds of instructions, whereas the options for PTX list a value for
//! each operation. If any of them is present, the options for PTX are ignored, and those of these
//! options that are missing have the defaults of Accel-Sim.
//!
//! Source: the options and the assignment of opcodes to units are those of Accel-Sim (Khairy et
//! al., ISCA 2020).

use super::Import;
use super::timing::{self, split};
use super::values::{number, numbers};

const INT: &str = "-trace_opcode_latency_initiation_int";
const SP: &str = "-trace_opcode_latency_initiation_sp";
const DP: &str = "-trace_opcode_latency_initiation_dp";
const SFU: &str = "-trace_opcode_latency_initiation_sfu";
const TENSOR: &str = "-trace_opcode_latency_initiation_tensor";

/// The kinds of instructions, with their units.
const UNITS: [(&str, &str); 5] = [(INT, "int"), (SP, "fp32"), (DP, "fp64"), (SFU, "sfu"), (TENSOR, "tensor")];

/// The latency and interval of a kind of instructions, and those of a unit for single kinds, if no
/// option states them.
const DEFAULT: (u64, u64) = (4, 1);
const SPECIAL_DEFAULT: (u64, u64) = (4, 4);

/// The units for single kinds of instructions: the option of the unit and that of its timing.
const SPECIAL: [(&str, &str); 8] = [
    ("-specialized_unit_1", "-trace_opcode_latency_initiation_spec_op_1"),
    ("-specialized_unit_2", "-trace_opcode_latency_initiation_spec_op_2"),
    ("-specialized_unit_3", "-trace_opcode_latency_initiation_spec_op_3"),
    ("-specialized_unit_4", "-trace_opcode_latency_initiation_spec_op_4"),
    ("-specialized_unit_5", "-trace_opcode_latency_initiation_spec_op_5"),
    ("-specialized_unit_6", "-trace_opcode_latency_initiation_spec_op_6"),
    ("-specialized_unit_7", "-trace_opcode_latency_initiation_spec_op_7"),
    ("-specialized_unit_8", "-trace_opcode_latency_initiation_spec_op_8"),
];

/// The op classes that execute like integers, although the lists for PTX or the base give them
/// their own timing.
const AS_INT: [&str; 8] =
    ["alu", "alu.vote", "shfl", "int.mul24", "int.mad24", "int.max", "int.mul", "int.mad"];

/// The units by name, with their op classes. In Accel-Sim a unit's number determines the
/// instructions that it executes; here its name does.
const KINDS: [(&str, &str, &[&str]); 4] = [
    ("BRA", "bra", &["control"]),
    ("TEX", "tex", &["ld.global.tex"]),
    ("TENSOR", "tensor", &["tensor"]),
    (
        "UDP",
        "udp",
        &[
            "int.add.uniform",
            "int.mad.uniform",
            "alu.logic.uniform",
            "alu.shift.uniform",
            "alu.mov.uniform",
            "alu.compare.uniform",
            "alu.select.uniform",
            "alu.bits.uniform",
            "alu.vote.uniform",
            "alu.convert.uniform",
            "ld.const.uniform",
        ],
    ),
];

/// Returns the first option that is present and selects the timing of machine code. Defaults are
/// attributed to it.
pub(super) fn selected(import: &Import<'_>) -> Option<&'static str> {
    let timings = UNITS.iter().map(|&(name, _)| name).chain(SPECIAL.iter().map(|&(_, times)| times));
    timings.into_iter().find(|name| import.has(name))
}

/// Records that units for single kinds of instructions have no effect on the timing of PTX.
pub(super) fn ignore(import: &mut Import<'_>) {
    for name in UNITS.iter().map(|&(name, _)| name).chain(SPECIAL.iter().map(|&(_, times)| times)) {
        import.looked_up.push(name);
    }
    for (unit, _) in SPECIAL {
        import.ignore(
            unit,
            "units for single kinds of instructions in traces; they are used only if a -trace_opcode_latency_initiation_* is given",
        );
    }
}

pub(super) fn translate(import: &mut Import<'_>, selected: &'static str) {
    for name in timing::NAMES {
        import.ignore(
            name,
            "latencies of PTX; those of machine code, `-trace_opcode_latency_initiation_*`, are used instead",
        );
    }
    for (name, unit) in UNITS {
        if let Some((by, (init, lat))) = time(import, name, (selected, DEFAULT)) {
            import.set(by, &format!("units.{unit}.init"), init);
            import.set(by, &format!("units.{unit}.lat"), lat);
        }
    }
    let or_selected = |import: &Import<'_>, name| if import.has(name) { name } else { selected };
    let (int, sp) = (or_selected(import, INT), or_selected(import, SP));
    for class in AS_INT {
        op(import, int, class, "int");
    }
    // In machine code, constants are operands of instructions, so loads of them execute like
    // integers.
    op(import, int, "ld.const", "int");
    // votes write registers like other instructions
    import.set(int, "pipeline.unscored", "[]");
    import.note(
        int,
        "here comparisons and selections of floats, and the end of a warp, count as integer instructions",
    );
    op(import, sp, "fp16", "fp32");
    import.note(sp, "half precision has the interval of single precision, not half of it");
    special(import);
}

/// Translates the units for single kinds of instructions.
fn special(import: &mut Import<'_>) {
    let mut order = ["fp32", "sfu", "memory", "tensor", "fp64", "int"].map(str::to_owned).to_vec();
    let mut last = None;
    let mut ended = false;
    for (unit, times) in SPECIAL {
        let read = |text: &str| {
            let parts: Vec<&str> = text.split(',').map(str::trim).collect();
            let [enabled, units, _, _, _, name] = parts[..] else {
                return Err("the form is ENABLED,UNITS,LATENCY,ID_OC_WIDTH,OC_EX_WIDTH,NAME".to_owned());
            };
            Ok((number::<u32>(enabled)?, number::<u32>(units)?, name.to_owned()))
        };
        let Some((enabled, units, name)) = import.optional(unit, read) else {
            import.optional(times, |text| numbers(text, 2));
            ended = true;
            if import.has(times) {
                import.note(times, format!("{unit} is not given"));
            }
            continue;
        };
        if enabled == 0 || units == 0 || ended {
            // in Accel-Sim, too, the units after one that is not enabled are ignored
            ended = true;
            import.optional(times, |text| numbers(text, 2));
            import.note(unit, "this unit, or one before it, is not enabled, so it does not exist");
            continue;
        }
        let Some((_, unit_name, classes)) = KINDS.iter().find(|(kind, ..)| *kind == name) else {
            import.optional(times, |text| numbers(text, 2));
            import.note(unit, format!("it is not known which instructions a unit called {name} executes"));
            continue;
        };
        let Some((by, (init, lat))) = time(import, times, (unit, SPECIAL_DEFAULT)) else { continue };
        let timing = format!("Unit(init: {init}, lat: {lat})");
        import.set_entry((by, by), ("units", unit_name), &timing);
        for class in *classes {
            op(import, unit, class, unit_name);
        }
        order.retain(|known| known != unit_name);
        order.push((*unit_name).to_owned());
        last = Some(unit);
    }
    if let Some(last) = last {
        import.set(last, "pipeline.collect", format!("{order:?}"));
    }
}

/// Returns the interval and the rest of the latency that an option states, with its name. If it is
/// missing, Accel-Sim has a default, which is attributed to another option.
fn time(
    import: &mut Import<'_>,
    name: &'static str,
    (other, default): (&'static str, (u64, u64)),
) -> Option<(&'static str, (u64, u64))> {
    let times = import.optional(name, |text| numbers(text, 2));
    if import.has(name) {
        let times = times?;
        return Some((name, split(import, (name, name), (times[0], times[1]))?));
    }
    let (total, interval) = default;
    import
        .note(other, format!("{name} is not given, so its default in Accel-Sim applies, {total},{interval}"));
    Some((other, (interval, total - interval)))
}

/// Maps an op class to a unit and its timing.
fn op(import: &mut Import<'_>, name: &'static str, class: &str, unit: &str) {
    import.set_entry((name, name), ("ops", class), &format!("{unit:?}"));
}
