//! Numbers as the papers print them.

use self::Moment::{Dispatched, Done, Initiated, Issued};

/// A moment in the execution of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The instruction leaves the scheduler.
    Issued,
    /// Its unit accepts it.
    Dispatched,
    /// Its unit is free again.
    Initiated,
    /// Its result is available.
    Done,
}

/// A moment that the paper states for an instruction: the warp, the instruction, the moment, the
/// place in the paper, and the cycle.
pub type StatedMoment = (u16, u32, Moment, &'static str, u64);

/// Table 2 of Jeanmougin et al., ECRTS 2025. Each column has the mean, standard deviation, minimum
/// and maximum of 100 * cycles(A) / cycles(B).
pub const TABLE_2: [[f64; 4]; 5] = [
    [111.79, 41.01, 96.94, 494.79],
    [94.01, 4.23, 27.25, 101.00],
    [99.77, 0.73, 96.65, 102.26],
    [91.90, 13.51, 34.24, 125.10],
    [234.11, 38.77, 100.25, 290.47],
];

/// The latencies of global memory in Tables 3 and 4 of Jeanmougin et al., ECRTS 2025, in cycles.
pub const LATENCIES: [u64; 7] = [400, 200, 100, 50, 25, 10, 5];

/// Table 3 of Jeanmougin et al., ECRTS 2025. For each latency, it has rows for lrr, gto and single
/// warps, each with the mean, maximum, weighted mean and standard deviation of the overestimation
/// in percent.
pub const TABLE_3: [[[f64; 4]; 3]; 7] = [
    [[8.21, 33.45, 11.35, 4.73], [10.68, 34.84, 13.87, 3.66], [0.03, 0.8, 0.07, 0.09]],
    [[12.31, 40.34, 16.83, 6.07], [15.37, 40.06, 20.16, 5.31], [0.04, 0.8, 0.12, 0.1]],
    [[16.70, 44.97, 22.44, 6.96], [19.83, 44.37, 26.21, 7.89], [0.05, 0.8, 0.16, 0.12]],
    [[19.97, 69.83, 26.05, 7.88], [25.56, 70.56, 31.52, 9.16], [0.06, 0.9, 0.21, 0.13]],
    [[21.81, 72.47, 26.84, 8.32], [27.88, 60.12, 31.83, 8.26], [0.07, 1.14, 0.24, 0.14]],
    [[23.46, 49.77, 27.86, 8.58], [29.32, 46.36, 31.96, 7.58], [0.07, 1.37, 0.26, 0.15]],
    [[26.00, 46.38, 28.17, 6.81], [27.04, 46.67, 30.82, 5.91], [0.08, 1.47, 0.26, 0.15]],
];

/// The numbers of warps of the columns of Table 4.
pub const WARPS: [u64; 4] = [32, 16, 8, 4];

/// Table 4, naive: the overestimation in percent, by latency and number of warps.
pub const TABLE_4_NAIVE: [[f64; 4]; 7] = [
    [5.96, 8.67, 11.84, 9.36],
    [6.57, 10.29, 15.56, 13.49],
    [6.93, 11.36, 18.47, 17.32],
    [7.11, 11.97, 20.37, 20.18],
    [7.00, 12.31, 21.45, 22.00],
    [6.16, 12.06, 22.04, 23.24],
    [5.87, 11.50, 22.03, 23.69],
];

/// Table 4, double buffering.
pub const TABLE_4_DOUBLE_BUFFERING: [[f64; 4]; 7] = [
    [11.15, 19.19, 33.08, 58.21],
    [8.51, 14.12, 23.37, 40.40],
    [8.44, 14.11, 23.57, 41.08],
    [8.39, 14.06, 23.65, 41.42],
    [8.35, 14.01, 23.59, 41.54],
    [8.33, 13.98, 23.57, 41.59],
    [8.32, 13.97, 23.59, 41.60],
];

/// Figure 2 of Jeanmougin et al., ECRTS 2025, as described in Examples 1 and 3.
pub const FIG_2: [StatedMoment; 9] = [
    (0, 0, Dispatched, "Example 1", 0),
    (0, 0, Done, "Example 1", 8),
    (0, 1, Issued, "Example 1", 1),
    (0, 1, Dispatched, "Example 1", 1),
    (0, 2, Issued, "Example 1", 2),
    (0, 2, Dispatched, "Example 1", 4),
    (0, 3, Issued, "Example 3", 8),
    (0, 3, Initiated, "Example 3", 10),
    (0, 3, Done, "Example 3", 14),
];

/// The phases of Figure 2: whether it is an exec phase, the first cycle, and the cycle after the
/// last.
pub const FIG_2_PHASES: [(bool, u64, u64); 4] = [(true, 0, 7), (false, 7, 8), (true, 8, 10), (false, 10, 14)];

/// Figure 3 of Jeanmougin et al., ECRTS 2025, as described in Example 2.
pub const FIG_3: [StatedMoment; 9] = [
    (0, 0, Issued, "Example 2", 0),
    (0, 2, Issued, "Example 2", 2),
    (1, 0, Issued, "Example 2", 3),
    (1, 0, Dispatched, "Example 2", 3),
    (0, 2, Dispatched, "Example 2", 4),
    (1, 1, Issued, "Example 2", 4),
    (1, 2, Issued, "Example 2", 5),
    (0, 2, Initiated, "Example 2", 7),
    (1, 1, Dispatched, "Example 2", 7),
];

/// The number of warps in the figures of Raravi and Andersson, 2010: 64 threads, 16 per warp.
pub const FERMI_WARPS: usize = 4;

/// Figure 3 of Raravi and Andersson, 2010: the cycles of schedules (a) and (b).
pub const FERMI_FIG_3: [u64; 2] = [14, 13];

/// Figure 4 of Raravi and Andersson, 2010: one row per warp, one letter per cycle.
pub const FERMI_FIG_4: [&str; 4] =
    ["CLLC.....LLCS", "C..LLC.....L.LCS", ".C...LLC......L.LCS", ".C.....LLC.......L.LCS"];

/// Figure 5 of Raravi and Andersson, 2010.
pub const FERMI_FIG_5: [&str; 4] = [
    "CLLC.....LLC.....LLCS",
    "C..LLC.....LLC.....L.LCS",
    ".C...LLC.....LLC......L.LCS",
    ".C.....LLC.....LLC.......L.LCS",
];

/// Returns the value of the formula FT of Raravi and Andersson, 2010, section III, for this number
/// of warps and repetitions.
pub const fn fermi_ft(warps: u64, rep_cnt: u64) -> u64 {
    warps * 3 + 2 + warps * (rep_cnt - 1) * 2
}
