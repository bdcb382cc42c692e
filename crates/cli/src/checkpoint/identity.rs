//! The identity of a checkpoint: everything that its contents depend on.

use serde::{Deserialize, Serialize};

use crate::args::{Common, PtxLaunch};
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::Machine;
use warpbound_judge::load::LoadedApplication;
use warpbound_report::output::TOOL_VERSION;
use warpbound_sim::PolicySetup;

/// The identity of a checkpoint. Digests are in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    tool_version: String,
    command: String,
    application: String,
    /// The name and digest of every file that the application consists of.
    files: Vec<(String, String)>,
    /// The options of the launch, as on the command line.
    options: Vec<String>,
    seed: u64,
    /// The names of the machines and the digests of their settings.
    machines: Vec<(String, String)>,
    /// The policies on each machine.
    policies: Vec<Vec<String>>,
    /// The bounds that decide the verdict; empty for the default.
    gating: Vec<String>,
    max_instructions: u64,
    /// The memory for race detection in bytes; `None` if races are ignored.
    race_memory: Option<u64>,
    self_check: bool,
}

impl Identity {
    /// Returns the identity of a command that runs this application on these machines.
    pub fn new(
        command: &str,
        application: &LoadedApplication,
        on: &[(&Machine, &[PolicySetup])],
        (common, launch): (&Common, &PtxLaunch),
        gating: &[String],
        self_check: bool,
    ) -> Result<Self, Diagnostics> {
        let hex = |digest: u64| format!("{digest:016x}");
        let files = application.digests()?;
        let words =
            |policies: &[PolicySetup]| policies.iter().map(|policy| policy.kind().to_string()).collect();
        Ok(Self {
            tool_version: TOOL_VERSION.to_owned(),
            command: command.to_owned(),
            application: application.name.clone(),
            files: files.into_iter().map(|(name, digest)| (name, hex(digest))).collect(),
            options: launch.words(),
            seed: common.seed,
            machines: on
                .iter()
                .map(|(machine, _)| (machine.name().to_owned(), hex(machine.digest())))
                .collect(),
            policies: on.iter().map(|(_, policies)| words(policies)).collect(),
            gating: gating.to_vec(),
            // the option counts, not the limit by the memory of this computer, which does not
            // affect results
            max_instructions: common.max_instructions,
            race_memory: common.race_memory().map(|bytes| bytes as u64),
            self_check,
        })
    }

    /// Returns why the contents of a file with the identity `known` cannot be used, or `None` if
    /// they can.
    pub fn difference(&self, known: &Self) -> Option<String> {
        let shown = |word: &str| {
            format!("`{}`", word.chars().filter(|c| !c.is_control()).take(80).collect::<String>())
        };
        let list = |words: &[String]| match words {
            [] => "none".to_owned(),
            words => shown(&words.join(" ")),
        };
        let differ = |what: &str, known: String, here: String| {
            (known != here).then(|| format!("{what}: {known} there, {here} here"))
        };
        let names =
            |named: &[(String, String)]| named.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let changed = |known: &[(String, String)], here: &[(String, String)]| {
            let other = known.iter().zip(here).find(|((_, known), (_, here))| known != here);
            other.map(|(_, (name, _))| format!("{} has changed", shown(name)))
        };
        let policies = |of: &Self| of.policies.iter().map(|policies| policies.join(",")).collect::<Vec<_>>();
        let watched = |of: &Self| of.race_memory.map_or("none".to_owned(), |bytes| format!("{bytes} bytes"));
        differ("version of warpbound", shown(&known.tool_version), shown(&self.tool_version))
            .or_else(|| differ("command", shown(&known.command), shown(&self.command)))
            .or_else(|| differ("application", shown(&known.application), shown(&self.application)))
            .or_else(|| differ("options", list(&known.options), list(&self.options)))
            .or_else(|| differ("--seed", known.seed.to_string(), self.seed.to_string()))
            .or_else(|| differ("policies", list(&policies(known)), list(&policies(self))))
            .or_else(|| differ("machines", list(&names(&known.machines)), list(&names(&self.machines))))
            .or_else(|| changed(&known.machines, &self.machines).map(|what| format!("machine {what}")))
            .or_else(|| changed(&known.files, &self.files))
            .or_else(|| differ("files", list(&names(&known.files)), list(&names(&self.files))))
            .or_else(|| differ("--bound", list(&known.gating), list(&self.gating)))
            .or_else(|| {
                differ(
                    "--max-instructions",
                    known.max_instructions.to_string(),
                    self.max_instructions.to_string(),
                )
            })
            .or_else(|| differ("memory of the race detector", watched(known), watched(self)))
            .or_else(|| differ("--self-check", known.self_check.to_string(), self.self_check.to_string()))
            .or_else(|| (self != known).then(|| "another option is different".to_owned()))
    }
}
