//! PLB, the bound of machines whose SMs have a pipeline.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, LaunchFigures, Scope, Standing};
use super::parts::BoundPart;
use super::section::SectionAnalysis;
use super::value::BoundValue;
use warpbound_core::machine::Feature;

/// The pipeline bound, for launches on machines with stages in front of the units: fetch, an
/// operand collector, result buses, or a load/store unit, with or without the memory system behind
/// it. It bounds the launch, from its start to its end, with any number of blocks and SMs.
///
/// The *service* of an instruction is the number of cycles for which it may keep busy what others
/// wait for: its init on a unit, or its transactions in the load/store unit. An instruction that
/// passes several stages counts once, with the longest service. The *latency* of an instruction is
/// the number of cycles from its issue to its result in which nothing needs to be served. The
/// *span* of a warp in a section is the largest sum of latencies along a path of instructions that
/// follow or wait for each other. [`proofs::plb`](super::proofs::plb) defines all three. Let
///
/// ```text
/// S    = the sum of all services on an SM
/// G    = the number of fetches and of arriving lines there; each takes one of `fetches` turns of
///        a cycle
/// Λ_b  = the sum over the sections of block b of the largest span of a warp, plus launch.start,
///        plus launch.refill if n > R, plus 1 with front_end.ends_warps
/// F    = launch.first + launch.end + (n - 1) / blocks_per_cycle + (n - 1) / total_blocks_per_cycle,
///        plus the cold misses of the instruction cache if all code has a place in it
/// ```
///
/// For a launch of n blocks, of which an SM holds R at a time,
///
/// ```text
/// n <= R:   PLB = F + S + G / fetches + max_b Λ_b
/// n > R:    PLB = F + S + G / fetches + (sum of all Λ_b) / R + max_b (Λ_b - Λ_b / R)
/// ```
///
/// Several SMs share the blocks as in [`Rbb`](super::Rbb). Several sub-cores without a collector
/// count as in [`Rbb`](super::Rbb), too; with a collector, S contains the services of all
/// sub-cores.
///
/// With instruction caches, F contains the requests for lines of code that are made once, G those
/// that may be made again, and a span includes the arrivals of lines.
///
/// With an L1, a crossbar, slices and DRAM, F also contains what requests cost beside the services of
/// their instructions: in DRAM, on their way back from it, in slices that are full, and while a
/// cache cannot track another fetch. [`proofs::memory`](super::proofs::memory) states them.
///
/// # Premises
/// A work-conserving policy and barriers of all warps. Machines with ports of register banks, a cache
/// for constants without a crossbar, memory of fixed latency that does not accept every request at
/// once, jitter without a largest value, or random placement are not covered.
///
/// # The slack
/// All services count as if no two stages ever worked at the same time, as in [`Rbb`](super::Rbb).
/// A path counts the longest way through the collector for each instruction that another one waits
/// for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plb;

impl Bound for Plb {
    fn name(&self) -> &'static str {
        "plb"
    }

    fn summary(&self) -> &'static str {
        "pipeline bound, proved, of launches on machines with fetch, instruction caches, operand collector, result buses, load/store unit, caches or DRAM: all service, plus what blocks wait for latencies, shared by the places"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn scope(&self) -> Scope {
        Scope::Launch
    }

    fn concerns(&self, context: &Context) -> bool {
        let stages = [
            Feature::FrontEnd,
            Feature::InstructionCaches,
            Feature::Collector,
            Feature::ResultBuses,
            Feature::LoadStore,
        ];
        stages.into_iter().any(|stage| context.beyond.contains(stage))
    }

    fn needs_sections(&self) -> bool {
        false
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        context.launch_premises(Claim::Plb)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        // the bound says nothing about a section by itself
        values.clear();
        values.resize(section.warps().len(), BoundValue::default());
    }

    fn of_launch(&self, launch: &LaunchFigures) -> BoundValue {
        launch.pipelined.value()
    }

    fn parts_of_launch(&self, launch: &LaunchFigures) -> Vec<BoundPart> {
        launch.pipelined.parts()
    }
}
