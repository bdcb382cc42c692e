//! PLB, the bound of machines whose SMs have a pipeline.

use super::claim::Claim;
use super::context::{Applicable, Context, NotApplicable};
use super::contract::{Bound, LaunchFigures, Scope, Standing};
use super::section::SectionAnalysis;
use super::value::BoundValue;
use warpbound_core::machine::Feature;

/// The pipeline bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plb;

impl Bound for Plb {
    fn name(&self) -> &'static str {
        "plb"
    }

    fn summary(&self) -> &'static str {
        "pipeline bound, proved, of launches on machines with fetch, operand collector, result buses or load/store unit: all service, plus what blocks wait for latencies, shared by the places"
    }

    fn standing(&self) -> Standing {
        Standing::Proved
    }

    fn scope(&self) -> Scope {
        Scope::Launch
    }

    fn concerns(&self, context: &Context) -> bool {
        let stages = [Feature::FrontEnd, Feature::Collector, Feature::ResultBuses, Feature::LoadStore];
        stages.into_iter().any(|stage| context.beyond.contains(stage))
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
}
