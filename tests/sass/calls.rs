//! Branches to the entries of tables, calls through pointers, and functions that call themselves.

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
