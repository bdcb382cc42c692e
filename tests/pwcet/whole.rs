//! The complete analysis.

use std::time::Instant;

use warpbound::base::ProgressMonitor;
use warpbound::pwcet::{Options, Sample, analyse};

use super::data::Source;

fn analysed(cycles: &[u64], options: &Options, threads: usize) -> String {
    let sample = Sample::from_cycles(cycles).expect("a sample");
    let analysis = analyse(&sample, options, threads, &ProgressMonitor::new()).expect("an analysis");
    serde_json::to_string_pretty(&analysis).expect("JSON")
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let cycles = Source::new(7).cycles(1500);
    let options = Options { bootstraps: 40, ..Options::default() };
    let one = analysed(&cycles, &options, 1);
    assert_eq!(one, analysed(&cycles, &options, 2));
    for threads in [0, 5, usize::MAX] {
        assert_eq!(one, analysed(&cycles, &options, threads));
    }
    let other = Options { seed: 2, ..options };
    assert_ne!(one, analysed(&cycles, &other, 2), "the seed is not used");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the time is that of a release build")]
fn fifty_thousand_with_a_thousand_bootstraps_take_less_than_ten_seconds() {
    let cycles = Source::new(7).cycles(50_000);
    assert_eq!(Options::default().bootstraps, 1000);
    let start = Instant::now();
    let json = analysed(&cycles, &Options::default(), 2);
    let taken = start.elapsed();
    println!("{taken:?}, {} bytes", json.len());
    assert!(taken.as_secs() < 10, "{taken:?}");
    assert!(json.len() < 300_000, "{} bytes", json.len());
}
