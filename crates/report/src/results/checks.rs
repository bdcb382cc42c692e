//! Conversion of the JSON output of `check`, `run`, `static` and `wcet` to records of results.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use warpbound_bound::Standing;
use warpbound_judge::sweep::parts_cell;

use crate::explain::Explained;
use crate::verdict::BoundPart;
use crate::wcet::WcetResult;

/// Returns a record for each run that was judged and for each kernel that failed, or `None` if this
/// is not the output of such a command.
pub fn records_of_check(printed: &Value) -> Option<Vec<Value>> {
    if !["check", "run", "static"].iter().any(|command| printed["command"] == *command) {
        return None;
    }
    let results = printed["results"].as_array()?;
    let bounds = |result: &'_ Value| result["bounds"].as_array().cloned().unwrap_or_default();
    // every record has the columns of all records
    let names: BTreeSet<String> = results
        .iter()
        .flat_map(bounds)
        .filter_map(|bound| Some(bound["name"].as_str()?.to_owned()))
        .collect();
    let blank = || {
        let of_bound = |name: &String| {
            ["", "_overestimation", "_verdict"].map(|end| (format!("{name}{end}"), Value::Null))
        };
        names.iter().flat_map(of_bound).collect::<Map<String, Value>>()
    };
    let mut records = Vec::new();
    for result in results {
        let mut record = blank();
        let mut set = |name: &str, value: Value| record.insert(name.to_owned(), value);
        set("point", json!(records.len()));
        set("kernel", result["kernel"].clone());
        set("machine", result["machine"].clone());
        set("policy", result["policy"].clone());
        let whole = result["complete"] != false;
        if whole {
            set("makespan", result["makespan"].clone());
            set("warp_instructions", result["warp_instructions"].clone());
        } else {
            set("error", json!("the run did not come to its end"));
        }
        let of_bounds = || {
            let is = |status: &str| bounds(result).iter().any(|bound| bound["status"] == status);
            json!(["violated", "holds"].into_iter().find(|status| is(status)).unwrap_or("not-applicable"))
        };
        set("verdict", result.get("verdict").cloned().unwrap_or_else(of_bounds));
        if whole {
            set("parts", json!(parts_of_smallest(&bounds(result))));
        }
        for bound in bounds(result) {
            let Some(name) = bound["name"].as_str() else { continue };
            set(&format!("{name}_verdict"), bound["status"].clone());
            if whole {
                set(name, bound["value"].clone());
                set(&format!("{name}_overestimation"), bound["overestimation"].clone());
            }
        }
        records.push(Value::Object(record));
    }
    for failed in printed["failed"].as_array().into_iter().flatten() {
        let of =
            |problem: &&Value| problem["kernels"].as_array().is_some_and(|kernels| kernels.contains(failed));
        let problem = printed["errors"].as_array().into_iter().flatten().find(of);
        let mut record = blank();
        record.insert("point".to_owned(), json!(records.len()));
        record.insert("kernel".to_owned(), failed.clone());
        for unknown in ["machine", "policy"] {
            record.insert(unknown.to_owned(), json!(""));
        }
        let error = problem.and_then(|problem| problem["message"].as_str()).unwrap_or("it failed");
        record.insert("error".to_owned(), json!(error));
        records.push(Value::Object(record));
    }
    Some(records)
}

/// Returns the parts of the smallest proved bound, in the form of the column `parts` of a sweep.
fn parts_of_smallest(bounds: &[Value]) -> Option<String> {
    let all = warpbound_bound::all();
    let is_proved =
        |name: &Value| all.iter().any(|bound| *name == bound.name() && bound.standing() == Standing::Proved);
    let proved = bounds.iter().filter(|bound| is_proved(&bound["name"]) && bound["value"].is_u64());
    let smallest = proved.min_by_key(|bound| bound["value"].as_u64())?;
    let parts = Vec::<BoundPart>::deserialize(smallest.get("parts")?).ok()?;
    let list: Vec<(&str, u64)> = parts.iter().map(|part| (&*part.part, part.cycles)).collect();
    Some(parts_cell(smallest["name"].as_str()?, &list))
}

/// Returns the results of `wcet --format json` for each kernel.
///
/// # Errors
/// If the JSON is not in the form of `wcet`.
pub fn worst_cases(printed: &Value) -> Result<Vec<WcetResult>, String> {
    let of_wcet = if printed["command"] == "wcet" { printed["results"].as_array() } else { None };
    let read = |one: &Value| WcetResult::deserialize(one).map_err(|error| error.to_string());
    of_wcet.into_iter().flatten().map(read).collect()
}

/// Returns the critical paths in the output of `run --explain --format json`.
///
/// # Errors
/// If the JSON is not in the form of `run`.
pub fn explained(printed: &Value) -> Result<Vec<Explained>, String> {
    let results = printed["results"].as_array().into_iter().flatten();
    let explanations = results.map(|result| &result["explanation"]).filter(|one| !one.is_null());
    let read = |one: &Value| Explained::deserialize(one).map_err(|error| error.to_string())?.added_up();
    explanations.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::HtmlCell;
    use crate::results::Collected;
    use crate::results::collected::tests::add;

    #[test]
    fn a_record_for_each_run() {
        let printed = json!({"command": "check", "results": [
            {"kernel": "k", "machine": "m", "policy": "gto", "makespan": 10, "warp_instructions": 5, "verdict": "holds",
                "bounds": [{"name": "gub", "value": 15, "status": "holds", "overestimation": 0.5,
                    "parts": [{"part": "alone", "cycles": 15}]}, {"name": "iwb", "value": 16, "status": "holds",
                    "overestimation": 0.6, "parts": [{"part": "alone", "cycles": 12}, {"part": "units", "unit": "f", "cycles": 3},
                    {"part": "units", "unit": "g", "cycles": 1}]}], "complete": true},
            {"kernel": "k", "machine": "m", "policy": "srr", "makespan": 10, "warp_instructions": 5, "verdict": "violated",
                "bounds": [{"name": "srr", "value": 9, "status": "violated", "overestimation": -0.1}], "complete": true},
        ], "failed": ["l"], "errors": [{"message": "no such thing", "kernels": ["l"]}]});
        let mut all = Collected::default();
        all.begin("check.json".to_owned(), None);
        records_of_check(&printed).unwrap().iter().for_each(|record| add(&mut all, record).unwrap());
        assert_eq!((all.total.points, all.total.violated, all.total.failed), (3, 1, 1));
        assert_eq!(all.meaning.bounds, ["gub", "iwb", "srr"]);
        assert_eq!((all.spreads[&(0, 0)].mean(), all.spreads[&(2, 1)].violated), (Some(0.5), 1));
        // GUB is not proved, and srr has no parts
        let parts = crate::results::tables::parts(&all).expect("the parts of iwb are known");
        let titles: Vec<&str> = parts.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(titles, ["machine", "points", "alone", "units"]);
        let [machine, count, alone, units] = &parts.rows[0][..] else { panic!("{parts:?}") };
        assert_eq!((machine, count), (&HtmlCell::Text("m".to_owned()), &HtmlCell::Count(1)));
        assert_eq!((alone, units), (&HtmlCell::Percent(0.75), &HtmlCell::Percent(0.25)));
        assert_eq!(records_of_check(&json!({"command": "phases", "results": []})), None);
        assert_eq!(records_of_check(&json!([1])), None);
    }
}
