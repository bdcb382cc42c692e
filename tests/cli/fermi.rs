//! The finishing times of the kernels of Raravi and Andersson, 2010, pinned cell by cell, and the
//! corrected formula compared with every schedule well beyond the published table.

use crate::support::{json, warpbound as command};
use warpbound::base::ProgressMonitor;
use warpbound::explore::fermi::{Fairness, FermiBound, FermiMachine, Finishing, TemplateKernel, explore};

fn finishing(warps: usize, repetitions: usize, fairness: Fairness) -> Finishing {
    let machine = FermiMachine::published();
    let kernel = TemplateKernel::new(&machine, warps, repetitions).unwrap();
    explore(&machine, &kernel, fairness, 1_000_000, &ProgressMonitor::new()).unwrap()
}

fn table(warps: std::ops::RangeInclusive<usize>, fairness: Fairness) -> Vec<Vec<(u64, u64)>> {
    let cell = |w, rep| {
        let found = finishing(w, rep, fairness);
        (found.worst.get(), found.best.get())
    };
    warps.map(|w| (1..=4).map(|rep| cell(w, rep)).collect()).collect()
}

#[test]
fn the_table_with_fairness() {
    // (worst, best); rows are 1 to 6 warps, columns rep 1 to 4
    let expected = [
        [(5, 5), (8, 8), (11, 11), (14, 14)],
        [(8, 7), (12, 11), (16, 15), (20, 19)],
        [(11, 10), (17, 16), (23, 22), (29, 28)],
        [(14, 13), (22, 21), (30, 29), (38, 37)],
        [(17, 16), (27, 26), (37, 36), (47, 46)],
        [(20, 19), (32, 31), (44, 43), (56, 55)],
    ];
    assert_eq!(table(1..=6, Fairness::SubBlock), expected);
}

#[test]
fn the_published_formula_is_exact_from_two_warps_on_and_refuted_for_one() {
    for warps in 1..=6 {
        for rep in 1..=4 {
            let worst = finishing(warps, rep, Fairness::SubBlock).worst;
            let published = FermiBound::Published.value(warps, rep);
            if warps == 1 && rep >= 2 {
                assert!(published < worst, "1 warp, rep {rep}");
                assert_eq!(worst.get(), 3 * rep as u64 + 2);
            } else {
                assert_eq!(published, worst, "{warps} warps, rep {rep}");
            }
        }
    }
    assert_eq!(FermiBound::Published.value(1, 2).get(), 7);
}

#[test]
fn the_corrected_formula_is_exact_up_to_eight_warps_and_six_repetitions() {
    for warps in 1..=8 {
        for rep in 1..=6 {
            let worst = finishing(warps, rep, Fairness::SubBlock).worst;
            assert_eq!(FermiBound::Corrected.value(warps, rep), worst, "{warps} warps, rep {rep}");
        }
    }
}

#[test]
fn without_fairness_the_published_formula_is_exceeded() {
    let expected = [
        [(5, 5), (8, 8), (11, 11), (14, 14)],
        [(8, 7), (12, 11), (17, 15), (21, 19)],
        [(11, 10), (18, 16), (25, 22), (32, 28)],
        [(14, 13), (23, 21), (32, 29), (41, 37)],
        [(17, 16), (28, 26), (39, 36), (50, 46)],
        [(20, 19), (33, 31), (46, 43), (59, 55)],
    ];
    assert_eq!(table(1..=6, Fairness::Unrestricted), expected);
    for warps in 2..=6 {
        for rep in 1..=4 {
            let exceeded =
                finishing(warps, rep, Fairness::Unrestricted).worst > FermiBound::Published.value(warps, rep);
            assert_eq!(exceeded, rep >= if warps == 2 { 3 } else { 2 }, "{warps} warps, rep {rep}");
        }
    }
}

#[test]
fn the_bound_without_fairness_holds_and_is_tight_but_for_two_warps() {
    for warps in 1..=7 {
        for rep in 1..=5 {
            let worst = finishing(warps, rep, Fairness::Unrestricted).worst.get();
            let bound = FermiBound::WithoutFairness.value(warps, rep).get();
            assert!(worst <= bound, "{warps} warps, rep {rep}");
            if warps == 2 {
                assert_eq!(worst, (4 * rep + 4 + (rep - 1) / 2) as u64);
            } else {
                assert_eq!(worst, bound, "{warps} warps, rep {rep}");
            }
        }
    }
}

#[test]
fn the_command_gives_a_verdict_per_cell() {
    let report = json(&["fermi"], 0);
    let cells = report["results"].as_array().unwrap();
    assert_eq!((cells.len(), &cells[0]["fairness"]), (24, &true.into()));
    for cell in cells {
        let lone = cell["warps"] == 1 && cell["rep"] != 1;
        let [ft, corrected, unfair] = [0, 1, 2].map(|i| &cell["bounds"][i]);
        assert_eq!(
            (&ft["name"], &ft["status"]),
            (&"ft".into(), &if lone { "violated" } else { "holds" }.into())
        );
        assert_eq!((&corrected["status"], &corrected["exact"]), (&"holds".into(), &true.into()));
        assert_eq!(unfair["status"], "holds");
    }
    let report = json(&["fermi", "--no-fairness", "--warps", "2..=3", "--rep", "2..=3"], 0);
    let exceeded: Vec<bool> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| {
            assert_eq!(cell["bounds"][0]["status"], "not-applicable");
            assert!(cell["bounds"][0]["reason"].as_str().unwrap().contains("fairness"));
            cell["bounds"][0]["exceeded"].as_bool().unwrap()
        })
        .collect();
    assert_eq!(exceeded, [false, true, true, true]);
}

#[test]
fn a_witness_is_printed_cycle_by_cycle() {
    let report = json(&["fermi", "--witness", "4,1"], 0);
    let witness = &report["results"][0];
    assert_eq!((&witness["worst"], &witness["best"]), (&14.into(), &13.into()));
    assert_eq!(witness["worst_schedule"][0].as_str().unwrap().len(), 14);
    let text = String::from_utf8(command(&["fermi", "--witness", "1,2"]).stdout).unwrap();
    assert!(text.contains("  1-16     C  L  L  C  L  L  C  S\n") && text.contains("TOO LOW"), "{text}");
}

#[test]
fn a_kernel_takes_as_long_as_its_slowest_sm() {
    let report = json(&["fermi", "--threads", "64,16,33", "--rep", "2"], 0);
    let kernel = &report["results"][0];
    assert_eq!(kernel["warps"], serde_json::json!([4, 1, 3]));
    assert_eq!(kernel["bounds"][0]["value"], 22);
}

#[test]
fn wrong_input_and_too_little_fuel_are_reported() {
    for args in [
        &["fermi", "--warps", "0"][..],
        &["fermi", "--warps", "17"],
        &["fermi", "--rep", "3..=2"],
        &["fermi", "--rep", "1..=10000"],
        &["fermi", "--witness", "4"],
        &["fermi", "--witness", "4,2", "--max-states", "5"],
        &["fermi", "--machine", "configs/paper-fig2.ron"],
        &["fermi", "--machine", "nowhere.ron"],
    ] {
        assert_eq!(command(args).status.code(), Some(1), "{args:?}");
    }
    let report = json(&["fermi", "--warps", "6", "--rep", "4", "--max-states", "50"], 0);
    let cell = &report["results"][0];
    assert_eq!((&cell["complete"], cell.get("worst")), (&false.into(), None));
    assert_eq!(cell["bounds"][1]["status"], "undecided");
}
