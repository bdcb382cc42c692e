//! The effect of instructions, compared with the arithmetic that they represent.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::program::sem::{PredOp, Sem};
use warpbound::sass::Module;

use crate::shipped::{encoding, isa, launch_files, load_by, root};

/// Paths of machine code have one step for each machine instruction, however many operations it is
/// lowered to.
#[test]
fn an_instruction_of_the_machine_takes_one_step() {
    let file = launch_files().into_iter().find(|file| file.ends_with("layernorm_welford.ron")).unwrap();
    let shipped = load_by(&file, 1, "sm_61.cubin");
    let (program, launch) = (&shipped.program, &shipped.launch);
    assert!(program.instrs.iter().any(|instr| instr.folded), "nothing is folded, so nothing is tested");
    assert_eq!(program.count(), program.machine_code.as_ref().unwrap().instructions.len());
    for vectors in [warpbound::exec::Vectors::Detected, warpbound::exec::Vectors::Off] {
        let mut executor = Executor::new(program, launch, Options { vectors, ..Options::default() }).unwrap();
        let mut paths = BlockPaths::default();
        while executor.next_block(&mut paths).unwrap() {
            for warp in &paths.warps {
                assert!(warp.steps().iter().all(|step| !program.instr(step.pc()).folded));
                assert!(warp.steps().last().is_some_and(|step| step.ends_warp()));
            }
        }
    }
}

/// Execution row by row and execution lane by lane give the same bytes and the same paths.
#[test]
fn machine_code_runs_the_same_lane_by_lane() {
    for name in [
        "fft_radix4.ron",
        "montecarlo_pi.ron",
        "histogram.ron",
        "blackscholes.ron",
        "loopbreak.ron",
        "bitonic_shared.ron",
    ] {
        let Some(file) = launch_files().into_iter().find(|file| file.ends_with(name)) else {
            panic!("no {name}")
        };
        let shipped = load_by(&file, 2, "sm_61.cubin");
        let run = |vectors| {
            let options = Options { vectors, ..Options::default() };
            let mut executor = Executor::new(&shipped.program, &shipped.launch, options).unwrap();
            let (mut paths, mut all) = (BlockPaths::default(), Vec::new());
            while executor.next_block(&mut paths).unwrap() {
                all.push(paths.clone());
            }
            let buffers: Vec<Vec<u8>> =
                (0..shipped.launch.buffers.len()).map(|index| executor.buffer(index).to_vec()).collect();
            (all, buffers)
        };
        assert!(run(warpbound::exec::Vectors::Detected) == run(warpbound::exec::Vectors::Off), "{name}");
    }
}

/// Every operand that a machine instruction reads or writes takes part in its timing, and the
/// registers that the lowering adds do not.
#[test]
fn timing_sees_the_registers_of_the_machine() {
    let encoding = encoding();
    let bytes = std::fs::read(root().join("kernels/imatmul_tiled/imatmul_tiled.sm_61.cubin")).unwrap();
    let module = Module::read("x.cubin", &bytes, encoding).unwrap();
    let program = module.program("imatmul_tiled", encoding).unwrap();
    let name = |reg: &warpbound::base::RegId| program.regs[reg.index()].name.as_str();
    let mut loads = 0;
    for instr in program.instrs.iter().filter(|instr| !instr.folded) {
        for reg in instr.srcs.as_slice().iter().chain(instr.dsts.as_slice()) {
            assert!(!name(reg).starts_with('%'), "{}", name(reg));
        }
        if let Sem::Load { .. } = instr.sem
            && instr.memory.is_some_and(|memory| memory.loads_global())
        {
            // the address is a pair of registers
            assert_eq!(instr.srcs.as_slice().iter().filter(|reg| name(reg).starts_with('R')).count(), 2);
            loads += 1;
        }
    }
    assert!(loads >= 2);
}

/// The sequence that compilers emit for the upper half of a signed product, by the formula of its
/// parts.
#[test]
fn products_of_words_come_out_of_products_of_halves() {
    use warpbound::program::sem::{Addend, Xmad, XmadFlags};
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let edges = [
        0u32,
        1,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_0000,
        0xffff_ffff,
        0x8000_ffff,
        0x7fff_0000,
    ];
    use XmadFlags as F;
    let of = |flags: XmadFlags, addend: Addend| Xmad { flags, addend };
    let check = |a: u32, b: u32| {
        // XMAD; XMAD.MRG; XMAD.PSL.CBCC: the lower word
        let first = of(F::empty(), Addend::Whole).of(a, b, 0);
        let merged = of(F::UPPER_B | F::MERGE, Addend::Whole).of(a, b, 0);
        let upper = F::UPPER_A | F::UPPER_B;
        assert_eq!(
            of(upper | F::SHIFT, Addend::WithB).of(a, merged, first),
            a.wrapping_mul(b),
            "{a:#x} * {b:#x}"
        );
        // the upper word, without and with signs; IADD3.RS keeps the carry of its first sum
        let middle = |signs: [F; 2]| {
            let cross = of(F::UPPER_B | signs[1], Addend::Whole).of(a, b, 0);
            let rest = of(F::UPPER_A | signs[0], Addend::Upper).of(a, b, first);
            ((u64::from(cross) + u64::from(rest)) >> 16) as u32
        };
        let high = of(upper, Addend::Whole).of(a, b, 0);
        let unsigned = ((u64::from(a) * u64::from(b)) >> 32) as u32;
        assert_eq!(high.wrapping_add(middle([F::empty(); 2])), unsigned, "{a:#x} * {b:#x}");
        let both = F::SIGNED_A | F::SIGNED_B;
        let high = of(upper | both, Addend::Corrected).of(a, b, 0);
        let signed = ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
        assert_eq!(high.wrapping_add(middle([F::SIGNED_A, F::SIGNED_B])), signed, "{a:#x} * {b:#x}");
    };
    for a in edges {
        edges.iter().for_each(|&b| check(a, b));
    }
    (0..100_000).for_each(|_| check(random.random(), random.random()));
}

/// A branch to an address in a register goes to the target in the compiler's table; lanes with
/// different targets run one group after another.
#[test]
fn branches_through_tables_go_where_those_of_ptx_go() {
    let file = root().join("tests/data/sass/table.ron");
    let run = |ending| {
        let shipped = load_by(&file, 1, ending);
        let mut executor = Executor::new(&shipped.program, &shipped.launch, Options::default()).unwrap();
        let mut paths = BlockPaths::default();
        while executor.next_block(&mut paths).unwrap() {}
        let bytes = executor.buffer(0).to_vec();
        (shipped.program, bytes)
    };
    let ((code, ours), (_, theirs)) = (run("sm_61.cubin"), run("ptx"));
    assert!(theirs.iter().any(|&byte| byte != 0) && ours == theirs);
    let targets = code.instrs.iter().find_map(|instr| match &instr.sem {
        Sem::BranchTable { targets, .. } => Some(targets.clone()),
        _ => None,
    });
    let places: Vec<String> = targets.unwrap().iter().map(|&pc| code.place(pc)).collect();
    assert!(
        places.iter().zip(["+0x78", "+0xb8", "+0xf0", "+0x110"]).all(|(at, end)| at.ends_with(end)),
        "{places:?}"
    );
    assert_eq!(places.len(), 4);
}

/// A trap ends the run with an error that contains its location.
#[test]
fn a_trap_is_an_error_of_the_kernel() {
    let encoding = encoding();
    let bytes = std::fs::read(root().join("tests/data/sass/trap.sm_61.cubin")).unwrap();
    let program = Module::read("trap.cubin", &bytes, encoding).unwrap().program("t", encoding).unwrap();
    let text =
        "Launch(module: \"trap.cubin\", entry: \"t\", grid: (1, 1, 1), block: (64, 1, 1), args: [U64(0)])";
    let source = SourceText::new("t.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap();
    let launch = Launch::new(&spec, &program, 0, &source, &|_, _| Err(String::new())).unwrap();
    let mut executor = Executor::new(&program, &launch, Options::default()).unwrap();
    let error = executor.next_block(&mut BlockPaths::default()).unwrap_err().to_string();
    assert!(error.contains("`BPT.TRAP`") && error.contains("warp 1, lanes 0xfffffe00"), "{error}");
}

/// Returns bits of every kind: zeros, infinities, NaNs, the extreme values of floating-point
/// formats and of integers, and others.
fn any_bits(random: &mut ChaCha8Rng) -> u64 {
    const SINGLES: [u32; 20] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x3f80_0000,
        0xbfc0_0000,
        0x4020_0000,
        0xc300_8000,
        0x7e80_0001,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7fff_ffff,
        0x8000_7fff,
        0x3c00_3800,
        0xbe00_c100,
        0x7c01_fc00,
        0x0001_8001,
        0x437f_8000,
        0x0104_00ff,
    ];
    let low = match random.random_range(0..3) {
        0 => random.random(),
        _ => SINGLES[random.random_range(0..SINGLES.len())],
    };
    let high: u32 = match random.random_range(0..4) {
        0 => 0,
        1 => 0xffff_ffff,
        2 => 0x7ff8_0000 << random.random_range(0..3),
        _ => random.random(),
    };
    u64::from(high) << 32 | u64::from(low)
}

/// Halves of registers, signs on sources, roundings to integral numbers, carries through
/// differences, wide fields: the machine code that NVIDIA's assembler makes of PTX computes the
/// same bytes as the PTX.
#[test]
fn modifiers_that_no_kernel_has_compute_what_their_ptx_does() {
    const THREADS: usize = 128;
    let encoding = encoding();
    let folder = root().join("tests/data/sass");
    let bytes = std::fs::read(folder.join("values.sm_61.cubin")).unwrap();
    let code = Module::read("values.cubin", &bytes, encoding).unwrap();
    let ptx = warpbound::ptx::Module::parse(&crate::shipped::source(&folder.join("values.ptx"))).unwrap();
    let isa = isa();
    let mut entries = code.entries();
    entries.sort_unstable();
    assert_eq!(entries.len(), 11, "{entries:?}");
    let mut random = ChaCha8Rng::seed_from_u64(32);
    let args: Vec<String> = ["a", "b", "c"]
        .map(|name| format!("Buffer(name: \"{name}\", elem: U64, len: {THREADS}, init: File(\"{name}\"))"))
        .into();
    let is_nan = |bits: u64| bits >> 32 == 0 && bits & 0x7fff_ffff > 0x7f80_0000;
    let (mut results, mut refused) = (0, Vec::new());
    for entry in entries {
        let inputs: Vec<Vec<u8>> = (0..3)
            .map(|_| (0..THREADS).flat_map(|_| any_bits(&mut random).to_le_bytes()).collect())
            .collect();
        let text = format!(
            "Launch(module: \"values\", entry: \"{entry}\", grid: (1, 1, 1), block: ({THREADS}, 1, 1),
             args: [{}, Buffer(name: \"o\", elem: U64, len: {}, init: Zero)])",
            args.join(", "),
            16 * THREADS
        );
        let source = SourceText::new("t.ron", text);
        let spec = LaunchSpec::parse(&source).unwrap();
        let read = |name: &str, _: u64| Ok(inputs[usize::from(name.as_bytes()[0] - b'a')].clone());
        let run = |program: &warpbound::program::KernelCode| {
            let launch = Launch::new(&spec, program, 0, &source, &read).unwrap();
            let mut executor = Executor::new(program, &launch, Options::default()).unwrap();
            let mut paths = BlockPaths::default();
            while executor.next_block(&mut paths).unwrap() {}
            let words: Vec<u64> =
                executor.buffer(3).as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
            words
        };
        let program = match code.program(entry, encoding) {
            Ok(program) => program,
            // where two carries are live at once, one is kept in a register meanwhile; the
            // instructions for this are refused by name
            Err(problems) => {
                let is_carry = |message: &str| message.contains("P2R") || message.contains("R2P");
                assert!(problems.list().iter().all(|problem| is_carry(&problem.message)), "{problems}");
                refused.push(entry.to_owned());
                continue;
            }
        };
        let machine = run(&program);
        let ptx = run(&ptx.program(entry, &isa).unwrap_or_else(|error| panic!("{error}")));
        for (at, (machine, ptx)) in machine.iter().zip(&ptx).enumerate() {
            let (result, thread) = (at / THREADS, at % THREADS);
            let sources: Vec<String> = inputs
                .iter()
                .map(|bytes| {
                    format!("{:#x}", u64::from_le_bytes(bytes[thread * 8..][..8].try_into().unwrap()))
                })
                .collect();
            // it is unspecified which NaN the negation of a NaN gives
            assert!(
                machine == ptx || is_nan(*machine) && is_nan(*ptx),
                "{entry}, result {result} of {sources:?}: machine code {machine:#x}, PTX {ptx:#x}"
            );
            results += usize::from(*ptx != 0);
        }
    }
    assert!(results > 8000, "{results}");
    assert_eq!(refused, ["values7", "values8"]);
}

/// Modifiers that are printed correctly but whose semantics are unknown are refused by name.
#[test]
fn modifiers_without_known_semantics_are_refused_by_name() {
    let encoding = encoding();
    let mut bytes = std::fs::read(root().join("kernels/vecadd/vecadd.sm_61.cubin")).unwrap();
    let at = Module::read("x.cubin", &bytes, encoding).unwrap().kernels()[0].at as usize + 0x10;
    for (word, expected) in [
        (0x5c14_0000_00c7_0a08_u64 | 3 << 48, "IADD.PO.SAT R8, R10, R12"),
        (0x5c20_8380_00c7_0a08, "IMNMX.U32 R8.CC, R10, R12, PT"),
        (0x5c21_1b80_00c7_0a08, "IMNMX.XHI R8, R10, R12, PT"),
        (0x36f9_0800_0037_0a08, "SHF.L.HI R8, R10, 0x3, R16"),
        (0x5ca8_1000_00c7_0908, "F2F.FTZ.F16.F32 R8, R12"),
        (0x5cb8_2000_00c7_0a08, "I2F.F32.U32 R8, -R12"),
        (0x5080_0000_0067_0a08 | 1 << 50, "MUFU.RCP64H.SAT"),
        (0xed30_0000_00c7_1408 | 3 << 49, "ATOM.INC.F32.FTZ.RN"),
        (0xe240_0000_1007_004f, "BRA.LMT"),
        (0xe300_0000_0007_002f, "EXIT.KEEPREFCOUNT"),
    ] {
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        let module = Module::read("x.cubin", &bytes, encoding).unwrap();
        let message = match module.program("vecadd", encoding) {
            Ok(_) => panic!("{expected} runs"),
            Err(problems) => problems.to_string(),
        };
        assert!(message.contains(expected), "{word:#x}, {expected}: {message}");
    }
}

/// A branch on the condition code respects its guard, also the guard that is never true.
#[test]
fn a_conditional_branch_respects_its_guard() {
    let encoding = encoding();
    let mut bytes = std::fs::read(root().join("kernels/vecadd/vecadd.sm_61.cubin")).unwrap();
    let at = Module::read("x.cubin", &bytes, encoding).unwrap().kernels()[0].at as usize + 0x10;
    // the guards PT, P0 and !PT
    for (guard, conjunctions) in [(0x7_u64, 0), (0x0, 1), (0xf, 1)] {
        let word = 0xe240_0000_0300_000d | guard << 16;
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        let program = Module::read("x.cubin", &bytes, encoding).unwrap().program("vecadd", encoding).unwrap();
        let line = program.instrs.iter().find(|instr| matches!(instr.sem, Sem::Branch { .. })).unwrap().line;
        let of_branch = program.instrs.iter().filter(|instr| instr.line == line);
        let found =
            of_branch.filter(|instr| matches!(instr.sem, Sem::PredLogic { op: PredOp::And, .. })).count();
        assert_eq!(found, conjunctions, "guard {guard:#x}");
    }
}
