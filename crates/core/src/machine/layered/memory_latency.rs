//! The option `--mem-latency`, which sets the latency of global memory.

use crate::diag::Diagnostic;
use crate::isa::GLOBAL_LOAD;
use crate::machine::written::{MachineSpec, OpSpec, TimedOpSpec};

impl MachineSpec {
    /// Returns the same machine with a global load that takes `total` cycles from its start to its
    /// result.
    ///
    /// The op classes that run on the same unit with the unit's own timing change accordingly.
    ///
    /// # Errors
    /// The machine has no global loads, memory is behind a load/store unit, or the initiation
    /// interval alone exceeds `total`.
    pub fn with_memory_latency(mut self, total: u64) -> Result<Self, Diagnostic> {
        let place = format!("--mem-latency {total}");
        if self.pipeline.as_ref().is_some_and(|pipeline| pipeline.load_store.is_some()) {
            let message = "on this machine memory is behind a load/store unit and has no such latency";
            return Err(Diagnostic::general(place, message)
                .hint("for example --set memory.lower=Fixed --set memory.fixed.latency=200"));
        }
        let none =
            || Diagnostic::general(place.clone(), format!("this machine maps no op class `{GLOBAL_LOAD}`"));
        let op = self.ops.get_mut(GLOBAL_LOAD).ok_or_else(none)?;
        let unit = match op {
            OpSpec::Unit(unit) => unit.clone(),
            OpSpec::Timed(timed) => timed.unit.clone(),
        };
        let unit = self.units.get_mut(&unit).ok_or_else(none)?;
        let (init, lat, source) = match op {
            OpSpec::Timed(TimedOpSpec { init, lat: Some(lat), source, .. }) => {
                (init.unwrap_or(unit.init), lat, source)
            }
            OpSpec::Timed(TimedOpSpec { init, lat: None, .. }) => {
                (init.unwrap_or(unit.init), &mut unit.lat, &mut unit.source)
            }
            OpSpec::Unit(_) => (unit.init, &mut unit.lat, &mut unit.source),
        };
        let latency = total.checked_sub(init).ok_or_else(|| {
            Diagnostic::general(
                place.clone(),
                format!("the initiation of a global load alone takes {init} cycles"),
            )
        })?;
        if latency != *lat {
            (*lat, *source) = (latency, place.clone());
        }
        Ok(self)
    }
}
