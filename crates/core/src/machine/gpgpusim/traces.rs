//! Latencies and initiation intervals of machine code: `trace.config` of Accel-Sim, for its trace
//! mode.
//!
//! These options apply to whole kinds of instructions, whereas the options for PTX list a value for
//! each operation. If they are present, the options for PTX are ignored.
//!
//! Source: the options and the assignment of opcodes to units are those of Accel-Sim (Khairy et
//! al., ISCA 2020).

use super::Import;
use super::timing::{self, check_interval};
use super::values::{number, numbers};

/// The option whose presence selects the timing of machine code.
pub(super) const INT: &str = "-trace_opcode_latency_initiation_int";
const SP: &str = "-trace_opcode_latency_initiation_sp";
const DP: &str = "-trace_opcode_latency_initiation_dp";
const SFU: &str = "-trace_opcode_latency_initiation_sfu";
const TENSOR: &str = "-trace_opcode_latency_initiation_tensor";

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

pub(super) fn translate(import: &mut Import<'_>) {
    for name in timing::NAMES {
        import.ignore(
            name,
            "latencies of PTX; those of machine code, `-trace_opcode_latency_initiation_*`, are used instead",
        );
    }
    for (name, unit) in [(INT, "int"), (SP, "fp32"), (DP, "fp64"), (SFU, "sfu"), (TENSOR, "tensor")] {
        if let Some((total, interval)) = time(import, name) {
            import.set(name, &format!("units.{unit}.init"), interval);
            import.set(name, &format!("units.{unit}.lat"), total - interval);
        }
    }
    for class in AS_INT {
        op(import, INT, class, "int");
    }
    // In machine code, constants are operands of instructions, so loads of them execute like
    // integers.
    op(import, INT, "ld.const", "int");
    // votes write registers like other instructions
    import.set(INT, "pipeline.unscored", "[]");
    import.note(
        INT,
        "here comparisons and selections of floats, and the end of a warp, count as integer instructions",
    );
    op(import, SP, "fp16", "fp32");
    import.note(SP, "half precision has the interval of single precision, not half of it");
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
        let time = time(import, times);
        if enabled == 0 || units == 0 || ended {
            // in Accel-Sim, too, the units after one that is not enabled are ignored
            ended = true;
            import.note(unit, "this unit, or one before it, is not enabled, so it does not exist");
            continue;
        }
        let Some((_, unit_name, classes)) = KINDS.iter().find(|(kind, ..)| *kind == name) else {
            import.note(unit, format!("it is not known which instructions a unit called {name} executes"));
            continue;
        };
        let Some((total, interval)) = time else { continue };
        let timing = format!("Unit(init: {interval}, lat: {})", total - interval);
        import.set_entry((times, times), ("units", unit_name), &timing);
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

/// Returns the latency and interval of an option.
fn time(import: &mut Import<'_>, name: &'static str) -> Option<(u64, u64)> {
    let times = import.value(name, |text| numbers(text, 2))?;
    check_interval(import, (name, name), times[0], times[1]).then_some((times[0], times[1]))
}

/// Maps an op class to a unit and its timing.
fn op(import: &mut Import<'_>, name: &'static str, class: &str, unit: &str) {
    import.set_entry((name, name), ("ops", class), &format!("{unit:?}"));
}
