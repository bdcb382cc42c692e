//! Machines with the files that they extend, and policies with the schedules that they replay.

use std::cell::RefCell;
use std::path::PathBuf;

use super::embedded::{self, EmbeddedFolder};
use super::kernels::LoadedKernel;
use super::loader::Loader;
use super::location::Location;
use super::read;
use warpbound_core::diag::{Diagnostics, SourceText};
use warpbound_core::machine::{Machine, MachineSpec, PolicyKind, Setting};
use warpbound_sim::PolicySetup;

/// The machine for kernels that name none.
pub const DEFAULT_MACHINE: &str = "ecrts25-orin";

impl Loader {
    /// Finds and reads a machine by embedded name or path.
    ///
    /// # Errors
    /// Returns an error if there is no such machine, or if a file is invalid.
    pub fn machine(&self, name: &str) -> Result<Machine, Diagnostics> {
        self.machine_with(name, &[])
    }

    /// Finds and reads a machine and changes these settings.
    ///
    /// # Errors
    /// Returns an error if there is no such machine, if a file is invalid, or if the settings do
    /// not fit.
    pub fn machine_with(&self, name: &str, settings: &[Setting]) -> Result<Machine, Diagnostics> {
        let (spec, source) = self.machine_spec(&self.find_machine(name, None)?)?;
        Machine::new(&spec.with_settings(settings)?, &source)
    }

    /// Reads a machine file with all that it extends, and returns it with its text.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is invalid.
    pub fn machine_spec(&self, location: &Location) -> Result<(MachineSpec, SourceText), Diagnostics> {
        let source = location.text()?;
        Ok((self.machine_spec_of(&source, location)?, source))
    }

    /// Reads the text of a machine file with all that it extends; their paths are relative to
    /// `location`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is invalid.
    pub fn machine_spec_of(
        &self,
        source: &SourceText,
        location: &Location,
    ) -> Result<MachineSpec, Diagnostics> {
        let prepared = match location {
            Location::Embedded(EmbeddedFolder::Configs, path) => embedded::machine(path),
            _ => None,
        };
        prepared.map_or_else(|| self.parse_noting(source, location, &|_| ()), Ok)
    }

    /// Parses a machine file with all that it extends, and calls `note` with the location of each
    /// file that it extends.
    fn parse_noting(
        &self,
        source: &SourceText,
        location: &Location,
        note: &dyn Fn(&Location),
    ) -> Result<MachineSpec, Diagnostics> {
        let base = |name: &str| {
            let base = self.find_machine(name, Some(location))?;
            note(&base);
            base.text()
        };
        MachineSpec::parse_with_bases(source, &base)
    }

    /// Finds the machine that a kernel's file names, or else the default machine.
    ///
    /// # Errors
    /// Returns an error if there is no such machine.
    pub fn find_machine_for(&self, kernel: &LoadedKernel) -> Result<Location, Diagnostics> {
        match &kernel.machine {
            Some(name) => self.find_machine(name, Some(&kernel.location)),
            None => self.find_machine(DEFAULT_MACHINE, None),
        }
    }

    /// Returns the paths of a machine file of the caller and of those that it extends, as far as
    /// they can be read.
    pub fn machine_inputs(&self, location: &Location) -> Vec<PathBuf> {
        // an embedded machine extends only embedded ones, and standard input cannot be read again
        let Some(path) = location.path() else { return Vec::new() };
        let found = RefCell::new(vec![path.to_owned()]);
        let note = |base: &Location| found.borrow_mut().extend(base.path().map(PathBuf::from));
        let _ = location.text().and_then(|source| self.parse_noting(&source, location, &note));
        found.into_inner()
    }

    /// Returns a policy that is ready to run. For a replay, the schedule is read; its path is
    /// relative to `relative_to`, if that is given.
    ///
    /// # Errors
    /// Returns an error if the schedule cannot be read or is invalid.
    pub fn policy(
        &self,
        kind: &PolicyKind,
        relative_to: Option<&Location>,
    ) -> Result<PolicySetup, Diagnostics> {
        let read = |path: &str| self.find_schedule(path, relative_to)?.text_up_to(read::SCHEDULE_BYTES);
        PolicySetup::new(kind, read)
    }

    /// Returns the policy that a kernel's file names, or else that of the machine.
    ///
    /// # Errors
    /// Returns the errors of [`Self::policy`].
    pub fn policy_for(&self, kernel: &LoadedKernel, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
        match &kernel.policy {
            Some(own) => self.policy(own, Some(&kernel.location)),
            None => self.policy(machine.policy(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_machines_are_those_of_their_files() {
        let loader = Loader::disk();
        let json = |spec: MachineSpec| serde_json::to_string(&spec).unwrap();
        for (name, location) in Loader::embedded(EmbeddedFolder::Configs) {
            let (prepared, source) = loader.machine_spec(&location).unwrap();
            let read = loader.parse_noting(&source, &location, &|_| ()).unwrap();
            assert_eq!(json(prepared), json(read), "{name}");
        }
    }
}
