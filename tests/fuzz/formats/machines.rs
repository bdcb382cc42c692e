//! Machine files, and configurations of GPGPU-Sim, which are converted to machines.

use warpbound::base::ProgressMonitor;
use warpbound::diag::{Diagnostic, Diagnostics, SourceText, to_ron};
use warpbound::machine::{Machine, MachineSpec, gpgpusim};

use super::{Format, Taken, files, refused, refused_at, run, source};
use crate::shipped;

pub const MACHINE: Format = Format { name: "machine", seeds: machines, take: take_machine, mutants: 300 };
pub const CONFIG: Format = Format { name: "config", seeds: configs, take: take_config, mutants: 300 };

fn machines() -> Vec<Vec<u8>> {
    files("configs", &[".ron"], 64 << 10)
}

/// Latencies of machine code, as in a `trace.config`.
const TRACES: &str = "-trace_opcode_latency_initiation_int 2,2\n-trace_opcode_latency_initiation_sp 2,1\n\
    -trace_opcode_latency_initiation_dp 64,64\n-trace_opcode_latency_initiation_sfu 21,8\n\
    -trace_opcode_latency_initiation_tensor 32,32\n-specialized_unit_1 1,4,4,4,4,BRA\n\
    -trace_opcode_latency_initiation_spec_op_1 4,4\n-specialized_unit_2 1,4,200,4,4,TEX\n\
    -trace_opcode_latency_initiation_spec_op_2 200,4\n";

fn configs() -> Vec<Vec<u8>> {
    let found = files("tests/data/gpgpusim", &[".config"], 64 << 10);
    let with_traces: Vec<Vec<u8>> = found.iter().map(|text| [text, TRACES.as_bytes()].concat()).collect();
    [found, with_traces, vec![TRACES.as_bytes().to_vec()]].concat()
}

/// Returns a base machine of the repository, which machines may extend.
fn base(name: &str) -> Result<SourceText, Diagnostics> {
    let path = shipped::root().join(format!("configs/{name}.ron"));
    // a name that is a path elsewhere is not accepted
    match path.is_file() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        true => Ok(shipped::source(&path)),
        false => Err(Diagnostic::general(name, "no such machine").into()),
    }
}

fn written(spec: &MachineSpec) -> String {
    let text = to_ron("machine.ron", spec, ron::extensions::Extensions::empty());
    text.unwrap_or_else(|error| panic!("a machine that was read cannot be written: {error:?}"))
}

fn take_machine(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("machine.ron", input);
    let spec = match MachineSpec::parse_with_bases(&source, &base) {
        Ok(spec) => spec,
        Err(problems) => return refused_at(&problems, &source),
    };
    let text = written(&spec);
    let again = MachineSpec::parse_with_bases(&SourceText::new("machine.ron", text.as_str()), &base);
    let again = again.unwrap_or_else(|error| panic!("a written machine is none: {error}\n{text}"));
    assert_eq!(written(&again), text, "a written machine is another one");
    match Machine::new(&spec, &source) {
        Ok(machine) => {
            spec.idle_settings();
            run::suite(&machine, monitor);
            Taken::Accepted
        }
        Err(problems) => refused(&problems),
    }
}

fn take_config(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("gpgpusim.config", input);
    let sm = shipped::source(&shipped::root().join("configs/accelsim-sm1.ron"));
    let sm = MachineSpec::parse_with_bases(&sm, &base).unwrap_or_else(|error| panic!("{error}"));
    let imported = match gpgpusim::import(std::slice::from_ref(&source), sm) {
        Ok(imported) => imported,
        Err(problems) => return refused(&problems),
    };
    let mut spec = imported.spec.clone();
    spec.name = Some("imported".to_owned());
    let text = SourceText::new("gpgpusim.config", written(&spec));
    MachineSpec::parse(&text).unwrap_or_else(|error| panic!("an imported machine is none: {error}"));
    match Machine::new(&spec, &text) {
        Ok(machine) => {
            run::suite(&machine, monitor);
            Taken::Accepted
        }
        // errors that concern several options, or the base, have no position in the file
        Err(problems) => refused(&imported.of_options(problems, &text)),
    }
}
