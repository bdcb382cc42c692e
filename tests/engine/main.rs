//! The engines: compared with hand-calculated examples, with per-cycle simulators, with another
//! simulator, and with earlier versions.

#[path = "../support/campaign.rs"]
mod campaign;
#[path = "../support/cubin.rs"]
mod cubin;
#[path = "../support/micro.rs"]
mod micro;
#[path = "../support/per_cycle.rs"]
mod per_cycle;
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

mod accelsim;
mod against_reference;
mod by_cycle;
mod check_is_run;
mod examples;
mod golden;
mod memory_features;
mod memory_system;
mod micro_table;
mod pipeline_features;
mod reference_launches;
mod register_ports;
mod several_sms;
mod switch_errors;
