//! The top-level settings of a machine file, and how each is combined with the base.

use crate::machine::written::{MachineSpec, TimedOpSpec, UnitSpec};

/// The kind of a top-level setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The machine that is extended; it is not a setting.
    Base,
    /// A single value that is replaced as a whole.
    Value,
    /// A struct whose fields are each replaced as a whole; fields that the file omits are inherited
    /// from the base.
    Parts,
    /// A struct that is merged field by field; fields that the file omits are inherited from the
    /// base.
    Fields,
    /// Named entries that are merged field by field. Required fields are listed with a valid
    /// placeholder.
    Entries(&'static [Field]),
}

/// The name of a field and, if it is required, a valid placeholder.
pub(super) type Field = (&'static str, Option<&'static str>);

impl Kind {
    /// Returns whether the setting is merged by name and, in each entry, field by field.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Fields | Self::Entries(_))
    }

    /// Returns whether the path of a setting can lead into it.
    pub(super) fn is_divided(self) -> bool {
        matches!(self, Self::Parts | Self::Fields | Self::Entries(_))
    }

    /// Returns the fields of the entries, if the setting has entries.
    pub(super) fn entry(self) -> Option<&'static [Field]> {
        match self {
            Self::Entries(fields) => Some(fields),
            _ => None,
        }
    }
}

/// A list with an element for every field of a struct. If a field is added to the struct, this does
/// not compile until the list contains it.
macro_rules! fields_of {
    ($spec:ident { $($field:ident: $entry:expr),* $(,)? }) => {{
        const _: fn(&$spec) = |$spec { $($field: _),* }| ();
        &[$((stringify!($field), $entry)),*]
    }};
}

const UNIT: &[Field] = fields_of!(UnitSpec { init: Some("1"), lat: Some("1"), shared: None, source: None });

const OP: &[Field] = fields_of!(TimedOpSpec { unit: Some("\"\""), init: None, lat: None, source: None });

/// All top-level settings, in the order in which messages list them.
pub(super) const SETTINGS: &[(&str, Kind)] = fields_of!(MachineSpec {
    extends: Kind::Base,
    name: Kind::Value,
    doc: Kind::Value,
    policy: Kind::Value,
    hazards: Kind::Value,
    units: Kind::Entries(UNIT),
    ops: Kind::Entries(OP),
    limits: Kind::Fields,
    exit_issues: Kind::Value,
    two_level_active: Kind::Value,
    clock_khz: Kind::Value,
    fitted: Kind::Value,
    shared_memory: Kind::Fields,
    sub_cores: Kind::Value,
    pipeline: Kind::Parts,
    memory: Kind::Parts,
    sms: Kind::Value,
    reconvergence: Kind::Value,
    dependences: Kind::Value,
});

/// Returns the kind of a setting; an unknown name counts as a value.
pub(super) fn kind(name: &str) -> Kind {
    SETTINGS.iter().find(|(known, _)| *known == name).map_or(Kind::Value, |(_, kind)| *kind)
}
