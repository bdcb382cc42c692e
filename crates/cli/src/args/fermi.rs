//! The options of `fermi`.

use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Fermi {
    /// Number of warps W: N or FROM..=TO
    #[arg(long, default_value = "1..=6", value_name = "RANGE")]
    pub warps: String,
    /// Repetitions R of the sub-block: N or FROM..=TO
    #[arg(long, default_value = "1..=4", value_name = "RANGE")]
    pub rep: String,
    /// Drop the rule that repetition k has priority over repetition k+1
    #[arg(long)]
    pub no_fairness: bool,
    /// Print a worst and a best schedule of W warps and R repetitions, cycle by cycle
    #[arg(long, value_name = "W,R")]
    pub witness: Option<String>,
    /// Print the bounds for these numbers of threads per SM, for each repetition
    #[arg(long, value_delimiter = ',', value_name = "N,..", conflicts_with = "witness")]
    pub threads: Vec<u32>,
    /// Machine file, of the form of crates/judge/src/explore/fermi/fermi-raravi.ron
    ///
    /// [default: that file, which is embedded]
    #[arg(long, value_name = "FILE")]
    pub machine: Option<std::path::PathBuf>,
    /// Most states to visit per table cell; a state takes about 60 bytes
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    pub max_states: usize,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
