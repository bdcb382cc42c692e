//! Machines of the paper model.

use crate::error::BeyondPaper;
use warpbound_core::machine::{Machine, SubCores};

/// A machine without any feature beyond the paper model, so that the engine of the paper model can
/// simulate it.
#[derive(Clone, Copy, Debug)]
pub struct PaperMachine<'a>(&'a Machine);

impl<'a> PaperMachine<'a> {
    /// Wraps a machine of the paper model.
    ///
    /// # Errors
    /// Returns an error if the machine has a feature that the paper model lacks.
    pub fn of(machine: &'a Machine) -> Result<Self, BeyondPaper> {
        let features = machine.beyond_the_paper_model();
        if features.is_empty() {
            return Ok(Self(machine));
        }
        Err(BeyondPaper { machine: machine.name().to_owned(), features })
    }

    /// Returns the machine.
    pub(crate) fn machine(self) -> &'a Machine {
        self.0
    }

    pub(crate) fn sub_cores(self) -> SubCores {
        self.0.sub_cores()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::diag::SourceText;
    use warpbound_core::machine::{Feature, MachineSpec};

    fn machine(settings: &str) -> Machine {
        let units = "units: { \"f0\": Unit(init: 1, lat: 0) }";
        let text = format!("Machine(name: \"m\", {units}, {settings})");
        let source = SourceText::new("m.ron", text);
        Machine::new(&MachineSpec::parse(&source).unwrap(), &source).unwrap()
    }

    #[test]
    fn a_machine_that_does_more_is_refused_with_what_it_does() {
        for own in ["", "sub_cores: 4", "pipeline: Pipeline()"] {
            assert!(PaperMachine::of(&machine(own)).is_ok(), "{own}");
        }
        let more = machine("sms: 2, pipeline: Pipeline(queue: 2, write_back: 1)");
        let error = PaperMachine::of(&more).unwrap_err();
        let features: Vec<Feature> = error.features.iter().collect();
        assert_eq!(features, [Feature::BoundedQueues, Feature::WriteBack, Feature::SeveralSms]);
        let text = error.to_string();
        assert!(text.contains("`m`") && text.contains("pipeline.queue"), "{text}");
    }
}
