//! Golden digests: the same input gives the same events, for every shipped launch under every
//! policy. A change of a digest changes the results of users; it must be intended.
//! `WARPBOUND_BLESS=1 cargo test --test engine golden` rewrites the file.

use crate::shipped;

use std::fmt::Write;

use shipped::{launch_files, load, machine, root};
use warpbound::exec::{Executor, Options};
use warpbound::machine::PolicyKind;
use warpbound::program::TimingTable;
use warpbound::sim::{PolicySetup, simulate};
use warpbound::trace::Digest;

const FILE: &str = "tests/data/golden.csv";

fn digests() -> String {
    let machines = [machine("ecrts25-orin"), machine("accelsim-ecrts")];
    let mut text = "launch,machine,policy,makespan,issues,digest\n".to_owned();
    for file in launch_files() {
        let shipped = load(&file, 0);
        for machine in &machines {
            let table = TimingTable::new(&shipped.program, machine).unwrap();
            let needs = shipped.launch.needs(&shipped.program);
            let resident = machine.limits().occupancy(&needs).unwrap().blocks.min(shipped.launch.blocks());
            // launches of many blocks take long, and their kernels are included with one block
            // under every policy
            let all = PolicyKind::NAMED.into_iter().chain([PolicyKind::Random(1)]);
            let number = if shipped.name.ends_with("_grid") { 2 } else { usize::MAX };
            for kind in all.take(number) {
                let policy = PolicySetup::new(&kind, |_| unreachable!("no replay among them")).unwrap();
                let mut source =
                    Executor::new(&shipped.program, &shipped.launch, Options::default()).unwrap();
                let mut digest = Digest::new();
                let run = simulate(&mut source, &table, machine, &policy, resident, &mut digest, |_, _| {})
                    .unwrap();
                assert_eq!(
                    run.issues + run.stalls.total().get(),
                    run.makespan.get(),
                    "issues and stalls add up"
                );
                let name = &shipped.name;
                writeln!(
                    text,
                    "{name},{},{kind},{},{},{:016x}",
                    machine.name(),
                    run.makespan,
                    run.issues,
                    digest.value()
                )
                .unwrap();
            }
        }
    }
    text
}

#[test]
fn every_launch_under_every_policy_is_unchanged() {
    // the engine starts no threads; concurrent runs must not disturb each other
    let (now, second_run) = std::thread::scope(|scope| {
        let second_run = scope.spawn(digests);
        (digests(), second_run.join().unwrap())
    });
    assert!(now == second_run, "two threads do not get the same");
    let path = root().join(FILE);
    if std::env::var_os("WARPBOUND_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<String> = golden
        .lines()
        .zip(now.lines())
        .filter(|(before, after)| before != after)
        .map(|(before, after)| format!("- {before}\n+ {after}"))
        .collect();
    assert!(changed.is_empty(), "{} rows changed:\n{}", changed.len(), changed.join("\n"));
    assert_eq!(golden.lines().count(), now.lines().count(), "launches came or went");
}
