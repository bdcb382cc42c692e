//! DRAM: the mapping of addresses and the timing of commands.

use super::Import;
use super::values::{AddressText, address, named, scalar};

pub(super) fn translate(import: &mut Import<'_>) {
    let banks = commands(import);
    mapping(import, banks);
    scheduling(import);
    bursts(import);
}

/// Translates the times between commands and returns the number of banks.
fn commands(import: &mut Import<'_>) -> Option<u64> {
    const TIMING: &str = "-gpgpu_dram_timing_opt";
    let timing = import.value(TIMING, named)?;
    let mut banks = None;
    let mut groups = 1;
    for (name, value) in &timing {
        let path = match name.as_str() {
            "nbk" => {
                banks = Some(*value);
                continue;
            }
            "nbkgrp" => {
                groups = *value;
                continue;
            }
            "CCD" => "ccd",
            "CCDL" => "ccdl",
            "RRD" => "rrd",
            "RCD" => "rcd",
            "RAS" => "ras",
            "RP" => "rp",
            "RC" => "rc",
            "CL" => "cl",
            "WL" => "wl",
            "CDLR" => "cdlr",
            "WR" => "wr",
            "RTPL" => "rtpl",
            other => {
                import.note(TIMING, format!("{other} is not known"));
                continue;
            }
        };
        import.set(TIMING, &format!("memory.partitions.dram.{path}"), value);
    }
    import.set(TIMING, "memory.partitions.dram.groups", groups);
    // without CCDL, column commands of the same bank group have the distance CCD
    let given = |name: &str| timing.iter().find(|(known, _)| known == name).map(|&(_, value)| value);
    if given("CCDL").unwrap_or(0) == 0
        && let Some(ccd) = given("CCD")
    {
        import.set(TIMING, "memory.partitions.dram.ccdl", ccd);
    }
    if groups > 1 && import.optional("-dram_bnkgrp_indexing_policy", scalar::<u32>) != Some(1) {
        import.note(TIMING, "the low bits of a bank's number are its group here");
    }
    banks
}

fn mapping(import: &mut Import<'_>, banks: Option<u64>) {
    const MAPPING: &str = "-gpgpu_mem_addr_mapping";
    let Some(AddressText { channel_bit, channel, bank, row }) = import.value(MAPPING, address) else {
        return;
    };
    let channel_bit = match (channel_bit, channel.first()) {
        (Some(bit), _) => bit,
        (None, Some(&bit)) => {
            if channel.windows(2).any(|pair| pair[1] != pair[0] + 1) {
                import
                    .note(MAPPING, "here the bits of the channel are contiguous, beginning with the lowest");
            }
            bit
        }
        (None, None) => {
            return import
                .wrong(MAPPING, "no bit chooses the channel: there is neither `dramid@` nor a D".to_owned());
        }
    };
    let (Some(&slice_bit), Some(&row_bit)) = (bank.first(), row.first()) else {
        return import.wrong(MAPPING, "no bit chooses the bank, or no bit chooses the row".to_owned());
    };
    if let Some(banks) = banks
        && 1u64.checked_shl(bank.len() as u32) != Some(banks)
    {
        return import
            .wrong(MAPPING, format!("{} bits for the {banks} banks of -gpgpu_dram_timing_opt", bank.len()));
    }
    // The channel bits among the others are removed before the bank is determined.
    let within = |bit: u32| bit - channel.iter().filter(|&&taken| taken < bit).count() as u32;
    let bank: Vec<u32> = bank.iter().map(|&bit| within(bit)).collect();
    import.set(MAPPING, "memory.partitions.channel_bit", channel_bit);
    import.set(MAPPING, "memory.partitions.slice_bit", within(slice_bit));
    import.set(MAPPING, "memory.partitions.dram.bank_bits", format!("{bank:?}"));
    import.set(MAPPING, "memory.partitions.dram.row_bit", within(row_bit));
    if row.windows(2).any(|pair| pair[1] != pair[0] + 1) {
        import.note(MAPPING, "here the bits of the row are contiguous, beginning with the lowest");
    }
}

fn scheduling(import: &mut Import<'_>) {
    const SCHEDULER: &str = "-gpgpu_dram_scheduler";
    let kind = |text: &str| match scalar::<u32>(text)? {
        0 => Ok("Fifo"),
        1 => Ok("FrFcfs"),
        _ => Err("0 is FIFO, 1 is FR-FCFS".to_owned()),
    };
    if let Some(kind) = import.value(SCHEDULER, kind) {
        import.set(SCHEDULER, "memory.partitions.dram.scheduler", kind);
    }
    for (name, path, unbounded) in [
        ("-gpgpu_frfcfs_dram_sched_queue_size", "memory.partitions.dram.queue", 1 << 16),
        ("-gpgpu_dram_return_queue_size", "memory.partitions.dram.returns", 1024),
    ] {
        if let Some(queue) = import.value(name, scalar::<u32>) {
            // 0 means that the first queue is unbounded, and that the second one has GPGPU-Sim's
            // default length
            import.set(name, path, if queue == 0 { unbounded } else { queue });
        }
    }
    if let Some(latency) = import.value("-dram_latency", scalar::<u64>) {
        import.set("-dram_latency", "memory.partitions.dram.latency", latency);
    }
}

/// Translates the number of bytes of a column command, and the time for which it occupies the bus.
fn bursts(import: &mut Import<'_>) {
    const LENGTH: &str = "-gpgpu_dram_burst_length";
    let width = import.value("-gpgpu_dram_buswidth", scalar::<u32>);
    let length = import.value(LENGTH, scalar::<u32>);
    let per_command = import.value("-dram_data_command_freq_ratio", scalar::<u32>);
    let chips = import.optional("-gpgpu_n_mem_per_ctrlr", scalar::<u32>).unwrap_or(1);
    let Some(length) = length else { return };
    if let Some(bytes) = width.and_then(|width| width.checked_mul(length)?.checked_mul(chips)) {
        import.set(LENGTH, "memory.partitions.dram.burst_bytes", bytes);
    }
    if let Some(ratio) = per_command.filter(|&ratio| ratio > 0) {
        import.set(LENGTH, "memory.partitions.dram.burst", u64::from(length / ratio));
    }
}
