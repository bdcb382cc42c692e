//! Scheduling anomalies: something gets shorter and the schedule gets longer.
//!
//! * [`phases`]: at the level of whole phases, as figure 4 of Jeanmougin et al., ECRTS 2025: some phases of three warps
//!   shrink, the policy decides otherwise, and the makespan grows. Found by search.
//! * [`series`]: at the level of instructions, on real kernels: a latency is swept down, and every
//!   place where the makespan goes up is a finding ([`series::rises`]); so is every pair of
//!   policies whose order depends on the latency ([`series::flip`]).
//!
//! An anomaly is no fault of the simulator: it is why one simulated schedule at worst-case latencies
//! says nothing about the worst case (Jeanmougin et al., ECRTS 2025, section 3.2.1), and why bounds must cover all schedules.
//! Every finding carries what it takes to simulate both of its sides again.

pub mod phases;
pub mod series;
