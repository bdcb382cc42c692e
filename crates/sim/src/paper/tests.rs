//! Tests that an SM that is reused behaves like a new one.

#[path = "../../../../tests/support/random_kernels.rs"]
mod random_kernels;

use random_kernels::{RandomLaunch, Shape, random_launch};

use super::{Engine, PaperMachine, SlotSteps, Sm};
use crate::SLOTS;
use crate::blocks::Layout;
use crate::fields::differences;
use crate::policy::{Policy, PolicySetup};
use crate::result::BlockResult;
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;

const POLICIES: [PolicySetup; 7] = [
    PolicySetup::Gto,
    PolicySetup::Lrr,
    PolicySetup::TwoLevel,
    PolicySetup::Oldest,
    PolicySetup::Srr,
    PolicySetup::Gsrr,
    PolicySetup::Random(5),
];

/// Returns a launch with everything that changes the state of an SM: global loads, control codes,
/// barriers of both kinds, sub-cores.
fn launch(seed: u64) -> RandomLaunch {
    let shape =
        Shape { sub_cores: [1, 4][seed as usize % 2], codes: seed.is_multiple_of(3), ..Shape::EVERYTHING };
    random_launch(seed, &shape, 3)
}

/// Runs blocks on an SM, some of them concurrently, and leaves the SM as it is then. With `end`, no
/// block is left on it.
fn run(sm: &mut Sm<'_>, launch: &RandomLaunch, policy: &PolicySetup, layout: Layout, end: bool) {
    let mut policies = policy.policies(&launch.machine);
    let mut result = BlockResult::default();
    let mut blocks = launch.blocks.iter();
    let mut resident_paths = vec![BlockPaths::default(); layout.cta_slots()];
    loop {
        while let Some(cta_slot) = sm.free_cta_slot()
            && let Some(block) = blocks.next()
        {
            resident_paths[cta_slot] = block.clone();
            if layout.is_one() {
                policies.iter_mut().for_each(Policy::restart);
            }
            sm.place(cta_slot, &resident_paths[cta_slot], &mut policies, &mut ());
        }
        if sm.is_empty() {
            return;
        }
        let mut steps: SlotSteps<'_> = [&[]; SLOTS];
        sm.steps_of(&resident_paths, &mut steps);
        sm.run(&steps, &mut policies, &mut ()).unwrap();
        if !end && blocks.len() == 0 {
            return;
        }
        while sm.take_ended(&mut result).is_some() {}
    }
}

#[test]
fn an_sm_that_restarts_is_a_new_one() {
    let mut left = 0;
    for seed in 0..300 {
        let launch = launch(seed);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let policy = &POLICIES[seed as usize % POLICIES.len()];
        let layout = Layout::of(&launch.blocks[0], 1 + seed as u32 % 3);
        let mut sm = Sm::new(&table, layout);
        run(&mut sm, &launch, policy, layout, seed % 2 == 0);
        // the number of CTA slots changes with the next launch
        let next = Layout::of(&launch.blocks[0], 1 + seed as u32 / 2 % 3);
        let new = Sm::new(&table, next);
        if seed % 10 == 0 {
            left += differences(&sm, &new).len();
        }
        sm.restart(next);
        let differ = differences(&sm, &new);
        assert!(differ.is_empty(), "seed {seed}, {policy}: a restarted SM is not new: {differ:#?}");
    }
    assert!(left > 1000, "the runs left {left} fields changed");
}

/// The same test for policies, which restart with each block where one is resident at a time: a
/// block after others behaves as it would alone.
#[test]
fn a_block_after_others_runs_as_it_would_alone() {
    for seed in 0..700 {
        let launch = launch(1000 + seed);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let Ok(machine) = PaperMachine::of(&launch.machine) else { continue };
        let policy = &POLICIES[seed as usize % POLICIES.len()];
        let mut again = Engine::new(&table, machine);
        let mut policies = policy.policies(&launch.machine);
        for block in &launch.blocks {
            let alone = Engine::new(&table, machine).run_block(block, policy, &mut ()).unwrap();
            let after = again.run_block_with(block, &mut policies, &mut ()).unwrap();
            assert_eq!(after, alone, "seed {seed}, {policy}");
        }
    }
}
