//! Tests of the sources of numbers: no source states a different number than its entry, and a
//! change of a number becomes its source.

use std::path::PathBuf;

use crate::diag::SourceText;
use crate::machine::gpgpusim;
use crate::machine::written::{OpSpec, TimedOpSpec};
use crate::machine::{MachineSpec, Setting};

const STOCK: &str = include_str!("../../../../../tests/data/gpgpusim/rtx3070.config");

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn file(name: &str) -> SourceText {
    let path = folder().join(format!("{name}.ron"));
    SourceText::new(name, std::fs::read_to_string(path).unwrap())
}

fn spec(name: &str) -> MachineSpec {
    MachineSpec::parse_with_bases(&file(name), &|base| Ok(file(base))).unwrap()
}

fn shipped() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let machines = files.filter(|path| path.extension().is_some_and(|extension| extension == "ron"));
    let mut names: Vec<String> =
        machines.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() > 15);
    names
}

/// Returns every entry of a machine that has a source, with its times and its source.
fn sourced(spec: &MachineSpec) -> Vec<(String, u64, u64, String)> {
    let units = spec
        .units
        .iter()
        .map(|(name, unit)| (format!("units.{name}"), unit.init, unit.lat, unit.source.clone()));
    let ops = spec.ops.iter().filter_map(|(name, op)| match op {
        OpSpec::Timed(TimedOpSpec { unit, init, lat, source }) => {
            let timing = spec.units.get(unit)?;
            Some((
                format!("ops.{name}"),
                init.unwrap_or(timing.init),
                lat.unwrap_or(timing.lat),
                source.clone(),
            ))
        }
        OpSpec::Unit(_) => None,
    });
    units.chain(ops).filter(|(.., source)| !source.is_empty()).collect()
}

/// Returns the number before or after a word.
fn number_next_to(source: &str, word: &str, before: bool) -> Option<u64> {
    let at = source.find(word)?;
    let text = if before { source[..at].trim_end() } else { source[at + word.len()..].trim_start() };
    let digit = |c: char| c.is_ascii_digit();
    let digits: String = match before {
        true => text.chars().rev().take_while(|&c| digit(c)).collect::<Vec<_>>().into_iter().rev().collect(),
        false => text.chars().take_while(|&c| digit(c)).collect(),
    };
    digits.parse().ok()
}

/// Panics if a source states a different number. Returns how many sources state one.
fn agree(spec: &MachineSpec, machine: &str) -> usize {
    let mut numbers = 0;
    for (name, init, lat, source) in sourced(spec) {
        for (found, value) in [
            (number_next_to(&source, " total", true), init + lat),
            (number_next_to(&source, "II ", false), init),
        ] {
            if let Some(found) = found {
                assert_eq!(found, value, "{machine}: {name} is ({init}, {lat}): {source}");
                numbers += 1;
            }
        }
    }
    numbers
}

#[test]
fn no_shipped_machine_contradicts_its_sources() {
    let numbers: usize = shipped().iter().map(|name| agree(&spec(name), name)).sum();
    assert!(numbers > 100, "{numbers}");
}

#[test]
fn an_option_becomes_the_source_of_the_numbers_it_sets() {
    for name in shipped() {
        let before = spec(&name);
        let doc = before.doc.clone().unwrap_or_default();
        for (entry, init, lat, source) in sourced(&before) {
            for (field, old) in [("init", init), ("lat", lat)] {
                let setting = format!("{entry}.{field}={}", old + 3);
                let changed = before.clone().with_settings(&[Setting::parse(&setting).unwrap()]).unwrap();
                agree(&changed, &format!("{name} with {setting}"));
                let (.., now) = sourced(&changed).into_iter().find(|(other, ..)| *other == entry).unwrap();
                assert_eq!(now, format!("--set {setting}"), "{name}: {source}");
                let its_doc = changed.doc.unwrap_or_default();
                assert!(
                    doc.is_empty() || its_doc.ends_with(&format!("Changed by --set {setting}.")),
                    "{its_doc}"
                );
            }
            // a value that does not change keeps its source
            let unchanged = Setting::parse(&format!("{entry}.init={init}")).unwrap();
            let unchanged = before.clone().with_settings(&[unchanged]).unwrap();
            if serde_json::to_value(&unchanged).unwrap() == serde_json::to_value(&before).unwrap() {
                assert!(sourced(&unchanged).contains(&(entry, init, lat, source)));
            }
        }
    }
    let several = ["units.int.init=5", "units.int.lat=7", "units.int.init=6", "sms=3"];
    let several: Vec<Setting> = several.iter().map(|setting| Setting::parse(setting).unwrap()).collect();
    let changed = spec("rtx3070").with_settings(&several).unwrap();
    assert_eq!(changed.units["int"].source, "--set units.int.lat=7; --set units.int.init=6");
    assert!(changed.doc.unwrap().contains("--set sms=3"));
    let rule = [Setting::parse("shared_memory.latency=9").unwrap()];
    let rule = spec("turing-tu102").with_settings(&rule).unwrap().shared_memory.unwrap();
    assert_eq!(rule.source, "--set shared_memory.latency=9");
    let setting = [Setting::parse("units.int.source=a paper").unwrap()];
    assert_eq!(spec("rtx3070").with_settings(&setting).unwrap().units["int"].source, "a paper");
    let latency = spec("ecrts25-orin").with_memory_latency(321).unwrap();
    assert_eq!(latency.units["gmem"].source, "--mem-latency 321");
}

#[test]
fn a_file_becomes_the_source_of_the_numbers_it_overrides() {
    let text = "Machine(name: \"own\", extends: \"rtx3070\", units: { \"sfu\": Unit(init: 8, lat: 13), \
                \"int\": Unit(init: 3, lat: 3), \"fp32\": Unit(init: 1, lat: 9, source: \"measured\") })";
    let extended =
        MachineSpec::parse_with_bases(&SourceText::new("own", text), &|base| Ok(file(base))).unwrap();
    assert_eq!(
        (&*extended.units["int"].source, &*extended.units["fp32"].source),
        ("machine own", "measured")
    );
    // this entry states the same numbers as the base
    assert!(extended.units["sfu"].source.starts_with("GPGPU-Sim"), "{}", extended.units["sfu"].source);
    assert_eq!(extended.doc.unwrap(), "rtx3070 with other settings");
}

/// Imports options with other times; each entry has the times of its list.
#[test]
fn an_imported_option_becomes_the_source_of_its_numbers() {
    let base = spec("accelsim-sm1");
    let text = STOCK
        .replace("-ptx_opcode_latency_int 4,4,4,4,21", "-ptx_opcode_latency_int 7,8,9,10,31,41")
        .replace("-ptx_opcode_initiation_int 2,2,2,2,2", "-ptx_opcode_initiation_int 3,3,3,3,3,3")
        .replace("-ptx_opcode_latency_fp 4,4,4,4,39", "-ptx_opcode_latency_fp 5,6,7,8,49")
        .replace("-ptx_opcode_latency_dp 64,64,64,64,330", "-ptx_opcode_latency_dp 8,9,10,11,12")
        .replace("-ptx_opcode_initiation_dp 64,64,64,64,130", "-ptx_opcode_initiation_dp 4,4,4,4,4");
    for text in [STOCK, &text] {
        let imported = gpgpusim::import(&[SourceText::new("a.config", text)], base.clone()).unwrap();
        agree(&imported.spec, "import");
        for (name, .., source) in sourced(&imported.spec) {
            let is_imported = imported.options.iter().any(|option| match &option.became {
                gpgpusim::Became::Settings(settings) => settings.iter().any(|setting| {
                    let (path, value) = setting.split_once('=').unwrap();
                    let entry = name.strip_prefix("ops.").map(|op| format!("\"{op}\":"));
                    path.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.'))
                        || path == "ops" && entry.is_some_and(|entry| value.contains(&entry))
                }),
                _ => false,
            });
            assert_eq!(is_imported, source.contains("(a.config:"), "{name}: {source}");
            assert!(!is_imported || !source.contains("GPGPU-Sim"), "{name}: {source}");
        }
    }
}
