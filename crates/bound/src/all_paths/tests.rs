//! Tests of the bound over all paths of small sets, against values computed by hand.

use super::*;
use crate::for_tests::{EXIT, barrier, plain, steps, table};
use warpbound_core::base::Pc;
use warpbound_core::path::{PathPart, Sides, Step};

/// An instruction that takes one cycle.
const SHORT: u32 = 1;
/// An instruction whose result is available 11 cycles after its issue, in the register that
/// [`SHORT`] writes too.
const LONG: u32 = 2;
/// An instruction that reads that register and takes one cycle.
const USE: u32 = 3;
const BARRIER: u32 = 4;

fn instructions() -> TimingTable {
    table(&[plain(1, 0, &[0], &[]), plain(1, 10, &[0], &[]), plain(1, 0, &[], &[0]), barrier()])
}

fn path(instrs: &[u32]) -> PathSet {
    PathSet::from_path(&steps(instrs))
}

/// A set whose only part is an exit.
fn exit() -> PathSet {
    let mut set = PathSet::default();
    set.push_part(PathPart::End(Step::plain(Pc::new(EXIT))));
    set
}

/// These paths one after the other, and the end of the warp.
fn warp(paths: impl IntoIterator<Item = PathSet>) -> PathSet {
    let mut set = PathSet::default();
    paths.into_iter().chain([exit()]).for_each(|paths| set.append(paths));
    set
}

/// A warp that has a section of 4 cycles and then one of 1 cycle, or only the latter.
fn perhaps_two_sections() -> PathSet {
    let section = path(&[SHORT, SHORT, SHORT, BARRIER]);
    warp([PathSet::either(section, PathSet::default()), path(&[SHORT])])
}

#[test]
fn an_instruction_after_a_branch_waits_for_the_later_of_the_sides() {
    for sides in [[SHORT, LONG], [LONG, SHORT]] {
        let [first, second] = sides.map(|instr| path(&[instr]));
        let set = warp([PathSet::either(first, second), path(&[USE])]);
        assert_eq!(static_bound(&instructions(), &[set]).value.get(), 11 + 1);
    }
}

#[test]
fn sections_that_only_some_paths_have_count_as_often_as_there_may_be() {
    let bound = static_bound(&instructions(), &[perhaps_two_sections()]);
    assert!(bound.sections.is_empty());
    assert_eq!(bound.beyond, Some(Beyond { sections: 2, longest: Cycles::new(4) }));
    assert_eq!(bound.value.get(), 2 * 4);
}

#[test]
fn another_warp_delays_a_section_by_the_longest_of_its_own() {
    let bound = static_bound(&instructions(), &[warp([path(&[LONG, USE])]), perhaps_two_sections()]);
    assert_eq!(bound.beyond, Some(Beyond { sections: 2, longest: Cycles::new(11 + 1 + 4) }));
}

/// Lanes end on the first side of a branch.
#[test]
fn an_exit_takes_an_issue_slot_where_something_may_follow_it() {
    let value = |both: bool, second: &[u32], after: &[u32]| {
        let (first, second) = (exit(), path(second));
        let sides = Sides { first, second, both, first_alone: true, second_alone: true };
        let mut set = path(&[SHORT]);
        set.push_part(PathPart::Sides(Box::new(sides)));
        set.append(path(after));
        static_bound(&instructions(), &[set]).value.get()
    };
    assert_eq!(value(false, &[], &[]), 1, "nothing follows");
    assert_eq!(value(true, &[SHORT], &[]), 3, "the other side may follow");
    assert_eq!(value(false, &[], &[SHORT]), 3, "what comes after the branch follows");
}
