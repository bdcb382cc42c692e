//! The JSON Schema files of the output of commands, `schemas/COMMAND.json`, generated from the
//! types.
//!
//! After a change, `WRITE_SCHEMAS=1 cargo test -p warpbound-report schemas` writes them; without
//! the variable, the test compares them. The tests in `tests/cli` validate real output against
//! them.

use std::borrow::Cow;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::output::Output;
use super::{
    ablation, all_paths, anomaly, cause, cfg, compare, compile, diff, evidence, evidence_pack, explore,
    export, fastest, fermi, hunt, hybrid, import_config, inspect, list, output, phases, pwcet, reproduce,
    run, suite, sweep, terms, validate, wcet, worst,
};

/// Stands for [`warpbound_trace::why::Kind`] in a schema, because that crate has no schemas.
pub struct Kind;

impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds: Vec<_> = warpbound_trace::why::Kind::ALL
            .iter()
            .map(|kind| serde_json::json!({ "description": kind.meaning(), "type": "string", "const": kind }))
            .collect();
        json_schema!({ "description": "What a link of the path is.", "oneOf": kinds })
    }
}

/// A result of `compare`, without or with `--over`.
#[derive(Serialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(untagged)]
enum Compared {
    /// Every bound of a kernel beside its makespans.
    Bounds(compare::CompareResult),
    /// The fastest policy for each value of a setting, with `--over`.
    Fastest(fastest::FastestResult),
}

fn schema<R: JsonSchema>(title: &str) -> (String, String) {
    // for serialization, so that a field that may be left out is not required
    let mut schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<R>();
    schema.insert("title".to_owned(), format!("warpbound {title} --format json").into());
    schema.insert("$id".to_owned(), format!("warpbound-{title}-{}.json", output::SCHEMA).into());
    (title.to_owned(), serde_json::to_string_pretty(&schema).unwrap() + "\n")
}

#[test]
fn the_schema_files_are_those_of_the_types() {
    let all = [
        schema::<suite::CheckReport>("check"),
        schema::<Output<run::RunResult>>("run"),
        schema::<Output<diff::DiffResult>>("diff"),
        schema::<Output<cause::WhyResult>>("why"),
        schema::<Output<phases::PhasesResult>>("phases"),
        schema::<Output<cfg::CfgResult>>("cfg"),
        schema::<all_paths::StaticReport>("static"),
        schema::<Output<wcet::WcetResult>>("wcet"),
        schema::<Output<pwcet::PwcetReport>>("pwcet"),
        schema::<Output<Compared>>("compare"),
        schema::<Output<evidence::EvidenceResult>>("evidence"),
        schema::<Output<evidence_pack::EvidencePack>>("evidence-pack"),
        schema::<Output<explore::ExploreResult>>("explore"),
        schema::<worst::WorstReport>("worst"),
        schema::<Output<hunt::HuntOutcome>>("hunt"),
        schema::<Output<hybrid::HybridResult>>("hybrid"),
        schema::<Output<anomaly::AnomalyResult>>("anomaly"),
        schema::<Output<fermi::FermiResult>>("fermi"),
        schema::<Output<ablation::Ablation>>("ablate"),
        schema::<Output<sweep::SweepResult>>("sweep"),
        schema::<Output<sweep::SweepResult>>("merge"),
        schema::<Output<reproduce::Reproduced>>("reproduce"),
        schema::<Output<inspect::InspectResult>>("inspect"),
        schema::<Output<import_config::ImportResult>>("import-config"),
        schema::<Output<export::ExportResult>>("export"),
        schema::<Output<compile::CompileResult>>("compile"),
        schema::<Output<list::Listing>>("list"),
        schema::<Output<terms::Terms>>("explain"),
        schema::<Output<validate::ValidateResult>>("validate"),
        schema::<output::Failed>("errors"),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (name, schema) in &all {
        let path = folder.join(format!("{name}.json"));
        if std::env::var_os("WRITE_SCHEMAS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, schema).unwrap();
        }
        let file = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(file == *schema, "schemas/{name}.json does not match the types: see the head of this file");
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, all.len(), "a file in schemas/ belongs to no command");
}
