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
    pub machines: Vec<Machine>,
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
    #[serde(rename = "kernel")]
    pub name: String,
    /// The path of its file.
    pub file: String,
    /// Whether it belongs to the suite that `check` runs if no kernel is named.
    pub suite: bool,
    /// A description.
    pub doc: String,
}

/// A machine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// A description.
    pub doc: String,
    /// What the machine was compared with, and how far off it is.
    pub compared: String,
}

/// A plan.
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
    /// Which warp issues.
    pub doc: String,
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

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Kernels, launches and programs.
    Kernels,
    /// Machines.
    Machines,
    /// Plans.
    Plans,
    /// Policies.
    Policies,
    /// Bounds.
    Bounds,
}

impl Kind {
    /// Every kind, in the order of the output.
    pub const ALL: [Self; 5] = [Self::Kernels, Self::Machines, Self::Plans, Self::Policies, Self::Bounds];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Machines => "machines",
            Self::Plans => "plans",
            Self::Policies => "policies",
            Self::Bounds => "bounds",
        }
    }
}

impl Report for Output<Listing> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|listing| listing.text(style)).collect()
    }
}

impl Listing {
    /// Removes what is of another kind, if a kind is given, and each line that lacks one of these
    /// words in its name and description. The case of letters does not matter.
    pub fn retain(&mut self, kind: Option<Kind>, words: &[String]) {
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let keeps = |of: Kind, texts: &[&str]| {
            let text = texts.join("\n").to_lowercase();
            kind.is_none_or(|kind| kind == of) && words.iter().all(|word| text.contains(word.as_str()))
        };
        self.kernels.retain(|one| keeps(Kind::Kernels, &[&one.name, &one.doc]));
        self.machines.retain(|one| keeps(Kind::Machines, &[&one.name, &one.doc, &one.compared]));
        self.plans.retain(|one| keeps(Kind::Plans, &[&one.name, &one.doc]));
        self.policies.retain(|one| keeps(Kind::Policies, &[&one.name, &one.doc]));
        self.bounds.retain(|one| keeps(Kind::Bounds, &[one.name, one.standing, one.doc]));
    }

    /// Returns whether nothing is left.
    pub fn is_empty(&self) -> bool {
        let Self { kernels, machines, plans, policies, bounds } = self;
        let lists = [kernels.len(), machines.len(), plans.len(), policies.len(), bounds.len()];
        lists.iter().all(|length| *length == 0)
    }

    fn text(&self, style: Style) -> String {
        let mut kernels =
            Table::new(["kernel", "suite", "what it is"], &[0, 1, 2]).expendable([1]).uncut(&[0]);
        for kernel in &self.kernels {
            kernels.row([kernel.name.as_str(), if kernel.suite { "yes" } else { "" }, kernel.doc.as_str()]);
        }
        let mut machines = Table::new(["machine", "compared with", "what it is"], &[0, 1, 2]).uncut(&[0]);
        for one in &self.machines {
            machines.row([one.name.as_str(), one.compared.as_str(), one.doc.as_str()]);
        }
        let mut plans = Table::new(["plan", "what it is for"], &[0, 1]);
        for one in &self.plans {
            plans.row([one.name.as_str(), one.doc.as_str()]);
        }
        let mut policies = Table::new(["policy", "work conserving", "which warp issues"], &[0, 1, 2]);
        for policy in &self.policies {
            let conserving = match policy.work_conserving {
                None => "as the file",
                Some(true) => "yes",
                Some(false) => "no",
            };
            policies.row([policy.name.as_str(), conserving, policy.doc.as_str()]);
        }
        let mut bounds = Table::new(["bound", "standing", "what it is"], &[0, 1, 2]);
        for bound in &self.bounds {
            bounds.row([bound.name, bound.standing, bound.doc]);
        }
        let tables = [kernels, machines, plans, policies, bounds];
        let filled = tables.iter().filter(|table| !table.is_empty());
        filled.map(|table| table.render(0, style.width)).collect::<Vec<_>>().join("\n")
    }
}
