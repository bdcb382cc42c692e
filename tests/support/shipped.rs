//! The kernels and machines of the repository, loaded by their names.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};

use warpbound::base::ProgressMonitor;
use warpbound::check::WorkloadKind;
use warpbound::diag::{Diagnostics, SourceText};
use warpbound::isa::IsaTable;
use warpbound::load::{LaunchOptions, Loader, Memory};
use warpbound::machine::{Machine, Setting};
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::sass;

/// A launch file with everything that it refers to.
pub struct Shipped {
    pub name: String,
    pub spec: LaunchSpec,
    pub program: KernelCode,
    pub launch: Launch,
}

pub fn root() -> PathBuf {
    // the benches, a package of their own, use this file, too
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(package).to_owned()
}

pub fn source(path: &Path) -> SourceText {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    SourceText::new(path.display().to_string(), text)
}

pub fn isa() -> IsaTable {
    warpbound::load::ptx_isa()
}

/// Returns an embedded machine by name.
pub fn machine(name: &str) -> Machine {
    machine_with(name, &[])
}

/// Returns an embedded machine with settings `PATH=VALUE`.
pub fn machine_with(name: &str, settings: &[&str]) -> Machine {
    try_machine_with(name, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the machine of a text, which may extend an embedded one.
pub fn machine_of(text: String) -> Machine {
    let loader = Loader::new(Memory::new().with("test.ron", text));
    loader.machine("test.ron").unwrap_or_else(|error| panic!("{error}"))
}

/// Returns an embedded machine as [`machine_with`] does, or the diagnostics if the settings are
/// incompatible.
pub fn try_machine_with(name: &str, settings: &[&str]) -> Result<Machine, Diagnostics> {
    let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
    Loader::disk().machine_with(name, &settings)
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

/// Returns the encoding of the machine code that is shipped with all kernels, that of Pascal.
pub fn encoding() -> &'static sass::Encoding {
    encoding_for(61)
}

/// Returns the encoding of an architecture.
pub fn encoding_for(target: u32) -> &'static sass::Encoding {
    warpbound::load::encoding_for(target).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns whether machine code of the kernel of a launch file is shipped and can be executed.
pub fn has_machine_code(file: &Path) -> bool {
    let text = source(file);
    let module = text.text().split("module: \"").nth(1).and_then(|rest| rest.split(".ptx").next());
    module.is_some_and(|module| {
        file.with_file_name(format!("{module}.sm_61.cubin")).exists() && module != "texture"
    })
}

/// Returns a launch below `kernels/` by name.
pub fn launch(name: &str) -> Shipped {
    let mut files = launch_files().into_iter().chain(launches_in_waves());
    let file = files.find(|file| file.file_stem().is_some_and(|stem| stem == name));
    load(&file.unwrap_or_else(|| panic!("no launch {name}")), 0)
}

/// Reads a launch file, its PTX and its data.
pub fn load(file: &Path, seed: u64) -> Shipped {
    load_by(file, seed, "ptx")
}

/// Reads a launch file as [`load`] does, with the code file of this ending: `ptx`, `nvrtc.ptx` or
/// `sm_61.cubin`.
pub fn load_by(file: &Path, seed: u64, ending: &str) -> Shipped {
    let compiler = ending.rsplit_once('.').map(|(compiler, _)| compiler.to_owned());
    let options = LaunchOptions { compiler, seed, ..LaunchOptions::default() };
    let kernel = Loader::disk().kernel(&file.display().to_string(), &options, &ProgressMonitor::new());
    let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
    let spec = kernel.launch_spec().expect("a launch file").clone();
    let WorkloadKind::Launch { program, launch } = kernel.workload.kind else { panic!("{name}: no launch") };
    Shipped { name, spec, program: *program, launch: *launch }
}
