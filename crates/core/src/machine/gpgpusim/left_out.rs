//! Options that have no counterpart, with the reasons.

const PRINTED: &str = "controls what is printed and does not affect times";
const FUNCTION: &str = "controls how kernels are executed or compiled and does not affect times";
const POWER: &str = "energy is not simulated";
const TEXTURES: &str = "here textures take the path of global loads";
const RUN: &str = "controls a run of the simulator and does not describe the machine";
const POLICY: &str = "not simulated";

/// Prefixes of options, or complete names, with the reason.
const REASONS: &[(&str, &str)] = &[
    ("-gpgpu_ptx_instruction_classification", PRINTED),
    ("-gpgpu_ptx", FUNCTION),
    ("-gpgpu_stack_size_limit", FUNCTION),
    ("-gpgpu_heap_size_limit", FUNCTION),
    ("-gpgpu_runtime_sync_depth_limit", FUNCTION),
    ("-gpgpu_runtime_pending_launch_count_limit", FUNCTION),
    ("-gpgpu_runtime_stat", PRINTED),
    ("-gpgpu_compute_capability", FUNCTION),
    ("-gpgpu_occupancy_sm_number", FUNCTION),
    ("-gpgpu_max_concurrent_kernel", "kernels run one after the other"),
    ("-gpgpu_concurrent_kernel_sm", "kernels run one after the other"),
    (
        "-gpgpu_simd_model",
        "the only possible value, reconvergence at the immediate post-dominator, is that of the base",
    ),
    ("-gpgpu_registers_per_block", "occupancy depends on the registers of the SM"),
    ("-gpgpu_ignore_resources_limitation", "the limits of occupancy always apply"),
    ("-gpgpu_tex_cache", TEXTURES),
    ("-gpgpu_cache:il1", "the instruction cache is perfect; `pipeline.front_end.icache` has another form"),
    ("-gpgpu_cache:dl1Pref", "there is one division of L1 and shared memory"),
    ("-gpgpu_shmem_sizeDefault", "there is one division of L1 and shared memory"),
    ("-gpgpu_shmem_sizePref", "there is one division of L1 and shared memory"),
    ("-gpgpu_cache:dl2_texture_only", TEXTURES),
    ("-gpgpu_l1_cache_write_ratio", "lines that were written are replaced like other lines"),
    ("-gpgpu_L2_cache_write_ratio", "lines that were written are replaced like other lines"),
    ("-gpgpu_fill_port_width", "caches have one port width"),
    ("-gpgpu_clock_gated_lanes", POWER),
    ("-power", POWER),
    ("-accelwattch", POWER),
    ("-gpuwattch", POWER),
    ("-hw_perf", POWER),
    ("-aggregate_power_stats", POWER),
    ("-steady", POWER),
    ("-dvfs_enabled", POWER),
    ("-mcpat_xml_file", POWER),
    ("-visualizer", PRINTED),
    ("-enable_ptx_file_line_stats", PRINTED),
    ("-gpgpu_memlatency_stat", PRINTED),
    ("-gpgpu_cflog_interval", PRINTED),
    ("-gpgpu_stat_sample_freq", PRINTED),
    ("-gpgpu_warpdistro_shader", PRINTED),
    ("-gpgpu_warp_issue_shader", PRINTED),
    ("-gpu_stat_sample_freq", PRINTED),
    ("-liveness_message_freq", PRINTED),
    ("-save_embedded_ptx", FUNCTION),
    ("-keep", FUNCTION),
    ("-trace_enabled", PRINTED),
    ("-trace_components", PRINTED),
    ("-trace_sampling", PRINTED),
    ("-gpgpu_max_cycle", RUN),
    ("-gpgpu_max_insn", RUN),
    ("-gpgpu_max_cta", RUN),
    ("-gpgpu_max_completed_cta", RUN),
    ("-gpgpu_deadlock_detect", RUN),
    ("-checkpoint", RUN),
    ("-resume", RUN),
    ("-gpgpu_TB_launch_latency", "blocks are placed at once"),
    ("-gpgpu_cdp_enabled", "kernels do not launch kernels"),
    ("-gpgpu_interwarp_mshr_merge", POLICY),
    ("-gpgpu_shmem_limited_broadcast", "shared memory broadcasts every word"),
    ("-gpgpu_shmem_warp_parts", "the lanes of a warp access shared memory together"),
    ("-gpgpu_shmem_num_banks", "`shared_memory` of a machine sets the number of banks"),
    ("-gpgpu_mem_unit_ports", POLICY),
    ("-gpgpu_coalesce_arch", "transactions are sectors of 32 bytes: `pipeline.load_store.transaction`"),
    ("-gpgpu_num_mem_units", "there is one load/store unit per SM"),
    ("-gpgpu_tensor_core_avail", "`tensor` is a unit like others"),
    ("-gpgpu_num_reg_banks_", POLICY),
    ("-gpgpu_reg_bank_use_warp_id", "the bank of a register always depends on the warp"),
    (
        "-gpgpu_operand_collector_num",
        "collector units for single kinds of instructions; here all collector units are generic",
    ),
    ("-gpgpu_local_mem_map", "the launch of the kernel determines the layout of local memory"),
    ("-gpgpu_mem_address_mask", "the mapping is that of -gpgpu_mem_addr_mapping"),
    ("-gpgpu_mem_addr_test", RUN),
    (
        "-dram_dual_bus_interface",
        "in a tick, DRAM issues one command, or a row command and then a column command",
    ),
    ("-dram_bnk_indexing_policy", "the bank bits of an address are the number of the bank"),
    ("-dram_seperate_write_queue_enable", POLICY),
    ("-dram_write_queue_size", POLICY),
    ("-gpgpu_dram_sched_queue_size", "the queue of the FIFO scheduler of old versions"),
    ("-dram_elimnate_rw_turnaround", POLICY),
    ("-gpgpu_simple_dram_model", POLICY),
    ("-network_mode", "the interconnect is a crossbar (`local_interconnect` in GPGPU-Sim)"),
    ("-inter_config_file", "the interconnect is a crossbar (`local_interconnect` in GPGPU-Sim)"),
    (
        "-icnt_out_buffer_limit",
        "the queues at both ends of the crossbar have the same length, -icnt_in_buffer_limit",
    ),
    ("-icnt_subnets", "requests and replies have a network each"),
    ("-icnt_flit_size", "a packet is one flit, as in GPGPU-Sim's crossbar"),
    ("-icnt_arbiter_algo", "the crossbar uses iSLIP, as in GPGPU-Sim"),
    ("-icnt_grant_cycles", "the crossbar uses iSLIP, as in GPGPU-Sim"),
    ("-icnt_verbose", PRINTED),
    (
        "-gpgpu_n_ldst_response_buffer_size",
        "2 replies wait at the load/store unit: `pipeline.load_store.replies`",
    ),
    ("-gpgpu_l1_cache_bypass", POLICY),
    ("-gpgpu_l1_banks_byte_interleaving", "the lines are distributed over the banks of the L1"),
    ("-gpgpu_l1_banks_hashing_function", "the lines are distributed over the banks of the L1"),
];

/// Returns the reason why an option has no counterpart, if it is known.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    // these names are also prefixes of others
    match name {
        "-trace" => return Some(RUN),
        "-config" => return Some("only the files given to import-config are read, in their order"),
        _ => {}
    }
    REASONS.iter().find(|(begins, _)| name.starts_with(begins)).map(|&(_, reason)| reason)
}

/// Returns the names, for the search for similar ones.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|&(name, _)| name)
}
