//! The register hazards that the scoreboard checks.

use bitflags::bitflags;

use super::range::Check;
use super::value::Checked;
use crate::machine::written::Hazard;

bitflags! {
    /// The register hazards that can prevent an instruction from issuing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Hazards: u8 {
        /// Sources must be available (read after write).
        const RAW = 1;
        /// Destinations must be available (write after write).
        const WAW = 2;
    }
}

impl Hazards {
    /// Returns the hazards of a machine: by default, only read after write.
    pub(super) fn of(written: Option<&[Hazard]>, check: &mut Check) -> Option<Checked<Self>> {
        let one = |hazard: &Hazard| match hazard {
            Hazard::Raw => Self::RAW,
            Hazard::Waw => Self::WAW,
        };
        let hazards = written.map_or(Self::RAW, |list| list.iter().map(one).collect());
        Checked::new(hazards, check, |hazards, check| {
            if !hazards.contains(Self::RAW) {
                let message = "a machine that ignores read-after-write hazards computes nonsense".to_owned();
                check.problem("hazards", message, "hazards: [Raw] or [Raw, Waw]");
            }
        })
    }
}
