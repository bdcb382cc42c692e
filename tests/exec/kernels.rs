//! Every launch of `kernels/` leaves in memory the results that the plain references of
//! `tests/support/kernel_refs.rs` compute.

use crate::kernel_refs;
use crate::shipped;

use std::path::Path;

use kernel_refs::{Match, RefIo, Scalar, reference};
use shipped::{Shipped, launch_files, launches_in_waves, load_by};
use warpbound::exec::races::BlockOrder;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::ArgSpec;

/// Returns the scalars of an argument: one, those of a struct, or none.
fn scalars(arg: &ArgSpec) -> Vec<Scalar> {
    match arg {
        ArgSpec::Struct(parts) => parts.iter().flat_map(scalars).collect(),
        _ => scalar(arg).into_iter().collect(),
    }
}

fn scalar(arg: &ArgSpec) -> Option<Scalar> {
    Some(match arg {
        ArgSpec::F32(v) => Scalar::F((*v).into()),
        ArgSpec::F64(v) => Scalar::F(*v),
        ArgSpec::U8(v)
        | ArgSpec::I8(v)
        | ArgSpec::U16(v)
        | ArgSpec::I16(v)
        | ArgSpec::U32(v)
        | ArgSpec::I32(v)
        | ArgSpec::U64(v)
        | ArgSpec::I64(v) => Scalar::I(v.constant().expect("a number") as i64),
        _ => return None,
    })
}

/// Returns the first element that differs, if any.
fn difference(got: &[u8], expected: &[u8], how: Match) -> Option<String> {
    if got.len() != expected.len() {
        return Some(format!("{} bytes, {} expected", got.len(), expected.len()));
    }
    let words = got.chunks(4).zip(expected.chunks(4)).enumerate();
    for (index, (got, expected)) in words {
        let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
        let same = match how {
            Match::Exact => got == expected,
            Match::F32 { rel, abs } => {
                let (got, expected) = (float(got), float(expected));
                (got - expected).abs() <= abs + rel * expected.abs()
            }
        };
        if !same {
            return Some(format!("word {index} is {got:02x?}, {expected:02x?} expected"));
        }
    }
    None
}

/// Returns the faults of a launch on the inputs of a seed.
fn check(file: &Path, ending: &str, seed: u64) -> Vec<String> {
    let Shipped { spec, program, launch, .. } = load_by(file, seed, ending);

    let mut expected: Vec<Vec<u8>> = launch.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
    let scalars: Vec<Scalar> = spec.args.iter().flat_map(scalars).collect();
    let mut io = RefIo {
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.dynamic_shared,
        scalars: &scalars,
        buffers: &mut expected,
    };
    let Some(matches) = reference(&spec.entry, &mut io) else {
        return vec![format!("`{}` has no reference", spec.entry)];
    };

    // nothing may depend on the order of warps or blocks
    let options = Options { races: Some(BlockOrder::SideBySide), ..Options::default() };
    let mut executor = Executor::new(&program, &launch, options).unwrap();
    let mut paths = BlockPaths::default();
    let (mut instructions, mut bytes) = (0, 0);
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{error}")) {
        instructions += paths.warp_instructions();
        bytes += paths.warps.iter().map(|warp| warp.size_bytes() as u64).sum::<u64>();
        for warp in &paths.warps {
            let ends: Vec<bool> = warp.steps().iter().map(|step| step.ends_warp()).collect();
            let last = ends.len() - 1;
            assert!(ends[last] && !ends[..last].contains(&true), "only the last step ends the warp");
        }
    }
    let mut wrong = Vec::new();
    let time = executor.time_dependences();
    if !time.is_empty() {
        wrong.push(format!("depends on time: {time:?}"));
    }
    for (index, how) in matches.into_iter().enumerate() {
        if let Some(what) = difference(executor.buffer(index), &expected[index], how) {
            wrong.push(format!("buffer `{}`: {what}", launch.buffers[index].name));
        }
    }
    // the limit: paths take at most 8 bytes per instruction
    if bytes > 8 * instructions {
        wrong.push(format!("paths take {bytes} bytes for {instructions} instructions"));
    }
    wrong
}

#[test]
fn every_launch_leaves_the_results_of_its_reference() {
    let files = launch_files();
    assert!(files.len() >= 40, "only {} launches found", files.len());
    let wrong: Vec<String> = ["ptx", "nvrtc.ptx"]
        .into_iter()
        .flat_map(|ending| files.iter().map(move |file| (file, ending)))
        // hand-written PTX has no source to compile
        .filter(|(file, ending)| {
            *ending == "ptx" || !file.parent().is_some_and(|folder| folder.ends_with("micro"))
        })
        .flat_map(|(file, ending)| {
            let wrong = check(file, ending, 1).into_iter();
            wrong.map(move |what| format!("{}, {ending}: {what}", file.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Machine code by NVIDIA's assembler, from the same PTX: everything except kernels for newer
/// machines, and textures.
#[test]
fn machine_code_leaves_the_results_of_its_reference() {
    for (target, least) in [("sm_61", 80), ("sm_75", 8), ("sm_86", 30), ("sm_90", 8), ("sm_120", 8)] {
        machine_code_of(target, least);
    }
}

/// Checks the launches that have machine code for an architecture, of which there are at least as
/// many as given.
fn machine_code_of(target: &str, least: usize) {
    let ending = format!("{target}.cubin");
    let has_cubin = |file: &&std::path::PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let module = text.split("module: \"").nth(1).and_then(|rest| rest.split(".ptx").next()).unwrap();
        file.with_file_name(format!("{module}.{ending}")).exists() && module != "texture"
    };
    let all = launch_files();
    let files: Vec<_> = all.iter().filter(has_cubin).collect();
    assert!(files.len() >= least, "only {} launches with machine code for {target}", files.len());
    let wrong: Vec<String> = files
        .into_iter()
        .flat_map(|file| {
            let wrong = check(file, &ending, 1).into_iter();
            wrong.map(move |what| format!("{}: {what}", file.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// The launches with many blocks that `reproduce betts` and `reproduce diagxtrm` time, once.
#[test]
fn launches_in_waves_leave_the_results_of_their_references() {
    let files = launches_in_waves();
    assert_eq!(files.len(), 15);
    for file in &files {
        let wrong = check(file, "ptx", 1);
        assert!(wrong.is_empty(), "{}: {wrong:?}", file.display());
    }
}

/// The launches of `betts` are run on many random inputs; the control flow of the eigenvalue
/// kernels depends on them.
#[test]
fn launches_of_betts_hold_on_other_inputs() {
    let files: Vec<_> = launch_files()
        .into_iter()
        .filter(|file| file.parent().is_some_and(|folder| folder.ends_with("betts")))
        .collect();
    assert_eq!(files.len(), 6);
    for (file, ending, seed) in files
        .iter()
        .flat_map(|file| ["ptx", "nvrtc.ptx"].map(|ending| (file, ending)))
        .flat_map(|(file, ending)| [0, 2, 3].map(|seed| (file, ending, seed)))
    {
        let wrong = check(file, ending, seed);
        assert!(wrong.is_empty(), "{}, {ending}, seed {seed}: {wrong:?}", file.display());
    }
}
