//! An instance as files that the ordinary front ends read, so that anyone can check it.

use super::instance::{Instance, Together};
use super::judge::{Setting, Witness};
use crate::explore::model::Model;
use crate::explore::resident::replay_text;
use crate::explore::schedules::search;
use crate::explore::search::Limits;
use crate::explore::{replay, witness_schedule};
use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::diag::{Diagnostics, SourceText};
use warpbound_core::machine::{Machine, MachineSpec};
use warpbound_core::path::{BlockPaths, Listed};
use warpbound_core::program::TimingTable;
use warpbound_front::micro::MicroKernel;
use warpbound_sim::policy::Schedule;
use warpbound_sim::{PolicySetup, simulate};

/// An instance with a schedule, read back from its own files.
#[derive(Clone, Debug)]
pub struct WitnessFiles {
    /// The `.warp` file; it names the machine `machine.ron`.
    pub kernel_text: String,
    /// The machine's file.
    pub machine_text: String,
    /// The issue decisions, as a replay file.
    pub schedule_text: String,
    /// The kernel parsed from `kernel_text`.
    pub kernel: MicroKernel,
    /// The machine parsed from `machine_text`.
    pub spec: MachineSpec,
    /// The validated machine.
    pub machine: Machine,
}

/// The largest number of states that the exact search may visit to confirm a worst case.
const CONFIRM_STATES: u64 = 2_000_000;

impl WitnessFiles {
    /// Writes the files and reads them back. The engine replays the schedule. If the worst case is
    /// over all schedules, the exact search computes it again. Both must agree with `makespan`.
    ///
    /// # Errors
    /// Only a fault of this program causes an error.
    ///
    /// # Panics
    /// Panics if engine, search and hunt disagree, which is a fault of this program.
    pub fn new(
        instance: &Instance,
        setting: &Setting,
        schedule: &Witness,
        makespan: u64,
        name: &str,
        title: &str,
    ) -> Result<Self, Diagnostics> {
        let kernel_text = instance.kernel_text(title, "machine.ron");
        let machine_text = instance.machine_text(name, title);
        let kernel = MicroKernel::parse(name, &SourceText::new("kernel.warp", kernel_text.as_str()))?;
        let source = SourceText::new("machine.ron", machine_text.as_str());
        let spec = MachineSpec::parse(&source)?;
        let machine = Machine::new(&spec, &source)?;
        let table = TimingTable::new(&kernel.program, &machine)?;
        let schedule_text = match schedule {
            Witness::Warps(warps) => {
                let paths = kernel.paths(0);
                let replayed = replay(&table, &machine, &paths, warps, &mut ());
                assert_eq!(
                    replayed,
                    Some(Cycles::new(makespan)),
                    "the engine and the hunt disagree on a schedule"
                );
                let limits = Limits { max_states: CONFIRM_STATES, ..Limits::default() };
                if !matches!(setting, Setting::Policy(_))
                    && let Ok(model) = Model::new(&table, &paths)
                    && let Ok(found) = search(&model, limits, &ProgressMonitor::new())
                {
                    assert_eq!(found.worst, makespan, "the search and the hunt disagree on a worst case");
                }
                witness_schedule(&table, &machine, &paths, warps).expect("it was replayed just now")
            }
            Witness::Decisions(decisions) => {
                let text = replay_text(decisions);
                let blocks: Vec<BlockPaths> =
                    (0..kernel.blocks.len()).map(|block| kernel.paths(block)).collect();
                let places = instance.together.map_or(1, |Together { places, .. }| places as u32);
                let source = SourceText::new("schedule.replay", text.as_str());
                let policy = PolicySetup::Replay(Schedule::parse(&source)?);
                let mut source = Listed::new(&blocks);
                let replayed = simulate(&mut source, &table, &machine, &policy, places, &mut (), |_, _| ());
                assert_eq!(
                    replayed.map(|summary| summary.makespan),
                    Ok(Cycles::new(makespan)),
                    "the engine and the hunt disagree on a schedule"
                );
                text
            }
        };
        Ok(Self { kernel_text, machine_text, schedule_text, kernel, spec, machine })
    }
}
