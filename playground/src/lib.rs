//! warpbound in a browser: it simulates the text of an editor and returns pages.
//!
//! A browser has neither files nor threads here, so a kernel and its launch come as texts, and
//! everything runs on one thread.

use serde_json::json;
use warpbound_bound as bound;
use warpbound_core::base::{Pc, ProgressMonitor};
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::program::{TimingTable, template};
use warpbound_judge::check::{Plan, RunOptions, observe};
use warpbound_judge::load::{EmbeddedFolder, LaunchOptions, LoadedKernel, Loader, Memory, Module, ending_of};
use warpbound_report::check::CheckResult;
use warpbound_report::output::{Output, Report};
use warpbound_report::run::{self as report, Details, RunResult};
use warpbound_report::source_line::SourceLine;
use warpbound_report::style::Style;
use warpbound_report::timeline::{self, About, Recording};
use warpbound_trace::trace::{Listing, StallProfile, UnitUse};
use wasm_bindgen::prelude::wasm_bindgen;

/// The most warp instructions of a block; a page with more would be too large.
const MAX_INSTRUCTIONS: u64 = 1 << 20;

/// The memory for the detection of races, in bytes.
const RACE_MEMORY: usize = 64 << 20;

/// Simulates a kernel. `code` is PTX if [`is_ptx`] says so, and otherwise a micro kernel; `launch`
/// is the launch file of PTX.
///
/// The result is JSON with `page` (the timeline) and `text` (the report), or with `problems`.
#[wasm_bindgen]
pub fn simulate(code: &str, launch: &str, machine: &str, policy: &str) -> String {
    match simulated(code, launch, machine, policy) {
        Ok((page, text)) => json!({ "page": page, "text": text }).to_string(),
        Err(problems) => json!({ "problems": problems.to_string() }).to_string(),
    }
}

/// Returns a launch file with guessed contents for PTX, or a comment that says why there is none.
#[wasm_bindgen]
pub fn launch_template(code: &str) -> String {
    let made = || -> Result<String, Diagnostics> {
        let location = Loader::new(Memory::new().with("kernel.ptx", code)).file("kernel.ptx");
        let module = Module::read(&location, &LaunchOptions::default(), 0)?;
        let entry = module.only_kernel("entry")?;
        Ok(template::launch_file(&module.program(&entry)?, "kernel.ptx"))
    };
    made()
        .unwrap_or_else(|problems| problems.to_string().lines().map(|line| format!("// {line}\n")).collect())
}

/// Returns the names of the embedded machines, or of the policies, as JSON.
#[wasm_bindgen]
pub fn names(kind: &str) -> String {
    let names: Vec<String> = match kind {
        "machines" => Loader::embedded(EmbeddedFolder::Configs).into_iter().map(|(name, _)| name).collect(),
        _ => PolicyKind::NAMED.iter().map(ToString::to_string).collect(),
    };
    json!(names).to_string()
}

/// Returns whether a text is PTX, which needs a launch.
#[wasm_bindgen]
pub fn is_ptx(code: &str) -> bool {
    ending_of(code) == "ptx"
}

fn loaded(code: &str, launch: &str, monitor: &ProgressMonitor) -> Result<LoadedKernel, Diagnostics> {
    let (files, name) = match is_ptx(code) {
        true => (Memory::new().with("kernel.ptx", code).with("kernel.ron", launch), "kernel.ron"),
        false => (Memory::new().with("kernel.warp", code), "kernel.warp"),
    };
    Loader::new(files).kernel(name, &LaunchOptions::default(), monitor)
}

fn simulated(code: &str, launch: &str, machine: &str, policy: &str) -> Result<(String, String), Diagnostics> {
    let monitor = ProgressMonitor::new();
    let kernel = loaded(code, launch, &monitor)?;
    let loader = Loader::new(Memory::new());
    let location = match machine {
        "" => loader.find_machine_for(&kernel)?,
        name => loader.find_machine(name, None)?,
    };
    let (spec, source) = loader.machine_spec(&location)?;
    let machine = Machine::new(&spec, &source)?;
    let policy = match policy.parse::<PolicyKind>() {
        Ok(kind) => loader.policy(&kind, None)?,
        Err(_) => loader.policy_for(&kernel, &machine)?,
    };
    let bounds = bound::all();
    let options = RunOptions::new(MAX_INSTRUCTIONS, &monitor)
        .judged_by(&bounds, &[])
        .threads(1)
        .ahead(false)
        .race_memory(Some(RACE_MEMORY));
    let policies = std::slice::from_ref(&policy);
    let plan = Plan { workload: &kernel.workload, machine: &machine, policies, options };
    let program = kernel.workload.program();
    let table = TimingTable::new(program, &machine).map_err(|found| found.with_excerpts(&kernel.code))?;
    let profiles = (StallProfile::new(&table), UnitUse::new(machine.units().len()));
    let mut observer = (profiles, Recording::new(&machine));
    let checked =
        observe(&plan, &mut observer).map_err(|failed| failed.problems.with_excerpts(&kernel.code))?;
    let ((stalls, units), recording) = observer;
    let sources = kernel.sources();
    let place = |pc: Pc| SourceLine::of(&kernel, &sources, pc);
    let details = Details {
        units: report::units(&machine, &units, checked.makespan),
        lost_cycles: report::lost(&stalls.lost(), &checked, &place),
        bank_conflicts: Vec::new(),
        divergence: None,
        most_branches: 0,
    };
    let judged = CheckResult::new(&kernel.workload.name, &machine, &checked);
    let result = RunResult { details: Some(details), ..RunResult::new(judged, &checked) };
    let text = Output::new("run", Some(0), vec![result]).text(Style::default());
    let lines = program
        .instrs
        .iter()
        .enumerate()
        .map(|(index, instr)| (instr.line, kernel.text_of(Pc::from_index(index))));
    let listing = Listing::new(lines);
    let about = About {
        kernel: &kernel.workload.name,
        machine: machine.name(),
        checked: &checked,
        code: &kernel.code,
        listing: &listing,
        sources: &sources,
        explained: None,
        alone: &[],
    };
    Ok((timeline::page(&recording, &about).render(), text))
}
