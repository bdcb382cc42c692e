//! Tests of machines that are built from files and settings.

mod documented;
mod settings;
mod sources;

use super::{Machine, MachineSpec, Setting};
use crate::base::Cycles;
use crate::diag::{Diagnostic, Diagnostics, SourceText};

const FIG2: &str = r#"Machine(
    name: "fig2", policy: Gto, hazards: [Raw],
    units: { "red": Unit(init: 2, lat: 6), "blue": Unit(init: 3, lat: 4) },
    ops: { "f0": "red", "int": "blue", "int.div": Op(unit: "red", init: 9, lat: 19) },
)"#;

fn machine(text: &str, settings: &[&str]) -> Result<Machine, Diagnostics> {
    let source = SourceText::new("m.ron", text);
    let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
    let none = |name: &str| Err(Diagnostic::general(name, "no such machine").into());
    let spec = MachineSpec::parse_with_bases(&source, &none)?.with_settings(&settings)?;
    Machine::new(&spec, &source)
}

#[test]
fn classes_fall_back_to_their_family() {
    let m = machine(FIG2, &[]).unwrap();
    assert_eq!(m.op("int.add.x").unwrap().init, Cycles::new(3));
    assert_eq!(m.op("int.div").unwrap().lat, Cycles::new(19));
    assert_eq!(m.op("fp"), None);
    assert_eq!(m.op("barrier").unwrap().lat, Cycles::ZERO);
}

#[test]
fn all_problems_are_reported_with_their_line() {
    let text = FIG2.replace("init: 2", "init: 0").replace("\"f0\": \"red\"", "\"f0\": \"rde\"");
    let error = machine(&text, &[]).unwrap_err();
    let shown = error.to_string();
    assert_eq!(error.list().len(), 2, "{shown}");
    assert!(shown.contains("m.ron:3") && shown.contains("units.red.init is 0, it must be 1 to"), "{shown}");
    assert!(shown.contains("m.ron:4") && shown.contains("did you mean `red`"), "{shown}");
}

#[test]
fn extends_overrides_key_by_key_and_finds_circles() {
    let base = SourceText::new("base", FIG2);
    let load = |name: &str| {
        if name == "base" {
            Ok(base.clone())
        } else {
            Ok(SourceText::new("loop", "Machine(name: \"l\", extends: \"loop\")"))
        }
    };
    let child = SourceText::new(
        "child",
        "Machine(name: \"c\", extends: \"base\", units: { \"red\": Unit(init: 4, lat: 4) })",
    );
    let m = Machine::new(&MachineSpec::parse_with_bases(&child, &load).unwrap(), &child).unwrap();
    assert_eq!(m.name(), "c");
    assert_eq!(m.op("f0").unwrap().init, Cycles::new(4));
    assert_eq!(m.op("int").unwrap().init, Cycles::new(3));
    let circle = SourceText::new("x", "Machine(name: \"x\", extends: \"loop\")");
    assert!(MachineSpec::parse_with_bases(&circle, &load).unwrap_err().to_string().contains("circular"));
}
