//! Launch files, programs of several launches, and plans.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use warpbound::base::ProgressMonitor;
use warpbound::bound;
use warpbound::check::{Application, RunOptions, Subject, Workload, WorkloadKind, judge_each};
use warpbound::diag::{Diagnostic, Diagnostics, SourceText, Texts, to_ron};
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::program::sequence::{Sequence, SequenceSpec};
use warpbound::ptx::Module;
use warpbound::sim::PolicySetup;
use warpbound::sweep::{Points, SweepSpec};

use super::{Format, Taken, files, ptx, refused, refused_at, run, source};
use crate::shipped;

pub const LAUNCH: Format = Format { name: "launch", seeds: launches, take: take_launch, mutants: 300 };
pub const PROGRAM: Format = Format { name: "program", seeds: programs, take: take_program, mutants: 200 };
pub const PLAN: Format = Format { name: "plan", seeds: plans, take: take_plan, mutants: 500 };

/// The largest size of a module that is read, because mutants name all of them.
const MAX_MODULE: u64 = 16 << 10;
/// The largest number of launches of a program that are processed.
const MAX_LAUNCHES: u64 = 40;

/// Returns the path of a file of the kernels by its name.
fn path_of(name: &str) -> Option<PathBuf> {
    static FILES: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let all = FILES.get_or_init(|| {
        let folders = std::fs::read_dir(shipped::root().join("kernels")).unwrap();
        let files = folders.filter_map(|folder| std::fs::read_dir(folder.unwrap().path()).ok()).flatten();
        let files = files.map(|file| file.unwrap().path()).filter(|file| file.is_file());
        files.map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), file)).collect()
    });
    all.get(name).cloned()
}

/// Returns a kernel of a module.
fn kernel(module: &str, entry: &str) -> Result<KernelCode, Diagnostics> {
    static KNOWN: Mutex<BTreeMap<String, Arc<Module>>> = Mutex::new(BTreeMap::new());
    let known = KNOWN.lock().unwrap().get(module).cloned();
    let module = match known {
        Some(known) => known,
        None => {
            let path = path_of(module).filter(|path| {
                path.extension().is_some_and(|ending| ending == "ptx")
                    && path.metadata().unwrap().len() <= MAX_MODULE
            });
            let path = path.ok_or_else(|| Diagnostic::general(module, "there is no such module"))?;
            let read = Arc::new(Module::parse(&shipped::source(&path))?);
            KNOWN.lock().unwrap().insert(module.to_owned(), Arc::clone(&read));
            read
        }
    };
    module.program(entry, ptx::isa())
}

fn data(name: &str, most: u64) -> Result<Vec<u8>, String> {
    let path = path_of(name).ok_or("there is no such file")?;
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most { Err("the file is longer".to_owned()) } else { Ok(bytes) }
}

fn written(value: &dyn erased_serde::Serialize) -> String {
    let text = to_ron("written.ron", value, ron::extensions::Extensions::empty());
    text.unwrap_or_else(|error| panic!("what was read cannot be written: {error:?}"))
}

/// Returns whether a file is a program and not a launch.
fn is_program(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains("Program(")
}

fn launches() -> Vec<Vec<u8>> {
    files("kernels", &[".ron"], 3 << 10).into_iter().filter(|text| !is_program(text)).collect()
}

fn programs() -> Vec<Vec<u8>> {
    files("kernels", &[".ron"], 8 << 10).into_iter().filter(|text| is_program(text)).collect()
}

fn plans() -> Vec<Vec<u8>> {
    files("plans", &[".ron"], 64 << 10)
}

fn take_launch(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("launch.ron", input);
    let spec = match LaunchSpec::parse(&source) {
        Ok(spec) => spec,
        Err(problems) => return refused_at(&problems, &source),
    };
    let text = written(&spec);
    let again = LaunchSpec::parse(&SourceText::new("launch.ron", text.as_str()));
    let again = again.unwrap_or_else(|error| panic!("a written launch is none: {error}\n{text}"));
    assert_eq!(written(&again), text, "a written launch is another one");
    let program = match kernel(&spec.module, &spec.entry) {
        Ok(program) => program,
        Err(problems) => return refused(&problems),
    };
    match Launch::new(&spec, &program, 0, &source, &data) {
        Ok(launch) => {
            let kind = WorkloadKind::Launch { program: Box::new(program), launch: Box::new(launch) };
            run::workload(&Workload { name: "launch".to_owned(), kind }, run::some_machine(input), monitor);
            Taken::Accepted
        }
        Err(problems) => refused_at(&problems, &source),
    }
}

fn take_program(input: &[u8], monitor: &ProgressMonitor) -> Taken {
    let source = source("program.ron", input);
    let spec = match SequenceSpec::parse(&source) {
        Ok(spec) => spec,
        Err(problems) => return refused_at(&problems, &source),
    };
    let text = written(&spec);
    let again = SequenceSpec::parse(&SourceText::new("program.ron", text.as_str()));
    let again = again.unwrap_or_else(|error| panic!("a written program is none: {error}\n{text}"));
    assert_eq!(written(&again), text, "a written program is another one");
    let mut modules: Vec<String> = Vec::new();
    let mut load = |module: &str, entry: &str| {
        let index = modules.iter().position(|known| known == module);
        let index = index.unwrap_or_else(|| {
            modules.push(module.to_owned());
            modules.len() - 1
        });
        Ok((index, kernel(module, entry)?))
    };
    match Sequence::new(&spec, 0, Texts::new(source.clone()), &mut load, &data) {
        Ok(sequence) => {
            if sequence.launches <= MAX_LAUNCHES {
                let application = Application::Program(Arc::new(sequence));
                let bounds = bound::all();
                let options = RunOptions::new(1 << 11, monitor)
                    .judged_by(&bounds, &[])
                    .race_memory(Some(1 << 22))
                    .self_check(true);
                let on = [(run::some_machine(input), &[PolicySetup::Lrr][..])];
                judge_each(
                    Subject::Application { name: "program", application: &application },
                    &on,
                    &options,
                );
            }
            Taken::Accepted
        }
        Err(problems) => refused(&problems),
    }
}

fn take_plan(input: &[u8], _: &ProgressMonitor) -> Taken {
    let source = source("plan.ron", input);
    let spec = match SweepSpec::parse(&source) {
        Ok(spec) => spec,
        Err(problems) => return refused_at(&problems, &source),
    };
    let text = written(&spec);
    let again = SweepSpec::parse(&SourceText::new("plan.ron", text.as_str()));
    let again = again.unwrap_or_else(|error| panic!("a written plan is none: {error}\n{text}"));
    assert_eq!(written(&again), text, "a written plan is another one");
    let suite = ["vecadd", "saxpy", "ifelse"].map(str::to_owned);
    let (points, problems) = Points::new(&spec, &source, &suite, &bound::all());
    if !problems.is_empty() {
        return refused_at(&problems, &source);
    }
    let (all, jobs) = (points.len(), points.jobs());
    for number in [0, all / 2, all.saturating_sub(1)].into_iter().filter(|number| *number < all) {
        points.point(number);
    }
    for number in [0, jobs / 2, jobs.saturating_sub(1)].into_iter().filter(|number| *number < jobs) {
        let job = points.job(number);
        assert!(points.numbers(&job).end <= all);
    }
    Taken::Accepted
}
