//! The options of `reproduce`.

use std::path::PathBuf;

use super::{Writing, at_least_one};
use crate::format::Format;
use warpbound_report::reproduce::{PAPER, betts, diagxtrm, fermi, pastis};

#[derive(Debug, clap::Args)]
pub struct Reproduce {
    /// The table or figure, or `all` (all but betts and diagxtrm) [default: list them]
    #[arg(value_name = "NAME")]
    pub what: Option<String>,
    /// Use the PTX of another compiler, nvrtc, in tables over kernels
    #[arg(long, value_name = "NAME")]
    pub compiler: Option<String>,
    /// Runs of each kernel (betts) or configuration (diagxtrm) [default: 1000]
    ///
    /// The paper of betts has 1000 random runs, that of diagxtrm 50000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// With diagxtrm: write plots like figures 2 to 4 of the paper as SVG into DIR
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// A table or figure that can be reproduced. A name without a prefix belongs to the ECRTS 2025
/// paper; the other names begin with a word for their paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperItem {
    Table2,
    Table3,
    Table3Calls,
    Table4,
    Fig2,
    Fig3,
    Fig4,
    Fermi,
    FermiFig3,
    FermiFig4,
    FermiFig5,
    PastisFig5,
    PastisFig6,
    PastisFig7,
    Pastis,
    Betts,
    Diagxtrm,
}

impl PaperItem {
    /// All tables and figures, in the order of the papers.
    pub const ALL: [Self; 17] = [
        Self::Fig2,
        Self::Fig3,
        Self::Fig4,
        Self::Table2,
        Self::Table3,
        Self::Table3Calls,
        Self::Table4,
        Self::FermiFig3,
        Self::FermiFig4,
        Self::FermiFig5,
        Self::Fermi,
        Self::PastisFig5,
        Self::PastisFig6,
        Self::PastisFig7,
        Self::Pastis,
        Self::Betts,
        Self::Diagxtrm,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table2 => "table2",
            Self::Table3 => "table3",
            Self::Table3Calls => "table3-calls",
            Self::Table4 => "table4",
            Self::Fig2 => "fig2",
            Self::Fig3 => "fig3",
            Self::Fig4 => "fig4",
            Self::Fermi => "fermi",
            Self::FermiFig3 => "fermi-fig3",
            Self::FermiFig4 => "fermi-fig4",
            Self::FermiFig5 => "fermi-fig5",
            Self::PastisFig5 => "pastis-fig5",
            Self::PastisFig6 => "pastis-fig6",
            Self::PastisFig7 => "pastis-fig7",
            Self::Pastis => "pastis",
            Self::Betts => "betts",
            Self::Diagxtrm => "diagxtrm",
        }
    }

    /// Returns whether it is computed from the records of a plan.
    pub fn uses_plan(self) -> bool {
        matches!(self, Self::Table3 | Self::Table3Calls | Self::Table4)
    }

    /// Returns whether it takes minutes; such an item runs only by its own name, not with `all`.
    pub fn takes_minutes(self) -> bool {
        self.has_runs()
    }

    /// Returns whether `--runs` applies to it.
    pub fn has_runs(self) -> bool {
        matches!(self, Self::Betts | Self::Diagxtrm)
    }

    /// Returns its label in the paper, the paper, and a short description.
    pub fn about(self) -> (&'static str, &'static str, &'static str) {
        let (what, paper, about) = match self {
            Self::Fig2 => ("Figure 2", PAPER, "a warp alone and its phases"),
            Self::Fig3 => ("Figure 3", PAPER, "two warps of the same code"),
            Self::Fig4 => ("Figure 4", PAPER, "shorter phases, a longer schedule"),
            Self::Table2 => ("Table 2", PAPER, "what each simplification of the model costs, over a suite"),
            Self::Table3 => ("Table 3", PAPER, "overestimation over a suite, seven latencies"),
            Self::Table3Calls => ("Table 3", PAPER, "overestimation over every launch of embedded programs"),
            Self::Table4 => ("Table 4", PAPER, "overestimation of two matrix products, 4 to 32 warps"),
            Self::FermiFig3 => ("Figure 3", fermi::PAPER, "two schedules of 64 threads"),
            Self::FermiFig4 => {
                ("Figure 4", fermi::PAPER, "a schedule of 64 threads that execute the sub-block twice")
            }
            Self::FermiFig5 => {
                ("Figure 5", fermi::PAPER, "a schedule of 64 threads that execute the sub-block three times")
            }
            Self::PastisFig5 => ("Figure 5", pastis::PAPER, "the stack of a warp at SSY or PBK"),
            Self::PastisFig6 => ("Figure 6", pastis::PAPER, "the stack at a branch that two threads take"),
            Self::PastisFig7 => ("Figure 7", pastis::PAPER, "the stack at SYNC or BRK"),
            Self::Pastis => (
                "Figures 10 to 12",
                pastis::PAPER,
                "integer matrix products on the Jetson TX2, and a network, from PTX and machine code",
            ),
            Self::Betts => ("Table II", betts::PAPER, "hybrid estimates over 1000 random runs of 25 kernels"),
            Self::Diagxtrm => (
                "Table 1",
                diagxtrm::PAPER,
                "extreme-value statistics of a kernel, 4 numbers of blocks, 3 sizes of L1",
            ),
            Self::Fermi => ("formula FT", fermi::PAPER, "finishing time of W warps, against every schedule"),
        };
        (what, paper, about)
    }
}
