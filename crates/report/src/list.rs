//! The report of what is embedded in the program.

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;

/// Everything that can be named on the command line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listing {
    /// The embedded kernels, launches and programs.
    pub kernels: Vec<Kernel>,
    /// The embedded machines.
    pub machines: Vec<Named>,
    /// The embedded plans.
    pub plans: Vec<Named>,
    /// The policies.
    pub policies: Vec<Policy>,
    /// The bounds.
    pub bounds: Vec<ListedBound>,
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kernel {
    /// The name of the kernel.
    pub name: String,
    /// The path of its file.
    pub file: String,
    /// Whether it belongs to the suite that `check` runs if no kernel is named.
    pub suite: bool,
    /// A description.
    pub doc: String,
}

/// A machine or plan.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Named {
    /// Its name.
    pub name: String,
    /// A description.
    pub doc: String,
}

/// A policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Policy {
    /// The name, as `--policy` accepts it.
    pub name: String,
    /// Whether some warp issues whenever one is ready; absent for a replay, where it depends on the
    /// file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_conserving: Option<bool>,
}

/// A bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedBound {
    /// The name of the bound.
    pub name: &'static str,
    /// Its standing: whether it is published or proved.
    pub standing: &'static str,
    /// A description.
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
        let mut policies = Table::new(["policy", "work conserving"], &[0, 1]);
        for policy in &self.policies {
            let conserving = match policy.work_conserving {
                None => "as the file",
                Some(true) => "yes",
                Some(false) => "no",
            };
            policies.row([policy.name.as_str(), conserving]);
        }
        [kernels, machines, plans, policies, bounds].map(|table| table.render(0, style.width)).join("\n")
    }
}
