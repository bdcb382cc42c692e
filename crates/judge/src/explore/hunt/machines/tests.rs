//! The hunt with made-up runs, which need no machine.

use super::*;

const SIZE: CaseSize = CaseSize { blocks: 6, warps: 8, instructions: 12 };

fn plan(jobs: usize) -> MachineHunt {
    MachineHunt { seed: 3, cases: 2000, jobs, bases: 2, size: SIZE, chain: 100 }
}

/// A run that depends on the case only, and is close to its bound if many settings are changed.
fn made_up(case: &Case) -> Ran {
    match case.settings.len() {
        0 => Ran::Refused("no settings".to_owned()),
        1 => Ran::NotApplicable("one setting".to_owned()),
        settings => {
            let makespan = 10 * settings as u64 + u64::from(case.blocks);
            Ran::Judged(Times { makespan, bound: 1000, violated: makespan > 1000 })
        }
    }
}

fn hunted(hunt: &MachineHunt, run: &(dyn Fn(&Case) -> Ran + Sync)) -> MachinesHunted {
    let run = |case: &Case| -> Result<Ran, ()> { Ok(run(case)) };
    hunt_machines(hunt, &run, &ProgressMonitor::new()).expect("no run fails")
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let one = hunted(&plan(1), &made_up);
    assert_eq!(one, hunted(&plan(3), &made_up));
    assert_eq!((one.violation, one.summary.cases, one.ended_early), (None, 2000, false));
    let CaseSummary { refused, not_applicable, judged, .. } = one.summary;
    assert_eq!(refused + not_applicable + judged, 2000);
    assert!(refused > 0 && not_applicable > 0 && judged > 1000);
    assert_ne!(one.summary.closest, hunted(&MachineHunt { seed: 4, ..plan(1) }, &made_up).summary.closest);
}

/// The witness has what the violation needs, and nothing else.
#[test]
fn a_violation_is_shrunk() {
    let queue = |case: &Case| case.settings.contains_key("pipeline.queue");
    let run = |case: &Case| {
        let violated = queue(case) && case.blocks > 2 && case.kernel_text().contains("membar.gl");
        Ran::Judged(Times { makespan: 5 + u64::from(violated), bound: 5, violated })
    };
    let one = hunted(&plan(1), &run);
    assert_eq!(one, hunted(&plan(3), &run));
    let violation = one.violation.expect("some case has all three");
    let (witness, times) = violation.witness;
    assert!(run(&witness) == Ran::Judged(times) && times.violated);
    assert_eq!((witness.settings.len(), witness.blocks, witness.threads), (1, 3, 1));
    assert_eq!(witness.instructions(), 1);
    assert!(violation.shrink_tries > 0 && violation.found.0.instructions() >= 1);
}

#[test]
fn the_error_of_a_run_ends_the_hunt() {
    let run = |case: &Case| if case.blocks == 5 { Err("five") } else { Ok(made_up(case)) };
    assert_eq!(hunt_machines(&plan(2), &run, &ProgressMonitor::new()), Err("five"));
}

/// Every placeholder of a form is replaced, and every case has a body.
#[test]
fn kernels_have_no_placeholders() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut case = Case::random(&SIZE, 1, &mut rng);
    for _ in 0..5000 {
        case.mutate(&SIZE, &mut rng);
        assert!((1..=SIZE.instructions).contains(&case.instructions()));
        assert!(case.blocks <= SIZE.blocks && case.threads <= 32 * SIZE.warps);
        let text = case.kernel_text();
        assert!(!text.contains(|c: char| c.is_ascii_uppercase()), "{text}");
        assert!(case.smaller().iter().all(|smaller| smaller != &case));
    }
}
