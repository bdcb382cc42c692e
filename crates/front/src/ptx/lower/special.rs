//! Special registers by name.

use super::{Refusal, Res};
use warpbound_core::program::sem::{Operand, Special};

/// A special register.
pub(super) struct Found {
    pub operand: Operand,
    /// Whether the register is a clock.
    pub clock: bool,
    /// Whether the driver determines the value, which is zero here.
    pub environment: bool,
}

/// Returns the special register with this name and component, or `None` if there is none.
pub(super) fn special(name: &str, component: Option<&str>) -> Option<Res<Found>> {
    let axis = match component {
        None => None,
        Some("x") => Some(0u8),
        Some("y") => Some(1),
        Some("z") => Some(2),
        Some("w") => Some(3),
        Some(_) => return None,
    };
    // the ISA states for the component w, also of sizes: "the fourth element is unused and always
    // returns zero"
    let vector = |special: fn(u8) -> Special| match axis {
        Some(3) => Ok(plain(Operand::Imm(0))),
        Some(axis) => Ok(plain(Operand::Special(special(axis)))),
        None => Err(Refusal::new(
            format!("`{name}` is a vector"),
            format!("name a component, for example `{name}.x`"),
        )),
    };
    let scalar = match name {
        "%tid" => return Some(vector(Special::Tid)),
        "%ntid" => return Some(vector(Special::Ntid)),
        "%ctaid" => return Some(vector(Special::Ctaid)),
        "%nctaid" => return Some(vector(Special::Nctaid)),
        "%clusterid" => return Some(vector(Special::Clusterid)),
        "%nclusterid" => return Some(vector(Special::Nclusterid)),
        "%cluster_ctaid" => return Some(vector(Special::ClusterCtaid)),
        "%cluster_nctaid" => return Some(vector(Special::ClusterNctaid)),
        "%cluster_ctarank" => Special::ClusterRank,
        "%cluster_nctarank" => Special::ClusterRanks,
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::NumWarps,
        _ if is_environment(name) => {
            return Some(Ok(Found { environment: true, ..plain(Operand::Imm(0)) }));
        }
        "%smid" => Special::SmId,
        "%nsmid" => Special::NumSms,
        "%gridid" => Special::GridId,
        "%lanemask_eq" => Special::LaneMaskEq,
        "%lanemask_lt" => Special::LaneMaskLt,
        "%lanemask_le" => Special::LaneMaskLe,
        "%lanemask_gt" => Special::LaneMaskGt,
        "%lanemask_ge" => Special::LaneMaskGe,
        "%dynamic_smem_size" => Special::DynamicSharedBytes,
        "%total_smem_size" | "%aggr_smem_size" => Special::TotalSharedBytes,
        "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo" => {
            return Some(Ok(Found { clock: true, ..plain(Operand::Special(Special::Clock)) }));
        }
        "%clock_hi" | "%globaltimer_hi" => {
            return Some(Ok(Found { clock: true, ..plain(Operand::Special(Special::ClockHigh)) }));
        }
        _ if is_refused(name) => {
            return Some(Err(Refusal::new(
                format!("special register `{name}` is not supported"),
                "there are no performance counters here, and environment registers end at %envreg31",
            )));
        }
        _ => return None,
    };
    if axis.is_some() {
        return Some(Err(Refusal::new(format!("`{name}` has no components"), "")));
    }
    Some(Ok(plain(Operand::Special(scalar))))
}

/// Returns whether a special register has four components.
pub(super) fn is_vector(name: &str) -> bool {
    matches!(
        name,
        "%tid"
            | "%ntid"
            | "%ctaid"
            | "%nctaid"
            | "%clusterid"
            | "%nclusterid"
            | "%cluster_ctaid"
            | "%cluster_nctaid"
    )
}

fn plain(operand: Operand) -> Found {
    Found { operand, clock: false, environment: false }
}

/// Returns whether the name is one of `%envreg0` to `%envreg31`.
fn is_environment(name: &str) -> bool {
    (0..32).any(|index| name.strip_prefix("%envreg") == Some(index.to_string().as_str()))
}

fn is_refused(name: &str) -> bool {
    ["%envreg", "%pm", "%cluster", "%ncluster", "%is_explicit_cluster", "%reserved_smem", "%current_graph"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
