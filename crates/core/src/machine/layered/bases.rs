//! Combination of a machine file with those it extends.

use serde_json::{Map, Value};

use super::merge::{from_json, overlay, stated_settings, to_json};
use super::sources::{Change, update_sources, with_sources};
use crate::diag::{Diagnostics, SourceText};
use crate::machine::written::MachineSpec;

impl MachineSpec {
    /// Reads a machine file and all files that it extends. A file overrides its base. `load` finds
    /// a machine by its name or path.
    ///
    /// # Errors
    /// A file is invalid, or the chain of `extends` is circular.
    pub fn parse_with_bases(
        source: &SourceText,
        load: &dyn Fn(&str) -> Result<SourceText, Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        let (first, stated) = Self::parse_stated(source)?;
        if first.extends.is_none() {
            return Ok(first);
        }
        let mut chain = vec![stated_settings(&first, &stated)];
        let mut names = vec![source.name().to_owned()];
        let mut extends = first.extends;
        while let Some(base) = extends {
            let text = load(&base)?;
            if names.iter().any(|name| name == text.name()) {
                let message =
                    format!("`extends` is circular: {} extends {base} again", names.join(" extends "));
                return Err(source.error_at("extends", message).into());
            }
            names.push(text.name().to_owned());
            let (spec, stated) = Self::parse_stated(&text)?;
            // Below the last file there are only defaults, so it makes no difference which values
            // it states explicitly.
            chain.push(if spec.extends.is_some() { stated_settings(&spec, &stated) } else { to_json(&spec) });
            extends = spec.extends;
        }
        let mut merged = Map::new();
        for mut stated in chain.into_iter().rev() {
            let name = stated.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(base) = merged.get("name").and_then(Value::as_str)
                && !stated.contains_key("doc")
                && stated.keys().any(|key| key != "name" && key != "extends")
            {
                // the base's description no longer applies
                stated.insert("doc".to_owned(), format!("{base} with other settings").into());
            }
            let (before, over) = (with_sources(&merged, &stated), with_sources(&stated, &merged));
            overlay(&mut merged, stated);
            update_sources(&before, &mut merged, &over, (Change::File(&format!("machine {name}")), true));
        }
        // the result already includes the bases
        merged.remove("extends");
        from_json(merged).map_err(|error| source.error_at("Machine", error).into())
    }
}
