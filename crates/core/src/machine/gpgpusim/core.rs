//! The SM: the number of SMs, the resident warps and blocks, the schedulers, and the stages between
//! issue and the units.

use super::Import;
use super::values::{number, numbers, scalar};

/// The number of threads of a warp.
const WARP: u32 = 32;

pub(super) fn translate(import: &mut Import<'_>) {
    sms(import);
    residents(import);
    let schedulers = issue(import);
    collector(import);
    pipes(import, schedulers);
    if let Some(latency) = import.value("-gpgpu_kernel_launch_latency", scalar::<u64>) {
        // GPGPU-Sim begins to place blocks one cycle later
        let before = import.base.pipeline.as_ref().map_or(0, |pipeline| pipeline.launch.first);
        import.set("-gpgpu_kernel_launch_latency", "pipeline.launch.first", latency.saturating_add(before));
    }
}

fn sms(import: &mut Import<'_>) {
    let clusters = import.value("-gpgpu_n_clusters", scalar::<u32>);
    let cores = import.value("-gpgpu_n_cores_per_cluster", scalar::<u32>);
    let Some(sms) = clusters.unwrap_or(1).checked_mul(cores.unwrap_or(1)).filter(|&sms| sms > 0) else {
        return import.wrong("-gpgpu_n_clusters", "there is no SM, or too many".to_owned());
    };
    import.set(
        if clusters.is_some() { "-gpgpu_n_clusters" } else { "-gpgpu_n_cores_per_cluster" },
        "sms",
        sms,
    );
    if cores.is_some_and(|cores| cores > 1) {
        import.note(
            "-gpgpu_n_cores_per_cluster",
            "in GPGPU-Sim the SMs of a cluster share a port of the interconnect; here each has its own",
        );
    }
}

fn residents(import: &mut Import<'_>) {
    let threads = import.value("-gpgpu_shader_core_pipeline", |text| {
        let (threads, warp) = text.split_once(':').ok_or("the form is THREADS:WARP_SIZE")?;
        let (threads, warp): (u32, u32) = (number(threads)?, number(warp)?);
        match warp {
            WARP if threads >= WARP && threads.is_multiple_of(WARP) => Ok(threads),
            WARP => Err(format!("{threads} threads are not a whole number of warps")),
            other => Err(format!("warps have 32 threads here, not {other}")),
        }
    });
    if let Some(threads) = threads {
        import.set("-gpgpu_shader_core_pipeline", "limits.threads", threads);
        import.set("-gpgpu_shader_core_pipeline", "limits.warps", threads / WARP);
    }
    for (name, path) in [
        ("-gpgpu_shader_cta", "limits.blocks"),
        ("-gpgpu_shader_registers", "limits.registers"),
        ("-gpgpu_shmem_size", "limits.shared_bytes"),
    ] {
        if let Some(limit) = import.value(name, scalar::<u32>) {
            import.set(name, path, limit);
        }
    }
    // versions of GPGPU-Sim before 4 do not have this option
    if let Some(bytes) = import.optional("-gpgpu_shmem_per_block", scalar::<u32>) {
        import.set("-gpgpu_shmem_per_block", "limits.shared_bytes_per_block", bytes);
    } else if let Some(bytes) = import.optional("-gpgpu_shmem_size", scalar::<u32>) {
        import.set("-gpgpu_shmem_size", "limits.shared_bytes_per_block", bytes);
    }
}

/// Translates the options of the schedulers and returns the number of schedulers of an SM.
fn issue(import: &mut Import<'_>) -> u32 {
    let schedulers = import.value("-gpgpu_num_sched_per_core", scalar::<u32>);
    if let Some(schedulers) = schedulers {
        import.set("-gpgpu_num_sched_per_core", "sub_cores", schedulers);
    }
    if let Some(policy) = import.value("-gpgpu_scheduler", |text| Ok(text.to_owned())) {
        match policy.split(':').collect::<Vec<_>>().as_slice() {
            [kept @ ("gto" | "lrr")] => {
                let kind = if *kept == "gto" { "Gto" } else { "Lrr" };
                import.set("-gpgpu_scheduler", "policy", kind);
            }
            ["old"] => import.set("-gpgpu_scheduler", "policy", "Oldest"),
            ["two_level_active", active, ..] if active.parse::<u32>().is_ok() => {
                import.set("-gpgpu_scheduler", "policy", "TwoLevel");
                import.set("-gpgpu_scheduler", "two_level_active", *active);
                import
                    .note("-gpgpu_scheduler", "here both levels use round robin, as in the policy two-level");
            }
            _ => import
                .note("-gpgpu_scheduler", "this policy is not simulated; the policy of the base is kept"),
        }
    }
    if let Some(issues) = import.value("-gpgpu_max_insn_issue_per_warp", scalar::<u32>) {
        import.set("-gpgpu_max_insn_issue_per_warp", "pipeline.issue.per_warp", issues.clamp(1, 2));
        if !(1..=2).contains(&issues) {
            import.note("-gpgpu_max_insn_issue_per_warp", "a warp issues 1 or 2 instructions in a cycle");
        }
    }
    if let Some(distinct) = import.flag("-gpgpu_dual_issue_diff_exec_units") {
        import.set("-gpgpu_dual_issue_diff_exec_units", "pipeline.issue.distinct_units", distinct);
    }
    if let Some(fetches) = import.value("-gpgpu_inst_fetch_throughput", scalar::<u32>) {
        import.set("-gpgpu_inst_fetch_throughput", "pipeline.front_end.fetches", fetches);
    }
    schedulers.or(import.base.sub_cores).unwrap_or(1)
}

fn collector(import: &mut Import<'_>) {
    for (name, path) in [
        ("-gpgpu_operand_collector_num_units_gen", "pipeline.collector.units"),
        ("-gpgpu_operand_collector_num_in_ports_gen", "pipeline.collector.ports"),
        ("-gpgpu_num_reg_banks", "pipeline.collector.banks"),
        ("-gpgpu_reg_file_port_throughput", "pipeline.collector.steps"),
    ] {
        if let Some(number) = import.value(name, scalar::<u32>) {
            import.set(name, path, number);
        }
    }
    if let Some(out) = import.optional("-gpgpu_operand_collector_num_out_ports_gen", scalar::<u32>)
        && import.optional("-gpgpu_operand_collector_num_in_ports_gen", scalar::<u32>) != Some(out)
    {
        import.note(
            "-gpgpu_operand_collector_num_out_ports_gen",
            "here as many instructions may leave as may enter",
        );
    }
    if import.optional_flag("-gpgpu_enable_specialized_operand_collector") == Some(true) {
        import.note(
            "-gpgpu_enable_specialized_operand_collector",
            "all units of the collector are generic here",
        );
    }
}

/// Translates the widths of the pipeline registers between the stages, and the number of units of
/// each kind.
fn pipes(import: &mut Import<'_>, schedulers: u32) {
    const WIDTHS: &str = "-gpgpu_pipeline_widths";
    if let Some(widths) = import.value(WIDTHS, |text| numbers(text, 11)) {
        import.set(WIDTHS, "pipeline.result_buses", widths[10]);
        if widths
            .iter()
            .enumerate()
            .any(|(place, &width)| place != 10 && width > 0 && width != u64::from(schedulers))
        {
            import.note(
                WIDTHS,
                "each scheduler has one register before and behind its collector for each kind of unit",
            );
        }
    }
    for name in [
        "-gpgpu_num_sp_units",
        "-gpgpu_num_sfu_units",
        "-gpgpu_num_dp_units",
        "-gpgpu_num_int_units",
        "-gpgpu_num_tensor_core_units",
    ] {
        let Some(units) = import.optional(name, scalar::<u32>) else { continue };
        if units != 0 && units != schedulers {
            import.note(
                name,
                format!(
                    "here each of the {schedulers} schedulers has one unit of its own, not {units} for all"
                ),
            );
        }
    }
    if import.optional_flag("-gpgpu_sub_core_model") == Some(false) {
        import.note(
            "-gpgpu_sub_core_model",
            "in GPGPU-Sim the schedulers share units and collector; here each has its own",
        );
    }
    if import.optional_flag("-gpgpu_perfect_inst_const_cache") == Some(false) {
        import.note("-gpgpu_perfect_inst_const_cache", "here the instruction cache is always perfect");
    }
}
