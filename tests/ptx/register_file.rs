//! The register reads and writes of instructions, for machines with an operand collector.

use crate::shipped;

use warpbound::diag::SourceText;
use warpbound::machine::Machine;
use warpbound::program::TimingTable;
use warpbound::ptx::Module;

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry votes(.param .u64 votes_param_0)
{
    .reg .pred %p<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd3, [votes_param_0];
    mov.u32 %r3, %tid.x;
    setp.ne.s32 %p8, %r3, 0;
    vote.sync.ballot.b32 %r5, %p8, -1;
    vote.sync.ballot.b32 %r8, %p8, -1;
    st.global.u32 [%rd3], %r3;
    st.global.u32 [%rd3+4], %r8;
    bra.uni END;
END:
    ret;
}
";

/// Returns the names of the operands and of the results, by instruction.
fn read_and_written(machine: &Machine) -> Vec<(Vec<String>, Vec<String>)> {
    let module = Module::parse(&SourceText::new("votes.ptx", PTX)).unwrap_or_else(|error| panic!("{error}"));
    let program = module.program("votes", &shipped::isa()).unwrap_or_else(|error| panic!("{error}"));
    let table = TimingTable::new(&program, machine).unwrap_or_else(|error| panic!("{error}"));
    let names = |regs: &warpbound::program::RegList| {
        regs.as_slice().iter().map(|reg| program.regs[reg.index()].name.clone()).collect()
    };
    table.instrs().iter().map(|instr| (names(&instr.operands), names(&instr.results))).collect()
}

#[test]
fn an_unscored_vote_reads_its_destination() {
    let unscored = read_and_written(&shipped::machine("accelsim-ecrts"));
    assert_eq!(unscored[3], (vec!["%r5".to_owned(), "%p8".to_owned()], vec![]));
    let scored = read_and_written(&shipped::machine_with("accelsim-ecrts", &["pipeline.unscored=[]"]));
    assert_eq!(scored[3], (vec!["%p8".to_owned()], vec!["%r5".to_owned()]));
}

#[test]
fn registers_with_the_same_number_are_read_once() {
    let all = read_and_written(&shipped::machine("accelsim-ecrts"));
    assert_eq!(all[4].0, ["%r8"], "not %p8 as well");
    assert_eq!(all[5].0.len(), 1, "%rd3 or %r3: {:?}", all[5].0);
    assert_eq!(all[6].0.len(), 2, "%rd3 and %r8: {:?}", all[6].0);
}

#[test]
fn only_code_of_the_last_kernel_ends_its_file() {
    let text = format!("{PTX}.visible .entry empty()\n{{\n    ret;\n}}\n");
    let module = Module::parse(&SourceText::new("two.ptx", text)).unwrap_or_else(|error| panic!("{error}"));
    let ends = |entry: &str| module.program(entry, &shipped::isa()).unwrap().ends_file;
    assert_eq!([ends("votes"), ends("empty")], [false, true]);
}
