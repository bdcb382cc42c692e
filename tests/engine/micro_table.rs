//! The table of micro kernels in `kernels/README.md` states the correct results.

use crate::micro;
use crate::shipped;

/// Returns the text between backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_row_is_what_its_settings_give() {
    let text = shipped::source(&shipped::root().join("kernels/README.md"));
    let (mut rows, mut wrong) = (0, Vec::new());
    for line in text.text().lines().filter(|line| line.starts_with("| ") && line.contains(" → ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [kernel, _, settings, more, numbers] = cells[..] else { panic!("five cells: {line}") };
        let first = quoted(settings);
        let second = [first.clone(), quoted(more)].concat();
        let cycles = [first, second].map(|settings| micro::cycles(quoted(kernel)[0], &settings));
        if numbers != format!("{} → {}", cycles[0], cycles[1]) {
            wrong.push(format!("{line}\n    gives {} → {}", cycles[0], cycles[1]));
        }
        rows += 1;
    }
    assert!(rows > 20, "only {rows} rows found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
