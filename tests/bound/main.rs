//! Tests of the bounds: one file for each question, one binary for all.

#[path = "../support/bound_code.rs"]
mod bound_code;
#[path = "../support/bound_formulas.rs"]
mod bound_formulas;
#[path = "../support/bound_kernels.rs"]
mod bound_kernels;
#[path = "../support/bound_lwb.rs"]
mod bound_lwb;
#[path = "../support/bound_memory.rs"]
mod bound_memory;
#[path = "../support/bound_pipelined.rs"]
mod bound_pipelined;
#[path = "../support/bound_resident.rs"]
mod bound_resident;
#[path = "../support/bound_schedules.rs"]
mod bound_schedules;
#[path = "../support/bound_swb.rs"]
mod bound_swb;
#[path = "../support/campaign.rs"]
mod campaign;
#[path = "../support/launch_schedules.rs"]
mod launch_schedules;
#[path = "../support/random_accesses.rs"]
mod random_accesses;
#[path = "../support/random_kernels.rs"]
mod random_kernels;
#[path = "../support/random_memory.rs"]
mod random_memory;
#[path = "../support/reference.rs"]
mod reference;
#[path = "../support/runs.rs"]
mod runs;
#[path = "../support/settings.rs"]
mod settings;
#[path = "../support/shipped.rs"]
mod shipped;

mod beyond;
mod check_random;
mod control_codes;
mod evidence;
mod explored;
mod failed;
mod formulas;
mod lwb;
mod machine_features;
mod monotone;
mod parts;
mod pipelined;
mod pipelined_any_path;
mod pipelined_code;
mod pipelined_directed;
mod pipelined_memory;
mod pipelined_memory_directed;
mod pipelined_streams;
mod premises;
mod queues;
mod resident;
mod resident_suite;
mod schedules;
mod settled;
mod sub_cores;
mod suite;
mod swb;
mod turns;
mod witnesses;
