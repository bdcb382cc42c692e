//! Scheduling anomalies: a duration gets shorter and the schedule gets longer.
//!
//! * [`phases`]: anomalies at the level of whole phases, as in figure 4 of Jeanmougin et al., ECRTS
//!   2025: some phases of three warps shrink, the policy decides differently, and the makespan
//!   grows. They are found by search.
//! * [`series`]: anomalies at the level of instructions, on real kernels. A latency is swept down,
//!   and every point at which the makespan goes up is a finding ([`series::rises`]); so is every
//!   pair of policies whose order depends on the latency ([`series::flip`]).
//!
//! An anomaly is not a fault of the simulator. It is the reason why one simulated schedule at
//! worst-case latencies proves nothing about the worst case (Jeanmougin et al., ECRTS 2025, section
//! 3.2.1), and why bounds must cover all schedules. Every finding contains what is needed to
//! simulate both of its sides again.

pub mod phases;
pub mod series;
