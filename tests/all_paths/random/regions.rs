//! Kernels whose lanes reconverge where instructions say it, as in machine code since Volta.
//!
//! The generator marks in PTX where regions begin and end, and where lanes leave them, by moves of
//! certain constants. [`marked`] replaces these by the instructions, and takes the reconvergence
//! points of the branches away.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use warpbound::base::Pc;
use warpbound::program::sem::{Operand, Region};
use warpbound::program::{KernelCode, MachineCode, RegList, Sem};

use super::{CaseResult, Counts, attack_program, generate, machine_index, reason};

const OPEN: u64 = 0x7100_0000;
const CLOSE: u64 = 0x7200_0000;
const LEAVE: u64 = 0x7300_0000;

fn mark(kind: u64, barrier: u32, number: u32) -> String {
    format!("mov.u32 %r190, {};", kind | u64::from(barrier) << 16 | u64::from(number))
}

/// Returns the mark that opens a region with this barrier.
pub fn open(barrier: u32, number: u32) -> String {
    mark(OPEN, barrier, number)
}

/// Returns the mark that closes it.
pub fn close(barrier: u32, number: u32) -> String {
    mark(CLOSE, barrier, number)
}

/// Returns the mark by which lanes leave it.
pub fn leave(barrier: u32, number: u32) -> String {
    mark(LEAVE, barrier, number)
}

/// Returns the program with instructions instead of marks.
pub fn marked(mut program: KernelCode) -> KernelCode {
    let of = |sem: &Sem| match sem {
        Sem::Mov { src: Operand::Imm(value), .. } => match value & 0xff00_0000 {
            kind @ (OPEN | CLOSE | LEAVE) => Some((kind, (value >> 16 & 0xff) as u8, value & 0xffff)),
            _ => None,
        },
        _ => None,
    };
    let marks: Vec<_> = program.instrs.iter().map(|instr| of(&instr.sem)).collect();
    let mut ends = HashMap::new();
    for (index, mark) in marks.iter().enumerate() {
        if let Some((CLOSE, _, number)) = mark {
            ends.insert(*number, Pc::from_index(index + 1));
        }
    }
    for (instr, mark) in program.instrs.iter_mut().zip(marks) {
        match &mut instr.sem {
            Sem::Branch { reconverge, .. } => *reconverge = None,
            Sem::Barrier(barrier) => barrier.partly = true,
            _ => {}
        }
        let Some((kind, barrier, number)) = mark else { continue };
        let region = Region::Barrier(barrier);
        instr.sem = match kind {
            OPEN => Sem::OpenRegion { region, join: ends[&number] },
            CLOSE => Sem::CloseRegion { region },
            _ => Sem::LeaveRegion { region },
        };
        (instr.dsts, instr.srcs) = (RegList::new(), RegList::new());
        if let Some(guard) = instr.guard {
            instr.srcs.insert(guard.reg);
        }
    }
    program.machine_code = Some(MachineCode { independent: true, ..MachineCode::default() });
    program
}

/// Statistics over many cases.
#[derive(Debug, Default)]
struct Campaign {
    held: u64,
    counts: Counts,
    /// The number of cases that held and have a BSSY, a BREAK, or a WARPSYNC.
    with: [u64; 3],
    others: BTreeMap<String, u64>,
    violations: Vec<(u64, String)>,
}

fn campaign(seeds: std::ops::Range<u64>, limit: Duration) -> Campaign {
    let isa = crate::shipped::isa();
    let machines = super::MACHINES.map(crate::shipped::machine);
    let begun = Instant::now();
    let mut all = Campaign::default();
    for seed in seeds {
        if begun.elapsed() > limit {
            break;
        }
        let case = generate::case(seed, true);
        let program = case.program(&isa).unwrap_or_else(|error| panic!("{error}\n{}", case.text()));
        let program = marked(program);
        let has = |is: fn(&Sem) -> bool| program.instrs.iter().any(|instr| is(&instr.sem));
        let kinds = [
            has(|sem| matches!(sem, Sem::OpenRegion { .. })),
            has(|sem| matches!(sem, Sem::LeaveRegion { .. })),
            has(|sem| matches!(sem, Sem::WarpSync { .. })),
        ];
        match attack_program(&case, program, &machines[machine_index(seed)], seed % 2 == 0) {
            Ok(CaseResult::Held(counts)) => {
                all.held += 1;
                all.counts.paths += counts.paths;
                all.counts.one_path += counts.one_path;
                all.counts.sets_with_loops += counts.sets_with_loops;
                all.counts.membership += counts.membership;
                all.with.iter_mut().zip(kinds).for_each(|(with, has)| *with += u64::from(has));
            }
            Ok(CaseResult::NoRun(error) | CaseResult::Refused(error)) => {
                *all.others.entry(reason(&error)).or_default() += 1;
            }
            Err(error) => all.violations.push((seed, error)),
        }
    }
    all
}

#[test]
fn runs_of_random_kernels_with_regions_are_in_their_sets() {
    let all = campaign(0..600, Duration::from_secs(60));
    assert!(all.violations.is_empty(), "{:?}: {:.3000}", all.violations[0].0, all.violations[0].1);
    assert!(all.held > 300 && all.with[1] > 15 && all.with[2] > 50, "{all:?}");
}

#[test]
#[ignore = "a long campaign; ADVERSARY_SEEDS=FROM..TO"]
fn long_campaign_with_regions() {
    let text = std::env::var("ADVERSARY_SEEDS").unwrap_or_else(|_| "0..10000".to_owned());
    let (from, to) = text.split_once("..").expect("FROM..TO");
    let seeds = from.parse().expect("a seed")..to.parse().expect("a seed");
    let all = campaign(seeds, Duration::from_secs(3000));
    println!("held {} with marks {:?} {:?}\nothers {:#?}", all.held, all.with, all.counts, all.others);
    println!("violations {}", all.violations.len());
    for (seed, violation) in all.violations.iter().take(40) {
        println!("seed {seed}: {:.300}", violation.replace('\n', " | "));
    }
}
