//! Policies that a program which uses this library defines, by their names.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::Policy;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;

/// Makes a policy for a sub-core of an SM.
pub type MakePolicy = dyn Fn() -> Box<dyn Policy + Send> + Send + Sync;

/// The policies of the program.
static KNOWN: Mutex<BTreeMap<String, Arc<MakePolicy>>> = Mutex::new(BTreeMap::new());

/// A policy of the program.
#[derive(Clone)]
pub struct CalledPolicy {
    name: String,
    make: Arc<MakePolicy>,
}

/// Makes a policy known by a name, so that `called:NAME` selects it. A policy of the same name is
/// replaced for simulations that begin later.
///
/// Results depend on what the policy does. They are reproducible if it is.
pub fn define_policy(name: impl Into<String>, make: Arc<MakePolicy>) {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), make);
}

impl CalledPolicy {
    /// Finds a policy by its name.
    ///
    /// # Errors
    /// If the program has defined no such policy.
    pub(super) fn find(name: &str) -> Result<Self, Diagnostics> {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(name) {
            Some(make) => Ok(Self { name: name.to_owned(), make: Arc::clone(make) }),
            None => {
                let message = format!("the calling program has defined no policy `{name}`");
                let problem = Diagnostic::general(PolicyKind::Called(name.to_owned()).to_string(), message);
                Err(problem.hint(format!("policies: {}", PolicyKind::forms())).into())
            }
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the policy of a sub-core.
    pub(super) fn make(&self) -> Box<dyn Policy + Send> {
        (self.make)()
    }
}

impl fmt::Debug for CalledPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CalledPolicy").field(&self.name).finish()
    }
}

impl PartialEq for CalledPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.make, &other.make)
    }
}

impl Eq for CalledPolicy {}
