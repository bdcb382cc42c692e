//! A machine laid over those it extends.

use serde_json::{Map, Value};

use super::merge::{from_json, lay, said, to_json};
use super::sources::{Change, renew};
use crate::diag::{Diagnostics, SourceText};
use crate::machine::written::MachineSpec;

impl MachineSpec {
    /// Reads a machine file and everything it extends, the base first in effect: what the file
    /// itself says wins. `load` finds a machine by name or path.
    ///
    /// # Errors
    /// What is wrong in any of the files, or a circle of `extends`.
    pub fn parse_with_bases(
        source: &SourceText,
        load: &dyn Fn(&str) -> Result<SourceText, Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        let first = Self::parse(source)?;
        if first.extends.is_none() {
            return Ok(first);
        }
        let mut chain = vec![said(source, &first)?];
        let mut names = vec![source.name().to_owned()];
        let mut extends = first.extends;
        while let Some(base) = extends {
            let text = load(&base)?;
            if names.iter().any(|name| name == text.name()) {
                let message =
                    format!("`extends` runs in a circle: {} extends {base} again", names.join(" extends "));
                return Err(source.error_at("extends", message).into());
            }
            names.push(text.name().to_owned());
            let spec = Self::parse(&text)?;
            // under the last one lie the defaults alone: what it says beyond its values changes nothing
            chain.push(if spec.extends.is_some() { said(&text, &spec)? } else { to_json(&spec) });
            extends = spec.extends;
        }
        let mut merged = Map::new();
        for mut said in chain.into_iter().rev() {
            let name = said.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(base) = merged.get("name").and_then(Value::as_str)
                && !said.contains_key("doc")
                && said.keys().any(|key| key != "name" && key != "extends")
            {
                // what the base says of itself is not so any more
                said.insert("doc".to_owned(), format!("{base} with other settings").into());
            }
            let (before, over) = (merged.clone(), said.clone());
            lay(&mut merged, said);
            renew(&before, &mut merged, &over, (Change::File(&format!("machine {name}")), true));
        }
        // what the bases said is part of it now
        merged.remove("extends");
        from_json(merged).map_err(|error| source.error_at("Machine", error).into())
    }
}
