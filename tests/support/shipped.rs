//! The kernels and machines of the repository, loaded from disk.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};

use warpbound::diag::{Diagnostics, SourceText};
use warpbound::isa::IsaTable;
use warpbound::machine::{Machine, MachineSpec, Setting};
use warpbound::program::Program;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::ptx::Module;
use warpbound::sass;

/// A launch file with everything that it refers to.
pub struct Shipped {
    pub name: String,
    pub spec: LaunchSpec,
    pub program: Program,
    pub launch: Launch,
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn source(path: &Path) -> SourceText {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    SourceText::new(path.display().to_string(), text)
}

pub fn isa() -> IsaTable {
    IsaTable::parse(&source(&root().join("isa/ptx.ron"))).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns an embedded machine by name.
pub fn machine(name: &str) -> Machine {
    machine_with(name, &[])
}

/// Returns an embedded machine with settings `PATH=VALUE`.
pub fn machine_with(name: &str, settings: &[&str]) -> Machine {
    let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
    make(&source(&root().join(format!("configs/{name}.ron"))), &settings)
}

/// Returns the machine of a text, which may extend an embedded one.
pub fn machine_of(text: String) -> Machine {
    make(&SourceText::new("test.ron", text), &[])
}

/// Returns an embedded machine as [`machine_with`] does, or the diagnostics if the settings are
/// incompatible.
pub fn try_machine_with(name: &str, settings: &[&str]) -> Result<Machine, Diagnostics> {
    let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
    try_make(&source(&root().join(format!("configs/{name}.ron"))), &settings)
}

fn make(source_text: &SourceText, settings: &[Setting]) -> Machine {
    try_make(source_text, settings).unwrap_or_else(|error| panic!("{error}"))
}

fn try_make(source_text: &SourceText, settings: &[Setting]) -> Result<Machine, Diagnostics> {
    let load = |name: &str| Ok(source(&root().join(format!("configs/{name}.ron"))));
    let spec = MachineSpec::parse_with_bases(source_text, &load).and_then(|s| s.with_settings(settings));
    spec.and_then(|spec| Machine::new(&spec, source_text))
}

/// Returns the launch files below `kernels/`, sorted. It omits the one with 10^8 instructions,
/// those of `reproduce betts` and `reproduce diagxtrm` with many blocks ([`launches_in_waves`]) and
/// programs of several launches.
pub fn launch_files() -> Vec<PathBuf> {
    launches_that(|stem| !stem.ends_with("_large") && !stem.ends_with("_waves"))
}

/// Returns the launch files of `reproduce betts` and `reproduce diagxtrm` with more blocks than
/// their machines hold.
pub fn launches_in_waves() -> Vec<PathBuf> {
    launches_that(|stem| stem.ends_with("_waves"))
}

fn launches_that(is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let list = |dir: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let folders = list(&root().join("kernels")).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| list(&folder))
        .filter(|path| path.extension().is_some_and(|e| e == "ron"))
        .filter(|path| path.file_stem().is_some_and(|stem| is_wanted(&stem.to_string_lossy())))
        .filter(|path| !source(path).text().starts_with("Program("))
        .collect();
    files.sort();
    files
}

/// Returns the encoding of the machine code that is shipped with the kernels.
pub fn encoding() -> sass::Encoding {
    sass::Encoding::parse(&source(&root().join("isa/pascal.ron"))).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a launch below `kernels/` by name.
pub fn launch(name: &str) -> Shipped {
    let mut files = launch_files().into_iter().chain(launches_in_waves());
    let file = files.find(|file| file.file_stem().is_some_and(|stem| stem == name));
    load(&file.unwrap_or_else(|| panic!("no launch {name}")), &isa(), 0)
}

/// Reads a launch file, its PTX and its data.
pub fn load(file: &Path, isa: &IsaTable, seed: u64) -> Shipped {
    load_by(file, isa, seed, "ptx")
}

/// Reads a launch file as [`load`] does, with the code file of this ending: `ptx`, `nvrtc.ptx` or
/// `sm_61.cubin`.
pub fn load_by(file: &Path, isa: &IsaTable, seed: u64, ending: &str) -> Shipped {
    let launch_source = source(file);
    let mut spec = LaunchSpec::parse(&launch_source).unwrap_or_else(|error| panic!("{error}"));
    spec.module = spec.module.replace("ptx", ending);
    let folder = file.parent().unwrap();
    let path = folder.join(&spec.module);
    let program = if ending.ends_with("cubin") {
        let (encoding, bytes) = (encoding(), std::fs::read(&path).unwrap());
        let module =
            sass::Module::read(&spec.module, &bytes, &encoding).unwrap_or_else(|error| panic!("{error}"));
        module.program(&spec.entry, &encoding)
    } else {
        Module::parse(&source(&path)).unwrap_or_else(|error| panic!("{error}")).program(&spec.entry, isa)
    };
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let read_file =
        |name: &str, _: u64| std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let launch = Launch::new(&spec, &program, seed, &launch_source, &read_file)
        .unwrap_or_else(|error| panic!("{error}"));
    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
    Shipped { name, spec, program, launch }
}
