//! What is embedded.

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;

/// Everything that has a name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listing {
    /// Kernels, launches and programs.
    pub kernels: Vec<Kernel>,
    /// Machines.
    pub machines: Vec<Named>,
    /// Plans.
    pub plans: Vec<Named>,
    /// Policies.
    pub schedulers: Vec<Scheduler>,
    /// Bounds.
    pub bounds: Vec<ListedBound>,
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Whether `check` takes it when no kernel is named.
    pub suite: bool,
    /// What it is.
    pub doc: String,
}

/// Something with a name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Named {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
}

/// A policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scheduler {
    /// As `--scheduler` takes it.
    pub name: String,
    /// Whether some warp issues whenever one is ready; of a replay the file decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_conserving: Option<bool>,
}

/// A bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedBound {
    /// Its name.
    pub name: &'static str,
    /// What it rests on.
    pub standing: &'static str,
    /// What it is.
    pub doc: &'static str,
}

impl Report for Output<Listing> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|listing| listing.text(style)).collect()
    }
}

impl Listing {
    fn text(&self, style: Style) -> String {
        let mut kernels = Table::new(["kernel", "suite", "what it is"], &[0, 1, 2]).expendable([1]);
        for kernel in &self.kernels {
            kernels.row([kernel.name.as_str(), if kernel.suite { "yes" } else { "" }, kernel.doc.as_str()]);
        }
        let mut machines = Table::new(["machine", "what it is"], &[0, 1]);
        for one in &self.machines {
            machines.row([one.name.as_str(), one.doc.as_str()]);
        }
        let mut plans = Table::new(["plan", "what it is for"], &[0, 1]);
        for one in &self.plans {
            plans.row([one.name.as_str(), one.doc.as_str()]);
        }
        let mut bounds = Table::new(["bound", "standing", "what it is"], &[0, 1, 2]);
        for bound in &self.bounds {
            bounds.row([bound.name, bound.standing, bound.doc]);
        }
        let mut schedulers = Table::new(["policy", "work conserving"], &[0, 1]);
        for scheduler in &self.schedulers {
            let conserving = match scheduler.work_conserving {
                None => "as the file",
                Some(true) => "yes",
                Some(false) => "no",
            };
            schedulers.row([scheduler.name.as_str(), conserving]);
        }
        [kernels, machines, plans, schedulers, bounds].map(|table| table.render(0, style.width)).join("\n")
    }
}
