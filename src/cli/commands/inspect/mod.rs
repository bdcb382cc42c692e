//! `warpbound inspect`: what is in a file, before anything is run.

mod machine;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::cli::args::{Inspect, PtxLaunch};
use crate::cli::assets::{self, Location};
use crate::cli::output::{self, Format, Outcome};
use crate::cli::session::Session;
use crate::cli::{launches, programs};
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::micro::MicroKernel;
use crate::program::launch::{LaunchSpec, ShapeSpec};
use crate::program::sequence::Action;
use crate::program::{Param, ParamType, names, template};
use crate::ptx::{EntrySummary, Inspection, Module};
use crate::report::json::SCHEMA;
use crate::report::style::Style;
use crate::report::table::Table;

/// A report in both forms.
struct InspectReport {
    text: String,
    json: Value,
}

/// Runs the command.
pub fn run(args: &Inspect, session: &Session) -> Outcome {
    let location = find(&args.file)?;
    let source = location.text()?;
    if args.template {
        return template(args, &location, &source, session);
    }
    let report = match location.extension().as_str() {
        "ptx" => ptx(&source)?,
        "warp" => micro(&location, &source, session.style)?,
        // launches and machines are both RON; the first word tells
        _ if is_machine(&source) => machine::report(&location, &source, session.style)?,
        "ron" if programs::is_program(&source) => {
            program(&args.file, location.clone(), source, session.style)?
        }
        "ron" => launch(&location, &source)?,
        other => {
            let problem = Diagnostic::general(
                location.shown(),
                format!("`.{other}` is not a kind of file that can be inspected"),
            );
            return Err(problem
                .hint(".ptx, .warp, launch and machine .ron files, or an embedded name")
                .into());
        }
    };
    match args.format {
        Format::Text => output::text(session, &session.style.fill(&report.text)),
        Format::Json => {
            let mut object = report.json;
            object["schema"] = SCHEMA.into();
            object["tool_version"] = env!("CARGO_PKG_VERSION").into();
            object["file"] = location.shown().into();
            output::json(session, &object)
        }
    }
}

/// An embedded kernel, an embedded machine, or a file.
fn find(name: &str) -> Result<Location, Diagnostics> {
    assets::find_kernel(name).or_else(|as_kernel| assets::find_machine(name, None).map_err(|_| as_kernel))
}

fn is_machine(source: &SourceText) -> bool {
    let code = source.text().lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
    code.is_some_and(|line| line.starts_with("Machine") || line.starts_with("#!"))
}

fn ptx(source: &SourceText) -> Result<InspectReport, Diagnostics> {
    let module = Module::parse(source)?;
    let found = module.inspect(&assets::ptx_isa()?);
    Ok(InspectReport { text: ptx_text(source.name(), &found), json: ptx_json(&found) })
}

/// A launch: what it starts, then the module it starts it from.
fn launch(location: &Location, source: &SourceText) -> Result<InspectReport, Diagnostics> {
    let spec = LaunchSpec::parse(source)?;
    let mut report = ptx(&location.beside(&spec.module).text()?)?;
    let shape = |s: &ShapeSpec| format!("({}, {}, {})", s.0, s.1, s.2);
    let mut text = format!("{}: launch of {} from {}\n", source.name(), spec.entry, spec.module);
    if !spec.doc.is_empty() {
        let _ = writeln!(text, "  {}", spec.doc);
    }
    let _ = writeln!(
        text,
        "  grid {}, block {}, dynamic shared {} bytes",
        shape(&spec.grid),
        shape(&spec.block),
        spec.dynamic_shared
    );
    for buffer in &spec.buffers {
        let _ = writeln!(text, "  {}", ron(buffer));
    }
    for arg in &spec.args {
        let _ = writeln!(text, "  argument {}", ron(arg));
    }
    report.text = format!("{text}\n{}", report.text);
    report.json["launch"] = serde_json::to_value(&spec).expect("a launch is plain data");
    Ok(report)
}

/// As a file has it.
fn ron(value: &dyn erased_serde::Serialize) -> String {
    let style = ron::ser::PrettyConfig::new().compact_structs(true).compact_arrays(true).compact_maps(true);
    ron::ser::to_string_pretty(value, style).expect("what was read as RON can be written")
}

/// A program: its launches, step by step.
fn program(
    name: &str,
    location: Location,
    source: SourceText,
    style: Style,
) -> Result<InspectReport, Diagnostics> {
    let program = programs::load(name, location, source, &PtxLaunch::default(), 0)?;
    let sequence = &program.sequence;
    let mut counts = vec![0u64; sequence.statements.len()];
    for action in sequence.actions() {
        if let Ok(Action::Launch(launch)) = action {
            counts[launch.statement] += 1;
        }
    }
    let mut text = format!("{}: program of {} launches\n", program.location.shown(), sequence.launches);
    if !program.spec.doc.is_empty() {
        let _ = writeln!(text, "  {}", program.spec.doc);
    }
    let mut buffers = Table::new(["buffer", "bytes"], &[0]);
    for buffer in &sequence.buffers {
        buffers.row([buffer.name.clone(), buffer.bytes.len().to_string()]);
    }
    let mut steps = Table::new(["line", "launches", "kernel", "module"], &[2, 3]);
    let rows = sequence.statements.iter().zip(&counts).map(|(statement, count)| {
        let kernel = &sequence.kernels[statement.kernel];
        (statement.line, *count, &kernel.program.name, &sequence.modules[kernel.module].name)
    });
    for (line, count, kernel, module) in rows.clone() {
        steps.row([line.to_string(), count.to_string(), names::shown(kernel), module.clone()]);
    }
    let _ = write!(text, "\n{}\n{}", buffers.render(2, style.width), steps.render(2, style.width));
    let json = json!({
        "kind": "program", "launches": sequence.launches, "program": program.spec,
        "steps": rows.map(|(line, launches, entry, module)| json!({"line": line, "launches": launches, "entry": entry, "module": module})).collect::<Vec<_>>(),
    });
    Ok(InspectReport { text, json })
}

/// `--template`: a launch file for one kernel.
fn template(args: &Inspect, location: &Location, source: &SourceText, session: &Session) -> Outcome {
    if location.extension() != "ptx" {
        let problem = Diagnostic::general(location.shown(), "a template is made from the code of a kernel");
        return Err(problem.hint("name a .ptx file").into());
    }
    let entry = match &args.entry {
        Some(entry) => entry.clone(),
        None => launches::only_kernel(location, source)?,
    };
    let program = Module::parse(source)?.program(&entry, &assets::ptx_isa()?)?;
    output::text(session, &template::launch_file(&program, &location.shown()))
}

fn param_type(param: &Param) -> String {
    match param.ty {
        ParamType::Int => format!("b{}", param.size * 8),
        ParamType::Float => format!("f{}", param.size * 8),
        ParamType::Bytes => format!("{} bytes", param.size),
    }
}

fn ptx_json(found: &Inspection) -> Value {
    let entry = |entry: &EntrySummary| {
        let mut object = json!({
            "name": entry.name, "line": entry.line, "supported": entry.supported,
            "params": entry.params.iter().map(|p| json!({"name": p.name, "type": param_type(p), "offset_bytes": p.offset, "size_bytes": p.size})).collect::<Vec<_>>(),
            "max_threads": entry.max_threads, "predicate_registers": entry.predicates, "registers_by_width": entry.registers,
            "shared_bytes": entry.shared_bytes, "dynamic_shared": entry.dynamic_shared, "local_bytes": entry.local_bytes,
            "const_bytes": entry.const_bytes, "global_bytes": entry.global_bytes, "instructions": entry.instructions,
            "op_classes": entry.classes.iter().map(|c| json!({"class": c.class, "instructions": c.count})).collect::<Vec<_>>(),
            "loops": entry.loops.iter().map(|l| json!({"function": l.function, "line": l.line, "end_line": l.end_line, "depth": l.depth})).collect::<Vec<_>>(),
            "calls": entry.calls, "notes": entry.notes,
        });
        if let Some(name) = names::demangled(&entry.name) {
            object["demangled"] = name.into();
        }
        object
    };
    json!({
        "kind": "ptx", "ptx_version": found.version, "target": found.target, "address_bits": found.address_bits,
        "entries": found.entries.iter().map(entry).collect::<Vec<_>>(),
        "functions": found.functions.iter().map(|f| json!({"name": f.name, "line": f.line, "instructions": f.instructions})).collect::<Vec<_>>(),
        "unsupported_left_out": found.unsupported_left_out,
        "unsupported": found.unsupported.iter().map(|u| json!({"construct": u.construct, "line": u.line, "count": u.count, "message": u.message, "hint": u.hint})).collect::<Vec<_>>(),
    })
}

fn ptx_text(name: &str, found: &Inspection) -> String {
    let mut text =
        format!("{name}: PTX {}, {}, {}-bit addresses\n", found.version, found.target, found.address_bits);
    for entry in &found.entries {
        let params: Vec<String> =
            entry.params.iter().map(|p| format!("{}: {}", p.name, param_type(p))).collect();
        let _ = writeln!(
            text,
            "\nkernel {} (line {}): {} instructions",
            entry.name, entry.line, entry.instructions
        );
        if let Some(name) = names::demangled(&entry.name) {
            let _ = writeln!(text, "  C++ name    {name}");
        }
        let _ = writeln!(
            text,
            "  parameters  {}",
            if params.is_empty() { "none".to_owned() } else { params.join(", ") }
        );
        let widths: Vec<String> =
            entry.registers.iter().map(|(bits, count)| format!("{count} x {bits} bit")).collect();
        let _ = writeln!(
            text,
            "  registers   {} predicates, {} (virtual)",
            entry.predicates,
            if widths.is_empty() { "no others".to_owned() } else { widths.join(", ") }
        );
        let dynamic = if entry.dynamic_shared { " and dynamic" } else { "" };
        let _ = writeln!(
            text,
            "  memory      shared {}{dynamic}, local {}, const {}, global {} bytes",
            entry.shared_bytes, entry.local_bytes, entry.const_bytes, entry.global_bytes
        );
        if let Some(threads) = entry.max_threads {
            let _ = writeln!(text, "  threads     at most {threads} per block");
        }
        let classes: Vec<String> = entry.classes.iter().map(|c| format!("{} {}", c.count, c.class)).collect();
        let _ = writeln!(text, "  op classes  {}", classes.join(", "));
        for one in &entry.loops {
            let inside =
                if one.function == entry.name { String::new() } else { format!(" in {}", one.function) };
            let _ = writeln!(
                text,
                "  loop        lines {} to {}, depth {}{inside}",
                one.line, one.end_line, one.depth
            );
        }
        if !entry.calls.is_empty() {
            let _ = writeln!(text, "  calls       {}", entry.calls.join(", "));
        }
        for note in &entry.notes {
            let _ = writeln!(text, "  note        {note}");
        }
        if !entry.supported {
            text.push_str("  cannot be simulated, see below\n");
        }
    }
    if found.entries.is_empty() {
        text.push_str("\nno kernel (.entry) in this file\n");
    }
    if found.unsupported.is_empty() {
        text.push_str("\nnothing unsupported\n");
    } else {
        let more = match found.unsupported_left_out {
            0 => String::new(),
            more => format!(" (and {more} more kinds)"),
        };
        let _ = writeln!(text, "\nunsupported{more}:");
        for one in &found.unsupported {
            let _ = writeln!(
                text,
                "  {name}:{}: {} ({} times): {}; {}",
                one.line, one.construct, one.count, one.message, one.hint
            );
        }
    }
    text
}

fn micro(location: &Location, source: &SourceText, style: Style) -> Result<InspectReport, Diagnostics> {
    let kernel = MicroKernel::parse(&location.stem(), source)?;
    let mut counts: Vec<(String, usize)> = Vec::new();
    for instr in &kernel.program.instrs {
        let name = kernel.program.classes.name(instr.class).to_owned();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let instructions: Vec<usize> =
        kernel.warps.iter().map(|(start, end)| end.index() - start.index()).collect();
    let machine = kernel.machine.clone().unwrap_or_else(|| "not set".to_owned());
    let scheduler = kernel.scheduler.as_ref().map_or_else(|| "not set".to_owned(), ToString::to_string);
    let mut text = format!(
        "{}: micro kernel, {}{} warps, machine {machine}, scheduler {scheduler}\n\n",
        source.name(),
        if kernel.blocks.len() > 1 { format!("{} blocks of ", kernel.blocks.len()) } else { String::new() },
        kernel.block_warps
    );
    let mut table = Table::new(["op", "instructions"], &[0]);
    counts.iter().for_each(|(name, count)| table.row([name.clone(), count.to_string()]));
    text.push_str(&table.render(2, style.width));
    let json = json!({
        "kind": "micro", "blocks": kernel.blocks.len(), "warps": kernel.block_warps, "warp_instructions": instructions, "machine": kernel.machine,
        "scheduler": kernel.scheduler.as_ref().map(ToString::to_string),
        "op_classes": counts.iter().map(|(class, count)| json!({"class": class, "instructions": count})).collect::<Vec<_>>(),
    });
    Ok(InspectReport { text, json })
}
