//! The titles of axes, with the units of columns.

use crate::book;

/// Returns the name of a column with its unit, if it is known.
pub fn with_unit(name: &str) -> String {
    match name {
        "cycles" => return "cycles".to_owned(),
        "ipc" => return "warp instructions per cycle".to_owned(),
        "slowdown" => return "slowdown (times the fastest)".to_owned(),
        _ => {}
    }
    match unit(name) {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    }
}

/// Returns the unit of a column.
fn unit(name: &str) -> Option<String> {
    let is_bound = warpbound_bound::all().iter().any(|bound| bound.name() == name);
    match name.rsplit('.').next().unwrap_or(name) {
        "makespan" | "mem_latency" | "lat" | "init" => Some("cycles".to_owned()),
        "block" => Some("threads".to_owned()),
        "grid" => Some("blocks".to_owned()),
        "dynamic-shared" => Some("bytes".to_owned()),
        last if last.starts_with("idle_") => Some("issue slots".to_owned()),
        _ if is_bound => Some("cycles".to_owned()),
        _ => {
            let rows = book::SETTINGS.table(["setting", "type", "unit", "default", "meaning"]);
            let is_named = |path: &str| book::names(path).iter().any(|known| known == name);
            let row = rows.into_iter().find(|[path, ..]| is_named(path));
            row.map(|[_, _, unit, ..]| unit).filter(|unit| !unit.is_empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_page_of_settings() {
        for (name, title) in [
            ("memory.fixed.latency", "memory.fixed.latency (cycles)"),
            ("memory.l1.cache.line", "memory.l1.cache.line (bytes)"),
            ("mem_latency", "mem_latency (cycles)"),
            ("gub", "gub (cycles)"),
            ("idle_scoreboard", "idle_scoreboard (issue slots)"),
            ("policy", "policy"),
        ] {
            assert_eq!(with_unit(name), title);
        }
    }
}
