//! The load/store unit, the caches, the interconnect and the memory partitions.

use super::Import;
use super::values::{CacheText, cache, number, numbers, ratio, scalar, thousandths};

pub(super) fn translate(import: &mut Import<'_>) {
    if let Some(latency) = import.value("-gpgpu_smem_latency", scalar::<u32>) {
        import.set("-gpgpu_smem_latency", "pipeline.load_store.shared_latency", latency);
    }
    first_level(import);
    constants(import);
    if import.optional_flag("-gpgpu_perfect_mem") == Some(true) {
        import.set("-gpgpu_perfect_mem", "memory.lower", "Perfect");
    }
    second_level(import);
    interconnect(import);
}

fn first_level(import: &mut Import<'_>) {
    const L1: &str = "-gpgpu_cache:dl1";
    let skipped = import.optional_flag("-gpgpu_gmem_skip_L1D") == Some(true);
    match import.value(L1, cache) {
        None => {}
        Some(None) => return import.set(L1, "memory.l1", "None"),
        Some(Some(_)) if skipped => {
            import.note(L1, "-gpgpu_gmem_skip_L1D 1: global accesses bypass it");
            return import.set("-gpgpu_gmem_skip_L1D", "memory.l1", "None");
        }
        Some(Some(text)) => {
            let text = written(import, L1, &text, None);
            import.set(L1, "memory.l1.cache", text);
        }
    }
    for (name, path) in [("-gpgpu_l1_latency", "memory.l1.latency"), ("-gpgpu_l1_banks", "memory.l1.banks")] {
        if let Some(number) = import.value(name, scalar::<u64>) {
            import.set(name, path, number);
        }
    }
    const SPLIT: &str = "-gpgpu_adaptive_cache_config";
    match import.optional_flag(SPLIT) {
        // the default of GPGPU-Sim
        None => import.set(L1, "memory.l1.split", "Off"),
        Some(false) => import.set(SPLIT, "memory.l1.split", "Off"),
        Some(true) => {
            let sizes = import.value("-gpgpu_shmem_option", |text| numbers(text, 1));
            let total = import.value("-gpgpu_unified_l1d_size", scalar::<u32>);
            let kibibytes = |sizes: Vec<u64>| {
                let bytes = sizes.iter().map(|size| size.checked_mul(1024)).collect::<Option<Vec<u64>>>();
                bytes.zip(total.and_then(|total| total.checked_mul(1024)))
            };
            match sizes.and_then(kibibytes) {
                Some((sizes, total)) => {
                    import.set(SPLIT, "memory.l1.split", format!("Fit(total: {total}, shared: {sizes:?})"));
                }
                None => import.note(
                    SPLIT,
                    "needs -gpgpu_shmem_option and -gpgpu_unified_l1d_size; the value of the base is kept",
                ),
            }
        }
    }
}

fn constants(import: &mut Import<'_>) {
    const CONSTANTS: &str = "-gpgpu_const_cache:l1";
    let perfect = import.optional_flag("-gpgpu_perfect_inst_const_cache").unwrap_or(false);
    match import.optional(CONSTANTS, cache) {
        None => {}
        Some(_) if perfect => import.note(CONSTANTS, "perfect, as -gpgpu_perfect_inst_const_cache says"),
        Some(None) => import.set(CONSTANTS, "memory.constant", "None"),
        Some(Some(text)) => {
            let text = written(import, CONSTANTS, &text, None);
            import.set(CONSTANTS, "memory.constant", text);
        }
    }
}

fn second_level(import: &mut Import<'_>) {
    const L2: &str = "-gpgpu_cache:dl2";
    match import.value(L2, cache) {
        None => {}
        Some(None) => import.set(L2, "memory.partitions.l2", "None"),
        Some(Some(text)) => {
            let text = written(import, L2, &text, Some(32));
            import.set(L2, "memory.partitions.l2", text);
        }
    }
    start(import);
    for (name, path) in [
        ("-gpgpu_n_mem", "memory.partitions.channels"),
        ("-gpgpu_n_sub_partition_per_mchannel", "memory.partitions.slices"),
        ("-gpgpu_l2_rop_latency", "memory.partitions.latency"),
    ] {
        if let Some(number) = import.value(name, scalar::<u64>) {
            import.set(name, path, number);
        }
    }
    const SPREAD: &str = "-gpgpu_memory_partition_indexing";
    match import.value(SPREAD, scalar::<u32>) {
        None => {}
        Some(0) => import.set(SPREAD, "memory.partitions.spread", "Linear"),
        Some(1) => {
            import.set(SPREAD, "memory.partitions.spread", "Xor");
            import.note(SPREAD, "in GPGPU-Sim it changes only the channel, here the number of the slice");
        }
        Some(2) => spread_by_polynomial(import, SPREAD),
        Some(_) => import.note(SPREAD, "this function is not simulated; that of the base is kept"),
    }
    const QUEUES: &str = "-gpgpu_dram_partition_queues";
    let queues = |text: &str| {
        let all = text.split(':').map(number::<u32>).collect::<Result<Vec<_>, _>>()?;
        if all.len() == 4 {
            Ok(all)
        } else {
            Err("the form is TO_L2:TO_DRAM:FROM_DRAM:TO_INTERCONNECT".to_owned())
        }
    };
    if let Some(queues) = import.value(QUEUES, queues) {
        import.set(QUEUES, "memory.partitions.queue", queues[0]);
        if queues.iter().any(|&queue| queue != queues[0]) {
            import.note(QUEUES, "here the four queues of a slice all have the length of the first");
        }
    }
}

/// Translates the state of the memory at the start of a launch. In GPGPU-Sim the L2 keeps its
/// contents from one kernel to the next, unless it is flushed.
fn start(import: &mut Import<'_>) {
    const COPIES: &str = "-gpgpu_perf_sim_memcpy";
    const FLUSH: &str = "-gpgpu_flush_l2_cache";
    let flushed = import.optional_flag(FLUSH) == Some(true);
    // the default of GPGPU-Sim
    let copied = import.flag(COPIES).unwrap_or(true);
    let start = match (flushed, copied) {
        (false, true) => "LeftAndCopied",
        (false, false) => "Left",
        (true, true) => "Warm",
        (true, false) => "Cold",
    };
    if flushed {
        import.set(FLUSH, "memory.start", start);
        if copied {
            import.note(
                FLUSH,
                "at the start of a launch, the L2 contains all data that the host has copied so far, even data that was flushed since",
            );
        }
    }
    import.set(COPIES, "memory.start", start);
    if import.optional_flag("-gpgpu_flush_l1_cache") == Some(false) {
        import.note("-gpgpu_flush_l1_cache", "an L1 always begins empty here");
    }
}

/// Translates hashing by a polynomial. GPGPU-Sim's equations end at some bit of the address, which
/// depends on the number of slices.
fn spread_by_polynomial(import: &mut Import<'_>, name: &'static str) {
    let channels = import.optional("-gpgpu_n_mem", scalar::<u32>).unwrap_or(1);
    let slices = import.optional("-gpgpu_n_sub_partition_per_mchannel", scalar::<u32>).unwrap_or(1);
    if !slices.is_power_of_two() {
        import.set(name, "memory.partitions.spread", "Linear");
        return import.note(
            name,
            format!("slices can only be spread if a channel has a power of two of them, not {slices}"),
        );
    }
    import.set(name, "memory.partitions.spread", "Polynomial");
    // A number of channels that is not a power of two is hashed as the next power of two, and the
    // result is taken modulo the number.
    match channels.checked_next_power_of_two().unwrap_or(0).saturating_mul(slices) {
        16 => import.set(name, "memory.partitions.spread_bits", 13),
        32 => import.set(name, "memory.partitions.spread_bits", 15),
        64 => import.set(name, "memory.partitions.spread_bits", 19),
        other => {
            import.set(name, "memory.partitions.spread_bits", 64);
            import.note(
                name,
                format!(
                    "GPGPU-Sim has no equations for {other} slices; here all bits of the address take part"
                ),
            );
        }
    }
}

fn interconnect(import: &mut Import<'_>) {
    const CLOCKS: &str = "-gpgpu_clock_domains";
    let clocks = |text: &str| {
        let all = text.split(':').map(thousandths).collect::<Result<Vec<u64>, _>>()?;
        <[u64; 4]>::try_from(all).map_err(|_| "the form is CORE:INTERCONNECT:L2:DRAM".to_owned())
    };
    if let Some([core, crossbar, l2, dram]) = import.value(CLOCKS, clocks) {
        let pair = |(a, b): (u64, u64)| format!("({a}, {b})");
        import.set(CLOCKS, "clock_khz", core);
        import.set(CLOCKS, "memory.partitions.clock", pair(ratio(l2, core)));
        import.set(CLOCKS, "memory.partitions.dram.clock", pair(ratio(dram, l2)));
        if crossbar != l2 {
            import.note(CLOCKS, "the interconnect has the clock of the L2 here");
        }
    }
    // version 4 uses the first name
    let ejection = ["-gpgpu_n_cluster_ejection_buffer_size", "-gpgpu_n_simt_ejection_buffer_size"];
    for (name, path) in ejection.map(|name| (name, "memory.partitions.ejection_queue")) {
        if let Some(queue) = import.optional(name, scalar::<u32>) {
            import.set(name, path, queue);
        }
    }
    if let Some(queue) = import.optional("-icnt_in_buffer_limit", scalar::<u32>) {
        import.set("-icnt_in_buffer_limit", "memory.partitions.crossbar_queue", queue);
    }
}

/// Returns a cache in the syntax of machine files.
fn written(import: &mut Import<'_>, name: &'static str, text: &CacheText, port: Option<u32>) -> String {
    let replacement = match text.replacement {
        'L' => "Lru",
        'F' => "Fifo",
        _ => "Random",
    };
    let write = match text.write {
        'B' => "Back",
        'E' => "Evict",
        'L' => {
            import.note(name, "global stores are written through, and here local stores are, too");
            "Through"
        }
        _ => "Through",
    };
    let write_miss = match text.write_allocate {
        'N' => "NoAllocate",
        'L' => "Allocate",
        _ => {
            import.note(name, "a store that misses fetches its sector only when it is read");
            "Allocate"
        }
    };
    if text.allocate != 'm' {
        import.note(name, "lines are allocated when they are requested, not when they arrive");
    }
    let index = match text.index {
        'L' => "Linear",
        'P' => "Polynomial",
        'X' => "Xor",
        _ => {
            import.note(name, "this hash of sets is not simulated; sets are in the order of the lines");
            "Linear"
        }
    };
    if matches!(text.mshr, 'F' | 'T') {
        import.note(name, "requests that miss wait as in other caches, not in the queue of textures");
    }
    // by default half the width of a line, but at least a sector
    let port = text.port.or(port).unwrap_or(32);
    let CacheText { sectored, sets, line, ways, mshrs, merge, miss_queue, .. } = text;
    format!(
        "Cache(sets: {sets}, ways: {ways}, line: {line}, sectored: {sectored}, replacement: {replacement}, write: {write}, \
         write_miss: {write_miss}, index: {index}, mshrs: {mshrs}, merge: {merge}, miss_queue: {miss_queue}, port: {port})"
    )
}
