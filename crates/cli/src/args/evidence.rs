//! The options of `evidence`.

use super::at_least_one;
use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Evidence {
    /// Warps per block
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub warps: usize,
    /// Most instructions per warp; 2 warps of up to 4 make 87 million blocks
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub instructions: usize,
    /// Check only the blocks with these numbers, to split a campaign into parts
    #[arg(long, value_name = "FROM..TO")]
    pub range: Option<String>,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
