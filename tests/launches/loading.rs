//! Loading through the library: files in memory, names of options, errors with their places.

use std::path::Path;

use warpbound::base::ProgressMonitor;
use warpbound::exec::Options;
use warpbound::load::{Disk, Files, LaunchOptions, Loaded, Loader, Memory, OptionNames};
use warpbound::path::{BlockPaths, BlockSource};

fn bytes(path: &str) -> Vec<u8> {
    Disk.bytes(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), 1 << 20).unwrap()
}

fn vecadd() -> Memory {
    let launch = String::from_utf8(bytes("kernels/vecadd/vecadd.ron")).unwrap();
    Memory::new()
        .with("work/add.ron", launch.replace("vecadd.ptx", "../code/add.ptx"))
        .with("code/add.ptx", bytes("kernels/vecadd/vecadd.ptx"))
}

#[test]
fn a_launch_and_its_machine_come_from_memory() {
    let files = vecadd()
        .with("machines/mine.ron", "Machine(name: \"mine\", extends: \"./base.ron\")")
        .with("machines/base.ron", "Machine(name: \"base\", extends: \"accelsim-sm1\", sms: 2)");
    let loader = Loader::new(files);
    let options = LaunchOptions { grid: Some([2, 1, 1]), ..LaunchOptions::default() };
    let kernel = loader.kernel("work/add.ron", &options, &ProgressMonitor::new()).unwrap();
    assert_eq!((kernel.workload.name.as_str(), kernel.workload.blocks()), ("add", 2));
    assert_eq!(kernel.inputs, [Path::new("work/add.ron"), Path::new("work/../code/add.ptx")]);
    let machine = loader.machine("machines/mine.ron").unwrap();
    assert_eq!((machine.name(), machine.sms()), ("mine", 2));
    let location = loader.find_machine("machines/mine.ron", None).unwrap();
    assert_eq!(loader.machine_inputs(&location).len(), 2);
    // what a kernel consists of is enough to load it again
    let again = kernel.files().unwrap();
    let again = again.into_iter().fold(Memory::new(), |files, (name, bytes)| files.with(name, bytes));
    let again =
        Loader::new(again).kernel("launch.ron", &LaunchOptions::default(), &ProgressMonitor::new()).unwrap();
    assert_eq!(again.workload.blocks(), 2);
}

#[test]
fn a_packed_trace_in_memory_is_read_twice() {
    let files = Memory::new().with("t.traceg.xz", bytes("tests/accelsim/files/vecadd64.traceg.xz"));
    let loader = Loader::new(files);
    let loaded = loader.load("t.traceg.xz", &LaunchOptions::default(), &ProgressMonitor::new()).unwrap();
    assert_eq!(
        loaded.digests().unwrap().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["t.traceg.xz"]
    );
    let Loaded::Kernel(kernel) = loaded else { panic!("one trace is one kernel") };
    let machine = loader.machine("ecrts25-orin").unwrap();
    let monitor = ProgressMonitor::new();
    let mut source = kernel.workload.source(Options::of(&machine, 1 << 20), &monitor).unwrap();
    assert!(source.next_block(&mut BlockPaths::default()).unwrap());
    let stopped = ProgressMonitor::new();
    stopped.stop();
    assert!(loader.load("t.traceg.xz", &LaunchOptions::default(), &stopped).is_err());
}

#[test]
fn errors_name_options_as_the_caller_does() {
    let loader = Loader::new(vecadd());
    let place = |names| {
        let options = LaunchOptions { args: vec!["nothing=5".to_owned()], names, ..LaunchOptions::default() };
        let problems = loader.kernel("work/add.ron", &options, &ProgressMonitor::new()).unwrap_err();
        problems.list()[0].file.clone()
    };
    assert_eq!(place(OptionNames::default()), "arg nothing=5");
    assert_eq!(place(OptionNames { prefix: "--", together: "command line" }), "--arg nothing=5");
}

#[test]
fn loading_errors_are_reported() {
    let files = vecadd()
        .with("alone.ron", "Launch(module: \"gone.ptx\", entry: \"k\", grid: (1, 1, 1), block: (1, 1, 1), dynamic_shared: 0, args: [])");
    let loader = Loader::new(files);
    let error_of = |name: &str| {
        let problems = loader.load(name, &LaunchOptions::default(), &ProgressMonitor::new()).unwrap_err();
        problems.to_string()
    };
    for (name, part) in [
        ("./alone.ron", "the module `gone.ptx` that is named here does not exist"),
        ("-", "there is no standard input here"),
        ("gone.warp", "there is no such file"),
        ("code/add.ptx", "a file of code needs grid X,Y,Z"),
        ("vecad", "did you mean `vecadd`?"),
        ("vecadd.c", "no embedded kernel of this name"),
    ] {
        assert!(error_of(name).contains(part), "{name}: {}", error_of(name));
    }
    let packed = Loader::new(Memory::new().with("k.warp", vec![b' '; 17 << 20]));
    let problems = packed.load("k.warp", &LaunchOptions::default(), &ProgressMonitor::new()).unwrap_err();
    assert!(problems.to_string().contains("at most 16777216 are read"), "{problems}");
    let program = Loader::disk().kernel("bitonic_sort", &LaunchOptions::default(), &ProgressMonitor::new());
    let problems = program.unwrap_err();
    assert!(problems.to_string().contains("choose one with launch N"), "{problems}");
}
