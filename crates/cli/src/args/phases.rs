//! The options of `phases`.

use super::OneKernel;

#[derive(Debug, clap::Args)]
pub struct Phases {
    /// Index of the block to analyse, from 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    #[command(flatten)]
    pub on: OneKernel,
}
