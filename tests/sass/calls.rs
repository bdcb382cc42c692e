//! Branches to the entries of tables, calls through pointers, and functions that call themselves.

use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::program::{KernelCode, Sem};
use warpbound::sass::Module;

use crate::shipped::{encoding_for, root};

/// Returns a kernel of `tests/data/sass/later`.
fn kernel(stem: &str, target: u32, entry: &str) -> KernelCode {
    let encoding = encoding_for(target);
    let bytes =
        std::fs::read(root().join(format!("tests/data/sass/later/{stem}.sm_{target}.cubin"))).unwrap();
    let module = Module::read(stem, &bytes, encoding).unwrap();
    module.program(entry, encoding).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Each indirect branch goes to the entries of its own table, and not to those of other tables. The
/// numbers are those of the targets that NVIDIA's disassembler lists.
#[test]
fn each_indirect_branch_has_the_targets_of_its_own_table() {
    for target in [75, 86, 90, 120] {
        for (entry, expected) in
            [("one_switch", &[24][..]), ("three_switches", &[5, 7, 8]), ("machine_of_states", &[8, 6])]
        {
            let program = kernel("switches", target, entry);
            let tables: Vec<usize> = program
                .instrs
                .iter()
                .filter_map(|instr| match &instr.sem {
                    Sem::BranchTable { targets, .. } => Some(targets.len()),
                    _ => None,
                })
                .collect();
            assert_eq!(tables, expected, "{entry}, sm_{target}");
        }
    }
}

/// Returns the machine code of a file of `tests/data/sass/later` after a change, and its kernel.
fn changed(stem: &str, entry: &str, change: impl Fn(&mut Vec<u8>, &Module)) -> Result<KernelCode, String> {
    let encoding = encoding_for(86);
    let mut bytes = std::fs::read(root().join(format!("tests/data/sass/later/{stem}.sm_86.cubin"))).unwrap();
    let module = Module::read(stem, &bytes, encoding).unwrap();
    change(&mut bytes, &module);
    let module = Module::read(stem, &bytes, encoding).unwrap();
    module.program(entry, encoding).map_err(|problems| problems.to_string())
}

/// Returns the place in the file of the first instruction of a kernel with this text.
fn place(module: &Module, entry: &str, text: &str) -> usize {
    let kernel = module.kernels().iter().find(|kernel| kernel.name == entry).unwrap();
    let listing = module.build(kernel, encoding_for(86)).listing;
    let line = listing.iter().find(|line| line.text.as_ref().is_some_and(|found| found.starts_with(text)));
    kernel.at as usize + line.unwrap_or_else(|| panic!("{entry} has no {text}")).byte
}

/// Returns the error with which a kernel ends.
fn error(program: &KernelCode) -> String {
    let text = format!(
        "Launch(module: \"calls\", entry: \"{}\", grid: (1, 1, 1), block: (32, 1, 1), args: [
             Buffer(name: \"o\", elem: U32, len: 1024, init: Zero),
             Buffer(name: \"i\", elem: U32, len: 1024, init: Iota),
         ])",
        program.name
    );
    let source = SourceText::new("launch.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap();
    let launch = Launch::new(&spec, program, 0, &source, &|_, _| Ok(Vec::new())).unwrap();
    let mut executor = Executor::new(program, &launch, Options::default()).unwrap();
    let mut paths = BlockPaths::default();
    loop {
        match executor.next_block(&mut paths) {
            Ok(true) => {}
            Ok(false) => panic!("{} ends without an error", program.name),
            Err(error) => return error.to_string(),
        }
    }
}

/// A pointer that is none, such as a null pointer, ends the run with an error that says so.
#[test]
fn a_call_of_no_function_ends_the_run() {
    let pointers: Vec<u8> = [8u64, 16, 24].iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
    let program = changed("calls", "pointers_in_a_table", |bytes, _| {
        let at = bytes.windows(pointers.len()).position(|window| window == pointers).unwrap();
        bytes[at] = 0;
    });
    let error = error(&program.unwrap());
    assert!(
        error.contains("which is no function of this kernel") && error.contains("null pointer"),
        "{error}"
    );
}

/// A function returns to the instruction after its call, and nowhere else.
#[test]
fn a_return_to_another_address_ends_the_run() {
    let program = changed("calls", "pointers_in_a_table", |bytes, module| {
        bytes[place(module, "pointers_in_a_table", "MOV R20, 0x") + 4] += 0x10;
    });
    let error = error(&program.unwrap());
    assert!(error.contains("returns to another address than that of its call"), "{error}");
}

/// BMOV restores a barrier from the register in which the same function saved it. A barrier that is
/// saved for another purpose is refused.
#[test]
fn barriers_are_restored_from_where_they_were_saved() {
    let program = changed("recursion", "fibonacci", |bytes, module| {
        bytes[place(module, "fibonacci", "BMOV.32 B6, R") + 4] += 1;
    });
    let error = error(&program.unwrap());
    assert!(error.contains("restores B6 from a register in which this function did not save it"), "{error}");
    let problems = changed("recursion", "fibonacci", |bytes, module| {
        let at = place(module, "fibonacci", "BMOV.32 B6, R");
        bytes[at..at + 8].copy_from_slice(&0x7918u64.to_le_bytes());
        // without the control codes of BMOV
        bytes[at + 8..at + 16].copy_from_slice(&0x000f_c000_0000_0000u64.to_le_bytes());
    });
    let problems = problems.map(|_| ()).unwrap_err();
    assert!(problems.contains("BMOV.32.CLEAR: no BMOV of the kernel restores this barrier"), "{problems}");
}

/// A function in a section of its own is added to the kernels that call it, and only to these.
#[test]
fn linked_functions_are_added_to_the_kernels_that_call_them() {
    let encoding = encoding_for(90);
    let path = root().join("tests/data/sass/later/recursion.linked.sm_90.cubin");
    let module = Module::read("linked", &std::fs::read(path).unwrap(), encoding).unwrap();
    let names = |entry: &str| -> Vec<String> {
        let program = module.program(entry, encoding).unwrap();
        program.functions.into_iter().map(|function| function.name).collect()
    };
    assert!(names("mutual").contains(&"_Z4evenjj".to_owned()), "{:?}", names("mutual"));
    assert!(!names("mutual").contains(&"_Z3ackjj".to_owned()), "{:?}", names("mutual"));
    assert_eq!(module.entries().len(), 5, "{:?}", module.entries());
}
