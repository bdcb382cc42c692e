//! The settings at the top of a machine file, and how each is laid over what a base says of it.

use crate::machine::written::{MachineSpec, TimedOpSpec, UnitSpec};

/// What a setting at the top of a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The machine that this one is laid over; no setting.
    Base,
    /// One value, given whole.
    Value,
    /// Parts: a file gives some of them, each whole, and the others are the base's.
    Parts,
    /// Fields, of which a file gives some, and the others are the base's.
    Fields,
    /// Entries by name, with fields. The fields that an entry must have to be read at all are listed with
    /// a value that can be read.
    Entries(&'static [Field]),
}

/// A field and, if it must be there, something that it could say.
pub(super) type Field = (&'static str, Option<&'static str>);

impl Kind {
    /// Whether it is merged name by name and, in a name's entry, field by field.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Fields | Self::Entries(_))
    }

    /// Whether a setting can lead into it.
    pub(super) fn is_divided(self) -> bool {
        matches!(self, Self::Parts | Self::Fields | Self::Entries(_))
    }

    /// The fields of its entries, if it has entries.
    pub(super) fn entry(self) -> Option<&'static [Field]> {
        match self {
            Self::Entries(fields) => Some(fields),
            _ => None,
        }
    }
}

/// A list with an entry for every field of a struct: one that is added there does not compile without its
/// entry here.
macro_rules! fields_of {
    ($spec:ident { $($field:ident: $entry:expr),* $(,)? }) => {{
        const _: fn(&$spec) = |$spec { $($field: _),* }| ();
        &[$((stringify!($field), $entry)),*]
    }};
}

const UNIT: &[Field] = fields_of!(UnitSpec { init: Some("1"), lat: Some("1"), shared: None, source: None });

const OP: &[Field] = fields_of!(TimedOpSpec { unit: Some("\"\""), init: None, lat: None, source: None });

/// Every setting at the top, in the order in which messages list them.
pub(super) const SETTINGS: &[(&str, Kind)] = fields_of!(MachineSpec {
    extends: Kind::Base,
    name: Kind::Value,
    doc: Kind::Value,
    scheduler: Kind::Value,
    hazards: Kind::Value,
    units: Kind::Entries(UNIT),
    ops: Kind::Entries(OP),
    limits: Kind::Fields,
    exit_issues: Kind::Value,
    two_level_active: Kind::Value,
    shared_memory: Kind::Fields,
    sub_cores: Kind::Value,
    pipeline: Kind::Parts,
    memory: Kind::Parts,
    sms: Kind::Value,
    reconvergence: Kind::Value,
    dependences: Kind::Value,
});

/// What the setting of this name is; an unknown one, which is nobody's, is a value.
pub(super) fn kind(name: &str) -> Kind {
    SETTINGS.iter().find(|(known, _)| *known == name).map_or(Kind::Value, |(_, kind)| *kind)
}
