//! Control codes compared with the dependences that they represent.

use std::collections::BTreeMap;

use warpbound::check::control_codes::ControlCodes;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::hazards::Hazard;
use warpbound::program::{Control, KernelCode};
use warpbound::sass::Module;

use crate::shipped::{Shipped, encoding, launch_files, load_by, root};

fn followed(shipped: &Shipped, program: &KernelCode) -> ControlCodes {
    let mut executor = Executor::new(program, &shipped.launch, Options::default()).unwrap();
    let (mut paths, mut codes) = (BlockPaths::default(), ControlCodes::default());
    while executor.next_block(&mut paths).unwrap() {
        codes.see(program, &paths);
    }
    codes
}

fn machine_code() -> impl Iterator<Item = Shipped> {
    launch_files().into_iter().filter_map(move |file| {
        let text = std::fs::read_to_string(&file).unwrap();
        let module = text.split("module: \"").nth(1)?.split(".ptx").next()?.to_owned();
        let there = file.with_file_name(format!("{module}.sm_61.cubin")).exists();
        (there && module != "texture").then(|| load_by(&file, 1, "sm_61.cubin"))
    })
}

/// NVIDIA's assembler covers every dependence that occurs. Its stall counts allow six cycles for
/// results of the integer and single precision units, as the tuning guide for Pascal states for
/// dependent instructions.
#[test]
fn codes_of_the_kernels_cover_every_dependence() {
    let (mut launches, mut covered) = (0, 0);
    let mut least: BTreeMap<String, u32> = BTreeMap::new();
    for shipped in machine_code() {
        let codes = followed(&shipped, &shipped.program);
        let open: Vec<_> = codes.uncovered().collect();
        assert!(open.is_empty(), "{}: {:?}", shipped.name, codes.notes(&shipped.program));
        covered += codes.covered();
        launches += 1;
        for (class, cycles) in codes.least() {
            least.entry(class.to_owned()).and_modify(|known| *known = cycles.min(*known)).or_insert(cycles);
        }
    }
    assert!(launches >= 80 && covered > 10_000, "{launches} launches, {covered} covered");
    for class in
        ["int.add", "int.xmad", "fp32.add", "fp32.mul", "fp32.mad", "alu.mov", "alu.shift", "alu.logic"]
    {
        assert_eq!(least.get(class), Some(&6), "{class} of {least:?}");
    }
}

/// Codes that wait for nothing, or release nothing, leave dependences uncovered, and the notes name
/// such a dependence.
#[test]
fn codes_without_waits_or_releases_are_detected() {
    let file = launch_files().into_iter().find(|file| file.ends_with("vecadd.ron")).unwrap();
    let shipped = load_by(&file, 1, "sm_61.cubin");
    type Change = fn(&mut Control);
    let changes: [Change; 2] = [|control| control.wait = 0, |control| control.write_barrier = None];
    for change in changes {
        let mut program = shipped.program.clone();
        let code = program.machine_code.as_mut().unwrap();
        code.instructions.iter_mut().for_each(|coded| change(&mut coded.control));
        let codes = followed(&shipped, &program);
        let reads: Vec<_> = codes.uncovered().filter(|(_, _, hazard, _)| *hazard == Hazard::Read).collect();
        let place = |pc| program.place(pc);
        assert!(
            reads
                .iter()
                .any(|&(load, add, ..)| place(load).ends_with("+0xb0") && place(add).ends_with("+0xd0")),
            "{reads:?}"
        );
        assert!(
            codes.notes(&program).iter().any(|note| note.contains("vecadd+0xd0 reads R2 of")),
            "{:?}",
            codes.notes(&program)
        );
    }
}

#[test]
fn control_codes_survive_reading_and_writing() {
    let encoding = encoding();
    for bits in (0..1 << 21).step_by(7) {
        let control = encoding.control.read(bits);
        assert_eq!(encoding.control.write(&control), bits);
    }
    let bytes = std::fs::read(root().join("kernels/vecadd/vecadd.sm_61.cubin")).unwrap();
    let module = Module::read("v", &bytes, encoding).unwrap();
    let listing = module.listing(encoding);
    assert!(listing.contains("  00d0  20:-:-:-:2  FADD R0, R2, R4\n"), "{listing}");
}
