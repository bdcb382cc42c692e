//! Parsers for the formats of single values.

use std::str::FromStr;

/// Parses an integer.
pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{}` is not a number or is out of range", crate::diag::shortened(text)))
}

/// Parses the number of an option whose whole value is a number. As in C, it is hexadecimal after
/// `0x` and octal after `0`. Numbers within lists are always decimal.
pub(super) fn scalar<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let digits = |text: &str, base| {
        let is_digit = |digit: char| digit.is_digit(base);
        text.chars().all(is_digit).then(|| u64::from_str_radix(text, base).ok()).flatten()
    };
    let value = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(text), _) => digits(text, 16),
        (None, Some(text)) if !text.is_empty() => digits(text, 8),
        _ => text.parse().ok(),
    };
    value
        .and_then(|value| T::try_from(value).ok())
        .ok_or_else(|| format!("`{}` is not a number or is out of range", crate::diag::shortened(text)))
}

/// Returns a valid value of an option, for hints.
pub(super) fn example(name: &str) -> &'static str {
    match name {
        "-gpgpu_shader_core_pipeline" => "1536:32",
        "-gpgpu_pipeline_widths" => "4,4,4,4,4,4,4,4,4,4,8,4,4",
        "-gpgpu_clock_domains" => "1132:1132:1132:3500.5",
        "-gpgpu_dram_partition_queues" => "64:64:64:64",
        "-gpgpu_shmem_option" => "0,8,16,32,64,100",
        "-gpgpu_mem_addr_mapping" => {
            "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"
        }
        "-gpgpu_dram_timing_opt" => "nbk=16:CCD=4:RRD=12:RCD=24:RAS=55:RP=24:RC=78:CL=24:WL=8",
        _ if name.starts_with("-gpgpu_cache:") || name.starts_with("-gpgpu_const_cache:") => {
            "S:64:128:16,L:B:m:L:P,A:192:4,32:0,32"
        }
        _ if name.starts_with("-trace_opcode_latency_initiation_") => "4,2",
        _ if name.starts_with("-specialized_unit_") => "1,4,4,4,4,BRA",
        "-ptx_opcode_latency_sfu" | "-ptx_opcode_latency_tesnor" => "21",
        "-ptx_opcode_initiation_sfu" | "-ptx_opcode_initiation_tensor" => "8",
        _ if name.starts_with("-ptx_opcode_latency_") => "4,4,4,4,39",
        _ if name.starts_with("-ptx_opcode_initiation_") => "1,1,1,1,2",
        _ => "1",
    }
}

/// Parses 0 or 1.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("`{}` is neither 0 nor 1", crate::diag::shortened(text))),
    }
}

/// Parses a list of at least `least` numbers that are separated by commas.
pub(super) fn numbers(text: &str, least: usize) -> Result<Vec<u64>, String> {
    let all = text.split(',').map(|part| number(part.trim())).collect::<Result<Vec<u64>, _>>()?;
    if all.len() < least {
        return Err(format!("{} numbers where {least} are needed", all.len()));
    }
    Ok(all)
}

/// Parses a decimal fraction in thousandths; clocks are given in MHz.
pub(super) fn thousandths(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("`{}` is not a clock in MHz with at most three decimals", crate::diag::shortened(text));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = part.trim_end_matches('0');
    if part.len() > 3 || !part.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = format!("{part:0<3}").parse().map_err(|_| wrong())?;
    match whole.checked_mul(1000).and_then(|whole| whole.checked_add(part)) {
        Some(0) | None => Err(wrong()),
        Some(clock) => Ok(clock),
    }
}

/// Reduces a ratio to lowest terms.
pub(super) fn ratio(numerator: u64, denominator: u64) -> (u64, u64) {
    let (mut a, mut b) = (numerator, denominator);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (numerator / a.max(1), denominator / a.max(1))
}

/// Parses a list of the form `nbk=16:CCD=4:...`.
pub(super) fn named(text: &str) -> Result<Vec<(String, u64)>, String> {
    let pair = |part: &str| {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{}` is not NAME=NUMBER", crate::diag::shortened(part)))?;
        Ok((name.to_owned(), number(value)?))
    };
    text.split(':').map(str::trim).filter(|part| !part.is_empty()).map(pair).collect()
}

/// The parameters of a cache: `S:64:128:16,L:B:m:L:P,A:192:4,32:0,32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CacheText {
    pub sectored: bool,
    pub sets: u32,
    pub line: u32,
    pub ways: u32,
    pub replacement: char,
    pub write: char,
    pub allocate: char,
    pub write_allocate: char,
    pub index: char,
    pub mshr: char,
    pub mshrs: u32,
    pub merge: u32,
    pub miss_queue: u32,
    /// The width of the port, if it is given.
    pub port: Option<u32>,
}

/// Parses a cache; `none` means that there is no cache.
pub(super) fn cache(text: &str) -> Result<Option<CacheText>, String> {
    if text == "none" {
        return Ok(None);
    }
    const FORM: &str = "the form is KIND:SETS:LINE:WAYS,REPLACEMENT:WRITE:ALLOCATE:WRITE_ALLOCATE:INDEX,MSHR:ENTRIES:MERGE,MISS_QUEUE";
    let groups: Vec<Vec<&str>> = text.split(',').map(|group| group.split(':').collect()).collect();
    let part = |group: usize, place: usize| {
        groups.get(group).and_then(|parts| parts.get(place)).copied().ok_or_else(|| FORM.to_owned())
    };
    let count = |group, place| number::<u32>(part(group, place)?);
    let letter = |group, place, known: &str| {
        let text = part(group, place)?;
        match text.chars().next() {
            Some(letter) if text.len() == 1 && known.contains(letter) => Ok(letter),
            _ => Err(format!(
                "`{}` is none of {known} in `{}`",
                crate::diag::shortened(text),
                groups[group].join(":")
            )),
        }
    };
    let sectored = letter(0, 0, "SN")? == 'S';
    Ok(Some(CacheText {
        sectored,
        sets: count(0, 1)?,
        line: count(0, 2)?,
        ways: count(0, 3)?,
        replacement: letter(1, 0, "LFR")?,
        write: letter(1, 1, "RBTEL")?,
        allocate: letter(1, 2, "mfs")?,
        write_allocate: letter(1, 3, "NWFL")?,
        index: letter(1, 4, "HPCLX")?,
        mshr: letter(2, 0, "FTAS")?,
        mshrs: count(2, 1)?,
        merge: count(2, 2)?,
        miss_queue: count(3, 0)?,
        port: groups.get(4).map(|_| count(4, 0)).transpose()?.filter(|&port| port > 0),
    }))
}

/// The meaning of address bits: `dramid@8;00000000...RRRR.RBBBCCCC.BCCSSSSS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AddressText {
    /// The lowest bit of the channel, which is removed before the other bits are counted; `None` if
    /// the channel's bits are listed among them.
    pub channel_bit: Option<u32>,
    /// The address bits of each part, the lowest first.
    pub channel: Vec<u32>,
    pub bank: Vec<u32>,
    pub row: Vec<u32>,
}

pub(super) fn address(text: &str) -> Result<AddressText, String> {
    let (channel_bit, map) = match text.split_once(';') {
        Some((start, map)) => {
            let bit = start.strip_prefix("dramid@").ok_or("only `dramid@BIT;` may precede the bits")?;
            (Some(number::<u32>(bit)?), map)
        }
        None => (None, text),
    };
    let letters: Vec<char> = map.chars().filter(|c| !matches!(c, '.' | '|' | ' ')).collect();
    if letters.len() != 64 {
        return Err(format!("{} bits where 64 are needed", letters.len()));
    }
    let mut bits = AddressText { channel_bit, channel: Vec::new(), bank: Vec::new(), row: Vec::new() };
    for (bit, letter) in (0..).zip(letters.iter().rev()) {
        match letter.to_ascii_uppercase() {
            'D' => bits.channel.push(bit),
            'B' => bits.bank.push(bit),
            'R' => bits.row.push(bit),
            'C' | 'S' | '0' => {}
            other => return Err(format!("`{other}` is none of D, B, R, C, S, 0")),
        }
    }
    Ok(bits)
}
