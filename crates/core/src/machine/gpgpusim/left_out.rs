//! Options that have no counterpart, with the reasons.

const PRINTED: &str = "says what is printed, not what takes time";
const FUNCTION: &str = "says how kernels are executed or compiled, not what takes time";
const POWER: &str = "energy is not simulated";
const TEXTURES: &str = "textures go the way of global loads here";
const SPECIAL: &str = "units of single kinds of instructions of traces, which count where -trace_opcode_latency_initiation_int is given";
const RUN: &str = "says when the simulator stops or what it takes, not what the machine is";
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
        "the one that there is, reconvergence at the immediate post-dominator, is the base's",
    ),
    ("-gpgpu_registers_per_block", "occupancy goes by the registers of the SM"),
    ("-gpgpu_ignore_resources_limitation", "occupancy always counts"),
    ("-gpgpu_tex_cache", TEXTURES),
    ("-gpgpu_cache:il1", "the instruction cache is perfect; `pipeline.front_end.icache` has another form"),
    ("-gpgpu_cache:dl1Pref", "there is one division of L1 and shared memory"),
    ("-gpgpu_shmem_sizeDefault", "there is one division of L1 and shared memory"),
    ("-gpgpu_shmem_sizePref", "there is one division of L1 and shared memory"),
    ("-gpgpu_cache:dl2_texture_only", TEXTURES),
    ("-gpgpu_l1_cache_write_ratio", "lines that were written are replaced as others"),
    ("-gpgpu_L2_cache_write_ratio", "lines that were written are replaced as others"),
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
    ("-trace_opcode_latency_initiation_spec", SPECIAL),
    ("-specialized_unit", SPECIAL),
    (
        "-trace_opcode_latency_initiation",
        "of traces, which count where -trace_opcode_latency_initiation_int is given",
    ),
    ("-trace", PRINTED),
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
    ("-gpgpu_shmem_num_banks", "`shared_memory` of a machine says how many banks there are"),
    ("-gpgpu_mem_unit_ports", POLICY),
    ("-gpgpu_coalesce_arch", "transactions are sectors of 32 bytes: `pipeline.load_store.transaction`"),
    ("-gpgpu_num_mem_units", "there is one load/store unit per SM"),
    ("-gpgpu_tensor_core_avail", "`tensor` is a unit like others"),
    ("-gpgpu_num_reg_banks_", POLICY),
    ("-gpgpu_reg_bank_use_warp_id", "the bank of a register depends on the warp, always"),
    ("-gpgpu_operand_collector_num", "units of the collector of single kinds: here all are generic"),
    ("-gpgpu_local_mem_map", "local memory lies as the kernel's launch says"),
    ("-gpgpu_mem_address_mask", "the mapping is that of -gpgpu_mem_addr_mapping"),
    ("-gpgpu_mem_addr_test", RUN),
    (
        "-dram_dual_bus_interface",
        "one command of DRAM in a tick, but for a row command before a column command",
    ),
    ("-dram_bnk_indexing_policy", "banks are numbered as their bits say"),
    ("-dram_seperate_write_queue_enable", POLICY),
    ("-dram_write_queue_size", POLICY),
    ("-gpgpu_dram_sched_queue_size", "of the FIFO scheduler of old versions"),
    ("-dram_elimnate_rw_turnaround", POLICY),
    ("-gpgpu_simple_dram_model", POLICY),
    ("-network_mode", "the interconnect is a crossbar (`local_interconnect` there)"),
    ("-inter_config_file", "the interconnect is a crossbar (`local_interconnect` there)"),
    ("-icnt_out_buffer_limit", "queues are as long at both ends of the crossbar: -icnt_in_buffer_limit"),
    ("-icnt_subnets", "requests and replies have a network each"),
    ("-icnt_flit_size", "a packet is one flit, as in that crossbar"),
    ("-icnt_arbiter_algo", "the crossbar is iSLIP, as there"),
    ("-icnt_grant_cycles", "the crossbar is iSLIP, as there"),
    ("-icnt_verbose", PRINTED),
    (
        "-gpgpu_n_ldst_response_buffer_size",
        "2 replies wait at the load/store unit: `pipeline.load_store.replies`",
    ),
    ("-gpgpu_l1_cache_bypass", POLICY),
    ("-gpgpu_l1_banks_byte_interleaving", "lines are dealt out to the banks of the L1"),
    ("-gpgpu_l1_banks_hashing_function", "lines are dealt out to the banks of the L1"),
];

/// Returns the reason why an option has no counterpart, if it is known.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    REASONS.iter().find(|(begins, _)| name.starts_with(begins)).map(|&(_, reason)| reason)
}

/// Returns the names, for the search for similar ones.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|&(name, _)| name)
}
