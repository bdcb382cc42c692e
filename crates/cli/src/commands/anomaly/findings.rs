//! The anomalies in the makespans of a kernel, each with the commands that reproduce it.

use super::range::{Sweep, Swept};
use crate::args::Anomaly;
use crate::commands::again;
use warpbound_core::base::Cycles;
use warpbound_core::machine::Machine;
use warpbound_judge::explore::anomaly::series::{self, Makespans, Rise};
use warpbound_report::Fraction;
use warpbound_report::anomaly::{FlipFound, KernelFindings, Lead, PolicyFindings, RiseFound};
use warpbound_report::output::Origin;
use warpbound_sim::PolicySetup;

/// Builds the command that simulates one side of a finding.
pub struct Commands {
    before: Vec<String>,
    after: Vec<String>,
    swept: Swept,
}

impl Commands {
    /// Creates the builder for a kernel, named as on the command line, with the options of this
    /// run.
    pub fn new(args: &Anomaly, kernel: &str, swept: &Swept) -> Self {
        let mut before = Vec::new();
        let mut after = Vec::new();
        let option = |to: &mut Vec<String>, name: &str, value: String| to.extend([name.to_owned(), value]);
        args.machine.iter().for_each(|m| option(&mut before, "--machine", m.clone()));
        args.mem_latency.iter().for_each(|l| {
            if *swept != Swept::MemLatency {
                option(&mut before, "--mem-latency", l.to_string());
            }
        });
        args.set.iter().for_each(|s| option(&mut before, "--set", s.clone()));
        args.seed.iter().for_each(|s| option(&mut after, "--seed", s.to_string()));
        after.extend(args.ptx.words());
        before.insert(0, kernel.to_owned());
        Self { before, after, swept: swept.clone() }
    }

    /// Returns the command for a value and a policy.
    fn of(&self, value: u64, policy: &str) -> String {
        let start = ["warpbound".to_owned(), "run".to_owned()];
        let point = self.swept.option(value);
        let policy = ["--policy".to_owned(), policy.to_owned()];
        let words = start.iter().chain(&self.before).chain(&point).chain(&policy).chain(&self.after);
        again::shell_line(words)
    }
}

/// Returns every anomaly in the makespans of a kernel.
pub fn findings(
    kernel: &str,
    machine: &Machine,
    sweep: &Sweep,
    policies: &[PolicySetup],
    makespans: &Makespans,
    commands: &Commands,
    notes: Vec<String>,
) -> KernelFindings {
    let names: Vec<String> = policies.iter().map(ToString::to_string).collect();
    let of_policy = |(policy, series): (&String, &Vec<Cycles>)| {
        let found = |rise: &Rise| RiseFound {
            value_before: sweep.values[rise.before],
            value_after: sweep.values[rise.after],
            makespan_before: series[rise.before].get(),
            makespan_after: series[rise.after].get(),
            increase: rise.increase.get(),
            increase_fraction: part(rise.increase, series[rise.before]),
            command_before: commands.of(sweep.values[rise.before], policy),
            command_after: commands.of(sweep.values[rise.after], policy),
        };
        PolicyFindings {
            policy: policy.clone(),
            makespans: series.iter().map(|makespan| makespan.get()).collect(),
            rises: series::rises(series).iter().map(found).collect(),
            largest: series::largest(series).as_ref().map(found),
        }
    };
    let mut flips = Vec::new();
    for (i, first) in makespans.of_policy.iter().enumerate() {
        for (j, second) in makespans.of_policy.iter().enumerate().skip(i + 1) {
            let Some(flip) = series::flip(first, second) else { continue };
            let lead = |point: usize| Lead {
                value: sweep.values[point],
                first_makespan: first[point].get(),
                second_makespan: second[point].get(),
                lead_fraction: lead_fraction(first[point], second[point]),
                first_command: commands.of(sweep.values[point], &names[i]),
                second_command: commands.of(sweep.values[point], &names[j]),
            };
            flips.push(FlipFound {
                first: names[i].clone(),
                second: names[j].clone(),
                changes: flip.changes,
                first_leads: lead(flip.first_leads),
                second_leads: lead(flip.second_leads),
            });
        }
    }
    KernelFindings {
        kernel: kernel.to_owned(),
        origin: Origin::new(machine),
        setting: sweep.setting.name().to_owned(),
        values: sweep.values.clone(),
        blocks: makespans.blocks,
        policies: names.iter().zip(&makespans.of_policy).map(of_policy).collect(),
        flips,
        notes,
    }
}

fn part(of: Cycles, whole: Cycles) -> Fraction {
    Fraction(if whole == Cycles::ZERO { 0.0 } else { of.get() as f64 / whole.get() as f64 })
}

fn lead_fraction(a: Cycles, b: Cycles) -> Fraction {
    part(a.max(b) - a.min(b), a.max(b))
}
