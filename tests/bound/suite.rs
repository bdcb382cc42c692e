//! The tightness of the proved bounds on the suite: where LWB is below IWB and GUB.

use crate::shipped;

use shipped::{Shipped, launch_files, load, machine};
use warpbound::bound::{Analyser, Bound, BoundReport, Gub, Iwb, Lwb, Swb};
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::TimingTable;

/// Returns GUB, IWB, SWB and LWB of a launch whose blocks run one after the other.
fn bounds(shipped: &Shipped) -> [u64; 4] {
    let machine = machine("ecrts25-orin");
    let table = TimingTable::new(&shipped.program, &machine).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { max_instructions_per_block: 1 << 30, ..Options::default() };
    let mut executor = Executor::new(&shipped.program, &shipped.launch, options).expect("a launch");
    let mut paths = BlockPaths::default();
    let mut analyser = Analyser::new(&table);
    let mut sums = [0; 4];
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{error}")) {
        let bounds: [&dyn Bound; 4] = [&Gub, &Iwb, &Swb, &Lwb];
        let mut reports: [BoundReport; 4] = Default::default();
        analyser.for_each_section(&paths, |section| {
            for (bound, report) in bounds.iter().zip(&mut reports) {
                bound.add_section(report, section);
            }
        });
        sums.iter_mut().zip(&reports).for_each(|(sum, report)| *sum += report.value.cycles().get());
    }
    sums
}

#[test]
fn lwb_is_below_iwb_nearly_everywhere() {
    let launches = launch_files().into_iter().map(|file| load(&file, 0));
    let suite: Vec<(String, [u64; 4])> = launches
        .filter(|shipped| shipped.spec.suite)
        .map(|shipped| (shipped.name.clone(), bounds(&shipped)))
        .collect();
    assert_eq!(suite.len(), 89);
    assert!(suite.iter().all(|(_, [_, iwb, swb, lwb])| lwb <= swb && swb <= iwb));
    let names = |those: &dyn Fn(&[u64; 4]) -> bool| -> Vec<&str> {
        suite.iter().filter(|(_, values)| those(values)).map(|(name, _)| name.as_str()).collect()
    };
    // kernels in which no wait for the longest latency gives a credit; in xorhash, the warps wait
    // for stores, at the very end
    assert_eq!(
        names(&|[_, iwb, _, lwb]| lwb == iwb),
        ["diffusion_step", "lud_perimeter", "nbody_forces", "nbody_move", "radix_block", "xorhash"]
    );
    assert_eq!(names(&|[_, _, swb, lwb]| lwb < swb).len(), 66);
    assert_eq!(names(&|[gub, _, _, lwb]| lwb < gub).len(), 61);
    // GUB charges E for the others, which is less than their slots and backlogs there; it is not
    // proved
    assert_eq!(
        names(&|[gub, _, _, lwb]| lwb > gub),
        [
            "conv2d",
            "gridpath",
            "hotspot",
            "ifelse",
            "oddeven_shared",
            "particle_step",
            "sgemm_dbuf",
            "softmax_warp"
        ]
    );
}
