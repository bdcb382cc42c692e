//! Parameterised families of micro kernels.

use std::fmt::Write;

use warpbound_core::diag::{Diagnostic, Diagnostics};

/// The ping-pong family (`warpbound::model`, section 12): two warps for which GUB
/// fails by a factor that grows with the number of stages.
///
/// The units a1 to am and b1 to bm have initiation interval P and latency 0. For each stage s, the
/// first warp executes n instructions on a_s. Each of them reads the gate of the previous stage.
/// Then the warp executes a gate, which is one instruction on b_s; the last stage has no gate. The
/// second warp does the same with a and b exchanged. When a warp runs alone, its stages overlap
/// almost fully. When both run, each gate waits behind the other warp's queue, so that the stages
/// are serialised.
///
/// In the gated variant, each gate also reads the result of a short instruction on a unit x (init
/// 1, lat 2). A greedy warp therefore stalls before its gate, and gto switches to the other warp,
/// too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong {
    /// P: the initiation interval of the units in cycles.
    pub period: u64,
    /// m: the number of stages, and half the number of units.
    pub stages: u64,
    /// n: the number of instructions of a stage without the gate.
    pub length: u64,
    /// Whether each gate reads the result of a short instruction.
    pub gated: bool,
}

/// A kernel and its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelAndMachine {
    /// The content of the `.warp` file, which names the machine's file.
    pub kernel: String,
    /// The content of the machine's `.ron` file.
    pub machine: String,
}

/// The maximum number of units of a machine, not counting that of barriers.
const MAX_UNITS: u64 = 63;
/// The maximum initiation interval of a machine in cycles.
const MAX_PERIOD: u64 = 1 << 32;
/// The maximum number of instructions of a kernel file.
const MAX_INSTRUCTIONS: u64 = 1 << 20;

impl PingPong {
    /// Returns the number of instructions of both warps.
    fn instructions(&self) -> u64 {
        let gate = if self.gated { 2 } else { 1 };
        let work = self.stages.saturating_mul(self.length);
        work.saturating_add(self.stages.saturating_sub(1).saturating_mul(gate)).saturating_mul(2)
    }

    /// Checks the parameters.
    fn check(&self) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut problem = |name: &str, value: u64, message: String, hint: &str| {
            problems.push(Diagnostic::general(format!("--{name} {value}"), message).hint(hint));
        };
        let Self { period, stages, length, gated } = *self;
        if !(1..=MAX_PERIOD).contains(&period) {
            let message = format!("an initiation interval is 1 to {MAX_PERIOD} cycles");
            problem("p", period, message, "for example 8, 16 or 32");
        }
        let most = (MAX_UNITS - u64::from(gated)) / 2;
        if stages == 0 || stages > most {
            let message = format!(
                "{stages} stages need {} units",
                stages.saturating_mul(2).saturating_add(u64::from(gated))
            );
            let hint = format!(
                "1 to {most} stages: a machine has at most 64 units, one of them for barriers{}",
                if gated { ", and the gates need one" } else { "" }
            );
            problem("m", stages, message, &hint);
        }
        if length == 0 {
            problem("n", length, "a stage has at least one instruction".to_owned(), "for example n = P");
        }
        // the file also contains two exits
        if self.instructions().saturating_add(2) > MAX_INSTRUCTIONS {
            let message =
                format!("{} instructions; a kernel has at most {MAX_INSTRUCTIONS}", self.instructions());
            problem("n", length, message, "lower --n or --m");
        }
        problems.into_result(())
    }

    /// Returns the kernel, which names the machine by `machine_file`, and the machine.
    ///
    /// # Errors
    /// Returns a diagnostic for each parameter that is out of range.
    pub fn files(&self, machine_file: &str) -> Result<KernelAndMachine, Diagnostics> {
        self.check()?;
        Ok(KernelAndMachine { kernel: self.kernel(machine_file), machine: self.machine() })
    }

    fn title(&self) -> String {
        let gated = if self.gated { "gated " } else { "" };
        format!("{gated}ping-pong family, P {}, m {}, n {}", self.period, self.stages, self.length)
    }

    fn kernel(&self, machine_file: &str) -> String {
        let mut text = format!("# {}\n.machine {machine_file}\n", self.title());
        for (own, other) in [('a', 'b'), ('b', 'a')] {
            text.push_str(".warps 1\n");
            for stage in 1..=self.stages {
                for _ in 0..self.length {
                    let _ = match stage {
                        1 => writeln!(text, "    {own}{stage}"),
                        _ => writeln!(text, "    {own}{stage} _, gate{}", stage - 1),
                    };
                }
                if stage == self.stages {
                    continue;
                }
                let _ = if self.gated {
                    writeln!(text, "    x stall{stage}\n    {other}{stage} gate{stage}, stall{stage}")
                } else {
                    writeln!(text, "    {other}{stage} gate{stage}")
                };
            }
            text.push_str("    ret\n");
        }
        text
    }

    fn machine(&self) -> String {
        let mut units = String::new();
        let mut ops = Vec::new();
        let mut unit = |name: String, init: u64, lat: u64| {
            let _ = writeln!(units, "        \"{name}\": Unit(init: {init}, lat: {lat}),");
            ops.push(format!("\"{name}\": \"{name}\""));
        };
        for stage in 1..=self.stages {
            unit(format!("a{stage}"), self.period, 0);
            unit(format!("b{stage}"), self.period, 0);
        }
        if self.gated {
            unit("x".to_owned(), 1, 2);
        }
        format!(
            "Machine(\n    name: \"ping-pong\",\n    doc: \"{}\",\n    policy: Lrr, hazards: [Raw],\n    units: {{\n{units}    }},\n    ops: {{ {} }},\n)\n",
            self.title(),
            ops.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micro::MicroKernel;
    use warpbound_core::diag::SourceText;

    #[test]
    fn the_kernel_has_the_expected_number_of_instructions() {
        for (period, stages, length, gated, instructions) in [
            (8, 3, 8, false, 52),
            (16, 4, 16, false, 134),
            (32, 8, 32, false, 526),
            (16, 4, 16, true, 140),
            (1, 1, 1, false, 2),
        ] {
            let family = PingPong { period, stages, length, gated };
            let files = family.files("machine.ron").unwrap();
            let kernel = MicroKernel::parse("k", &SourceText::new("k", files.kernel)).unwrap();
            assert_eq!(family.instructions(), instructions);
            assert_eq!(kernel.program.instrs.len() as u64, instructions + 2, "and two exits");
            assert_eq!((kernel.machine.as_deref(), kernel.warps.len()), (Some("machine.ron"), 2));
        }
    }

    #[test]
    fn parameters_out_of_range_are_named_all_at_once() {
        let wrong = PingPong { period: 0, stages: 32, length: 0, gated: false };
        let shown = wrong.files("m").unwrap_err().to_string();
        for part in ["--p 0", "--m 32", "64 units", "1 to 31 stages", "--n 0"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let fits = PingPong { period: 1, stages: 31, length: 1, gated: false };
        assert!(fits.files("m").is_ok());
        assert!(PingPong { gated: true, ..fits }.files("m").is_ok(), "62 units, x, barrier");
        assert!(PingPong { stages: 32, gated: true, ..fits }.files("m").is_err());
        let huge = PingPong { length: u64::MAX, ..fits };
        assert!(huge.files("m").unwrap_err().to_string().contains("at most 1048576"));
    }
}
