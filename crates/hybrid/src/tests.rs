//! Tests with the paper's examples, with small graphs calculated by hand, and with random graphs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use warpbound_core::base::Cycles;
use warpbound_core::program::graph::{FlowGraph, divergent_edges};

/// Returns a graph of these edges, whose last node is its end.
fn graph(nodes: usize, edges: &[(usize, usize)]) -> FlowGraph {
    let mut successors = vec![Vec::new(); nodes];
    edges.iter().for_each(|&(from, to)| successors[from].push(to));
    FlowGraph::new(successors, (0..nodes).map(|node| node + 1 == nodes).collect())
}

/// Returns figure 1. The text of the paper gives its transitions and one path, i2 -> b2 -> b3 ->
/// i2: nodes i1, i2, b2, b3, i3, i4.
fn figure_1() -> Ipg {
    let all = graph(6, &[(0, 1), (0, 4), (1, 2), (2, 3), (3, 1), (2, 5), (4, 5)]);
    Ipg::new(
        &all,
        &[],
        |node| [0, 1, 4, 5].contains(&node),
        |node| ["i1", "i2", "b2", "b3", "i3", "i4"][node].to_owned(),
    )
    .unwrap()
}

fn named(ipg: &Ipg) -> Vec<String> {
    let name = |t: &ipg::Transition| format!("{} {}", ipg.name(t.from), ipg.name(t.to));
    ipg.transitions().iter().map(name).collect()
}

/// Returns times by the names of a transition's ends; counts are 1000.
fn timing(ipg: &Ipg, wcet: &[(&str, u64)], bounds: &[u64]) -> Timing {
    let names = named(ipg);
    let mut times = vec![None; names.len()];
    for (name, time) in wcet {
        times[names.iter().position(|known| known == name).unwrap()] = Some(Cycles::new(*time));
    }
    Timing { wcet: times, count: vec![1000; names.len()], bound: bounds.to_vec() }
}

fn ilp(ipg: &Ipg, timing: &Timing, limits: Limits) -> u64 {
    IntegerProgram::new(ipg, timing, limits).unwrap().solve().unwrap().value.get()
}

#[test]
fn figure_1_of_the_paper() {
    let ipg = figure_1();
    assert_eq!(named(&ipg), ["i1 i2", "i1 i3", "i2 i2", "i2 i4", "i3 i4"]);
    let repeated = &ipg.transitions()[2];
    assert_eq!((repeated.iterates.as_slice(), repeated.enters.len()), ([0].as_slice(), 0));
    assert_eq!(ipg.transitions()[0].enters, [0]);
    let times = [("i1 i2", 10), ("i2 i2", 7), ("i2 i4", 7), ("i1 i3", 3), ("i3 i4", 5)];
    let all = timing(&ipg, &times, &[2]);
    assert_eq!(tree_value(&ipg, &all).unwrap().get(), 31);
    assert_eq!(ilp(&ipg, &all, Limits::Loops), 31);
    // only the other side of the branch, the paper's max(31, 8)
    let right = timing(&ipg, &[("i1 i3", 3), ("i3 i4", 5)], &[0]);
    assert_eq!((tree_value(&ipg, &right).unwrap().get(), ilp(&ipg, &right, Limits::Loops)), (8, 8));
    // the counts limit the loop further
    let mut once = all.clone();
    once.count[2] = 1;
    assert_eq!((ilp(&ipg, &once, Limits::Counts), ilp(&ipg, &once, Limits::Loops)), (24, 31));
}

/// Traces that replace figure 4, which is not available. These two traces agree with every number
/// that the text of section V gives: starts in cycles 1, 5, 8 and 1, 3, 5; the four longest
/// transitions, each in the test and warp that the text names; 34 cycles from the first start to
/// the last end. The rest of them is invented.
const FIGURE_4: &str = "run
i1 0 1 1\ni1 0 2 5\ni1 0 3 8\ni2 0 1 10\ni3 0 2 12\ni2 0 3 17\ni4 0 1 24\ni4 0 2 26\ni4 0 3 35
run
i1 0 1 1\ni1 0 2 3\ni1 0 3 5\ni3 0 1 9\ni2 0 2 15\ni3 0 3 18\ni4 0 1 20\ni4 0 2 30\ni4 0 3 31
";

#[test]
fn the_running_example_of_section_v() {
    let ipg = figure_1();
    let observed = read_traces(FIGURE_4.as_bytes(), "figure 4", &ipg, &[], None).unwrap().unwrap();
    let of = |name: &str| named(&ipg).iter().position(|known| known == name).unwrap();
    for (name, time, run, warp) in
        [("i1 i2", 12, 2, 2), ("i1 i3", 13, 2, 3), ("i2 i4", 18, 1, 3), ("i3 i4", 14, 1, 2)]
    {
        assert_eq!(observed.timing.wcet[of(name)], Some(Cycles::new(time)), "{name}");
        let origin = observed.longest[of(name)].unwrap();
        assert_eq!((origin.run, origin.warp), (run, warp), "{name}");
    }
    assert_eq!(observed.timing.wcet[of("i2 i2")], None);
    let waves = observed.waves;
    assert_eq!((waves.waves, waves.warps_per_wave, waves.spacing.get(), waves.jitter.get()), (1, 3, 4, 7));
    let found = estimate(&ipg, &observed, &[], default_limits(&ipg)).unwrap();
    let values = [found.warp, found.dynamic, found.hybrid].map(|e| (e.value.get(), e.below_high_water));
    assert_eq!(found.high_water.get(), 34);
    assert_eq!(values, [(30, true), (37, false), (38, false)]);
    assert_eq!(found.tree.unwrap().value.get(), 30);
    assert_eq!(found.unobserved, [of("i2 i2")]);
}

#[test]
fn nested_loops_by_hand() {
    // 0 -> 1 (outer header) -> 2 (inner header) -> 3 -> 2, 2 -> 1, 1 -> 4
    let all = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 4)]);
    let ipg = Ipg::new(&all, &[], |_| true, |node| format!("b{node}")).unwrap();
    let times = [("b0 b1", 1), ("b1 b2", 2), ("b2 b3", 3), ("b3 b2", 4), ("b2 b1", 5), ("b1 b4", 6)];
    let all = timing(&ipg, &times, &[3, 10]);
    // an outer iteration: 2 + 10 * (3 + 4) + 5 = 77
    assert_eq!(tree_value(&ipg, &all).unwrap().get(), 1 + 3 * 77 + 6);
    assert_eq!(ilp(&ipg, &all, Limits::Loops), 1 + 3 * 77 + 6);
    // read from a trace: the inner loop twice, then once, in two outer iterations
    let walk = [0, 1, 2, 3, 2, 3, 2, 1, 2, 3, 2, 1, 4];
    let text: String = walk.iter().enumerate().map(|(at, node)| format!("b{node} 0 0 {at}\n")).collect();
    let observed = read_traces(text.as_bytes(), "t", &ipg, &[], None).unwrap().unwrap();
    assert_eq!(observed.timing.bound, [2, 2]);
    let counts: Vec<u64> = observed.timing.count.clone();
    assert_eq!(counts, [1, 2, 1, 2, 3, 3]);
}

#[test]
fn coarse_instrumentation_still_bounds_loops() {
    // the loop's header 1 is not an ipoint: from 2 a warp goes back through it to 2 or 3, and
    // likewise from 3
    let all = graph(5, &[(0, 1), (1, 2), (1, 3), (2, 1), (3, 1), (2, 4), (3, 4)]);
    let ipg = Ipg::new(&all, &[], |node| node != 1, |node| format!("b{node}")).unwrap();
    assert_eq!(named(&ipg), ["b0 b2", "b0 b3", "b2 b2", "b2 b3", "b2 b4", "b3 b2", "b3 b3", "b3 b4"]);
    let times: Vec<(String, u64)> = named(&ipg).into_iter().map(|name| (name, 10)).collect();
    let times: Vec<(&str, u64)> = times.iter().map(|(name, time)| (name.as_str(), *time)).collect();
    let all = timing(&ipg, &times, &[3]);
    assert_eq!(tree_value(&ipg, &all), Err(NoTree::HeaderWithoutIpoint(0)));
    assert_eq!(ilp(&ipg, &all, Limits::Loops), 10 + 30 + 10);
}

#[test]
fn divergence_needs_counts() {
    let all = graph(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let edges: Vec<(usize, usize)> =
        divergent_edges(&all, |_| false).iter().map(|e| (e.from, e.to)).collect();
    let ipg = Ipg::new(&all, &edges, |_| true, |node| format!("b{node}")).unwrap();
    assert_eq!(named(&ipg), ["b0 b1", "b0 b2", "b1 b2", "b1 b3", "b2 b1", "b2 b3"]);
    let added: Vec<bool> = ipg.transitions().iter().map(|t| t.divergent).collect();
    assert_eq!(added, [false, false, true, false, true, false]);
    let text = "b0 0 0 0\nb1 0 0 5\nb2 0 0 9\nb3 0 0 11\nb0 0 1 11\nb2 0 1 12\nb1 0 1 13\nb3 0 1 14\n";
    let observed = read_traces(text.as_bytes(), "t", &ipg, &[], None).unwrap().unwrap();
    assert_eq!(IntegerProgram::new(&ipg, &observed.timing, Limits::Loops).unwrap_err(), IlpError::Divergent);
    assert_eq!(tree_value(&ipg, &observed.timing), Err(NoTree::Divergent));
    // the counts allow each transition once: 0 -> 1 -> 2 -> 3 takes 5 + 4 + 2, and 0 -> 1 -> 2 -> 1
    // -> 3 takes 5 + 4 + 1 + 1
    assert_eq!(ilp(&ipg, &observed.timing, Limits::Counts), 11);
}

#[test]
fn without_a_way_to_the_end_there_is_no_value() {
    let ipg = figure_1();
    let half = timing(&ipg, &[("i1 i2", 10), ("i2 i2", 7)], &[2]);
    assert_eq!(tree_value(&ipg, &half), Err(NoTree::NoPath));
    let solved = IntegerProgram::new(&ipg, &half, Limits::Loops).unwrap().solve();
    assert_eq!(solved, Err(IlpError::NoPath));
    let huge = timing(&ipg, &[("i1 i2", 1 << 53)], &[2]);
    assert_eq!(IntegerProgram::new(&ipg, &huge, Limits::Loops).unwrap_err(), IlpError::TooLarge);
    let many = timing(&ipg, &[("i1 i2", 1)], &[1 << 31]);
    assert_eq!(IntegerProgram::new(&ipg, &many, Limits::Loops).unwrap_err(), IlpError::TooLarge);
}

#[test]
fn graphs_that_cannot_be_used_are_refused() {
    let make = |all: &FlowGraph, name: fn(usize) -> String| Ipg::new(all, &[], |_| true, name).unwrap_err();
    let word: fn(usize) -> String = |node| format!("b{node}");
    let irreducible = graph(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (1, 3)]);
    assert!(matches!(make(&irreducible, word), IpgError::Irreducible(_)));
    let line = graph(2, &[(0, 1)]);
    assert_eq!(make(&line, |node| format!("{node}b")), IpgError::NotAWord(0, "0b".to_owned()));
    assert_eq!(make(&line, |_| "same".to_owned()), IpgError::Taken(1, "same".to_owned()));
    assert_eq!(make(&line, |_| "run".to_owned()), IpgError::Taken(0, "run".to_owned()));
    let goes_on = FlowGraph::new(vec![vec![1], vec![]], vec![true, true]);
    assert_eq!(make(&goes_on, word), IpgError::ExitGoesOn(0));
    let ended = Ipg::new(&with_end(&goes_on), &[], |_| true, word).unwrap();
    assert_eq!(named(&ended), ["b0 b1", "b0 b2", "b1 b2"]);
    assert_eq!(make(&FlowGraph::default(), word), IpgError::Empty);
}

#[test]
fn lp_text_of_figure_1() {
    let ipg = figure_1();
    let times = [("i1 i2", 10), ("i2 i2", 7), ("i2 i4", 7), ("i1 i3", 3), ("i3 i4", 5)];
    let text = IntegerProgram::new(&ipg, &timing(&ipg, &times, &[2]), Limits::Loops).unwrap().lp_text();
    let expected = "\\ how often a warp takes each transition (x.from.to), and where it ends
Maximize
 time: 10 x.i1.i2 + 3 x.i1.i3 + 7 x.i2.i2 + 7 x.i2.i4 + 5 x.i3.i4 + 0 end.i4
Subject To
 flow.i1: -1 x.i1.i2 - 1 x.i1.i3 = -1
 flow.i2: 1 x.i1.i2 - 1 x.i2.i4 = 0
 flow.i3: 1 x.i1.i3 - 1 x.i3.i4 = 0
 flow.i4: 1 x.i2.i4 + 1 x.i3.i4 - 1 end.i4 = 0
 loop.i2: -2 x.i1.i2 + 1 x.i2.i2 <= 0
Bounds
 0 <= end.i4 <= 1
General
 x.i1.i2
 x.i1.i3
 x.i2.i2
 x.i2.i4
 x.i3.i4
 end.i4
End
";
    assert_eq!(text, expected);
}

/// A generator of structured graphs: sequences, branches with one side or two, loops whose header
/// may leave them, and, in loops, branches that leave the innermost one.
struct Structured<'a> {
    rng: &'a mut ChaCha8Rng,
    successors: Vec<Vec<usize>>,
    headers: Vec<usize>,
    breaks: Vec<Vec<usize>>,
}

impl Structured<'_> {
    fn node(&mut self, after: &[usize]) -> usize {
        let node = self.successors.len();
        self.successors.push(Vec::new());
        after.iter().for_each(|&from| self.successors[from].push(node));
        node
    }

    fn part(&mut self, from: usize, depth: usize) -> usize {
        match self.rng.random_range(0..if depth == 0 { 1 } else { 5 }) {
            0 => self.node(&[from]),
            1 => {
                let first = self.part(from, depth - 1);
                self.part(first, depth - 1)
            }
            2 => {
                let branch = self.node(&[from]);
                let left = self.part(branch, depth - 1);
                let right = if self.rng.random() { self.part(branch, depth - 1) } else { branch };
                self.node(&[left, right])
            }
            3 if !self.breaks.is_empty() => {
                let branch = self.node(&[from]);
                self.breaks.last_mut().unwrap().push(branch);
                self.node(&[branch])
            }
            _ => {
                let header = self.node(&[from]);
                self.headers.push(header);
                self.breaks.push(Vec::new());
                let last = self.part(header, depth - 1);
                self.successors[last].push(header);
                let mut out = self.breaks.pop().unwrap();
                out.push(header);
                self.node(&out)
            }
        }
    }
}

/// Returns a structured graph and its loop headers.
fn structured(rng: &mut ChaCha8Rng) -> (FlowGraph, Vec<usize>) {
    let depth = rng.random_range(1..5);
    let mut made = Structured { rng, successors: vec![Vec::new()], headers: Vec::new(), breaks: Vec::new() };
    let last = made.part(0, depth);
    made.node(&[last]);
    let Structured { successors, headers, .. } = made;
    let end = successors.len() - 1;
    (FlowGraph::new(successors, (0..=end).map(|node| node == end).collect()), headers)
}

#[test]
fn tree_and_program_agree_on_structured_graphs() {
    let mut rng = ChaCha8Rng::seed_from_u64(2013);
    let (mut loops, mut nested) = (0, 0);
    for round in 0..400 {
        let (all, headers) = structured(&mut rng);
        let coarse = round % 2 == 1;
        let skipped: Vec<bool> = (0..all.len()).map(|_| coarse && rng.random_range(0..3) == 0).collect();
        let ipg =
            Ipg::new(&all, &[], |node| headers.contains(&node) || !skipped[node], |node| format!("b{node}"))
                .unwrap();
        loops += ipg.loops().len();
        nested += ipg.loops().iter().filter(|of| of.parent.is_some()).count();
        let transitions = ipg.transitions().len();
        let times = (0..transitions).map(|_| Some(Cycles::new(rng.random_range(0..1000))));
        let timing = Timing {
            wcet: times.collect(),
            count: vec![0; transitions],
            bound: ipg.loops().iter().map(|_| rng.random_range(0..12)).collect(),
        };
        let tree = tree_value(&ipg, &timing).unwrap().get();
        assert_eq!(tree, ilp(&ipg, &timing, Limits::Loops), "round {round}: {all:?} {timing:?}");
    }
    assert!(loops > 200 && nested > 50, "{loops} loops, {nested} of them in others");
}

/// Returns a random path from the entry to the end, or `None` if it does not leave the loops soon
/// enough.
fn walk(rng: &mut ChaCha8Rng, all: &FlowGraph) -> Option<Vec<usize>> {
    let mut walk = vec![0];
    while let Some(&node) = walk.last()
        && !all.leaves(node)
    {
        let next = all.successors(node);
        walk.push(next[rng.random_range(0..next.len())]);
        if walk.len() > 2000 {
            return None;
        }
    }
    Some(walk)
}

#[test]
fn no_warp_that_was_observed_takes_longer_than_the_estimates() {
    let mut rng = ChaCha8Rng::seed_from_u64(34);
    let mut divergent = 0;
    for round in 0..400 {
        let (all, _) = structured(&mut rng);
        let edges: Vec<(usize, usize)> =
            divergent_edges(&all, |_| round % 3 == 0).iter().map(|e| (e.from, e.to)).collect();
        let skipped: Vec<bool> = (0..all.len()).map(|_| rng.random_range(0..3) == 0).collect();
        let ipg = Ipg::new(&all, &edges, |node| !skipped[node], |node| format!("b{node}")).unwrap();
        divergent += usize::from(ipg.has_divergence());
        let updated = all.with_edges(edges.iter().copied());
        let mut text = String::new();
        for run in 0..4u64 {
            // the warps run one after the other, each starting when the previous one ends
            let mut now = run * 7;
            let walks: Vec<Vec<usize>> = (0..4).filter_map(|_| walk(&mut rng, &updated)).collect();
            if !walks.is_empty() {
                text += "run\n";
            }
            for way in walks {
                for node in way {
                    now += rng.random_range(0..50);
                    if node == 0 || all.leaves(node) || !skipped[node] {
                        text += &format!("b{node} 0 0 {now}\n");
                    }
                }
            }
        }
        if text.is_empty() {
            continue;
        }
        let observed = read_traces(text.as_bytes(), "t", &ipg, &[], None).unwrap().unwrap();
        for limits in [Limits::Counts, Limits::Loops] {
            if limits == Limits::Loops && ipg.has_divergence() {
                continue;
            }
            let found = estimate(&ipg, &observed, &[], limits).unwrap();
            assert!(found.warp.value >= observed.longest_warp, "round {round}: {text}");
            assert!(found.dynamic.value >= found.high_water, "the last warp ends last");
            assert_eq!(found.warp.below_high_water, found.warp.value < found.high_water);
        }
    }
    assert!(divergent > 20, "{divergent}");
}

#[test]
fn joined_runs_give_the_result_of_one_trace() {
    let ipg = figure_1();
    let read = |text: &str| read_traces(text.as_bytes(), "t", &ipg, &[], None).unwrap().unwrap();
    let (first, second) = FIGURE_4.trim_start_matches("run\n").split_once("run\n").unwrap();
    for (one, two) in [(first, second), (second, first)] {
        let whole = read(&format!("run\n{one}run\n{two}"));
        let mut joined = read(one);
        joined.then(read(two));
        assert_eq!(joined.timing, whole.timing);
        let place = |at: &Option<observed::Origin>| at.map(|at| (at.run, at.sm, at.warp));
        let places = |found: &Observed| found.longest.iter().map(place).collect::<Vec<_>>();
        assert_eq!(places(&joined), places(&whole));
        assert_eq!((joined.high_water, joined.high_water_run), (whole.high_water, whole.high_water_run));
        assert_eq!((joined.shortest_run, joined.longest_warp), (whole.shortest_run, whole.longest_warp));
        assert_eq!((joined.waves, joined.blocks), (whole.waves, None));
        assert_eq!((joined.runs, joined.warps, joined.events), (2, 6, 18));
    }
}

#[test]
fn given_bounds_widen_the_counts_of_their_loop_alone() {
    let ipg = figure_1();
    let times = [("i1 i2", 10), ("i2 i2", 7), ("i2 i4", 7), ("i1 i3", 3), ("i3 i4", 5)];
    let mut given = Timing { count: vec![1, 1, 2, 1, 1], ..timing(&ipg, &times, &[2]) };
    assert_eq!(ilp(&ipg, &given, Limits::Counts), 31);
    given.set_bounds(&ipg, &[None]);
    assert_eq!(
        (given.bound.as_slice(), given.count.as_slice()),
        ([2].as_slice(), [1, 1, 2, 1, 1].as_slice())
    );
    given.set_bounds(&ipg, &[Some(5)]);
    // 2 iterations were observed, 5 are allowed: three times as often, rounded up; the loop's bound
    // is then the limit
    assert_eq!(
        (given.bound.as_slice(), given.count.as_slice()),
        ([5].as_slice(), [1, 1, 6, 1, 1].as_slice())
    );
    assert_eq!(ilp(&ipg, &given, Limits::Counts), 10 + 5 * 7 + 7);
    let text = "i1 0 0 0\ni2 0 0 1\ni2 0 0 2\ni2 0 0 3\ni4 0 0 4\n";
    let wrong = read_traces(text.as_bytes(), "t", &ipg, &[Some(1)], None).unwrap().unwrap_err();
    assert_eq!(wrong.list()[0].line, 4);
    assert!(wrong.list()[0].message.contains("goes round the loop at `i2` more than 1 times"), "{wrong}");
    assert!(read_traces(text.as_bytes(), "t", &ipg, &[Some(2)], None).unwrap().is_ok());
}

/// Returns a graph for blocks of two warps: a loop over `b1`, `b2` and `b3` between the entry `b0`
/// and the end `b4`. There is a barrier at `b2`.
fn with_barriers() -> (WrittenGraph, Ipg) {
    let text = "b0 -> b1\nb1 -> b2\nb2 -> b3\nb3 -> b1 b4\nblock 2\nbarrier b2\n";
    let written = WrittenGraph::parse(&warpbound_core::diag::SourceText::new("g", text)).unwrap();
    let ipg = written.ipg().unwrap();
    (written, ipg)
}

/// A trace of two iterations. In the first one, warp 0 arrives last at the barrier, in cycle 10. In
/// the second one, warp 1 arrives last, in cycle 20. Warp 0 starts in cycle 0 and ends in cycle 26;
/// warp 1 starts in cycle 1 and ends in cycle 25.
const MEETING: &str =
    "b0 0 0 0\nb0 0 1 1\nb1 0 1 3\nb1 0 0 4\nb2 0 1 5\nb2 0 0 10\nb3 0 0 11\nb3 0 1 13\nb1 0 0 12
b1 0 1 14\nb2 0 0 13\nb2 0 1 20\nb3 0 0 22\nb3 0 1 21\nb4 0 1 25\nb4 0 0 26\n";

#[test]
fn sections_by_hand() {
    let (written, ipg) = with_barriers();
    let layout = written.layout(&ipg).unwrap();
    let sorted = |text: &str| {
        let cycle = |line: &&str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_by_key(cycle);
        lines.join("\n") + "\n"
    };
    let read =
        |text: &str| read_traces(sorted(text).as_bytes(), "t", &ipg, &[], Some(&layout)).unwrap().unwrap();
    let once = read(MEETING);
    let times = once.sections.as_ref().unwrap().timing(&ipg, &[]);
    // from the last arrivals, in cycles 10 and 20, to b3: 1 and 3, then 2 and 1
    let expected = [("b0 b1", 4), ("b1 b2", 6), ("b2 b3", 3), ("b3 b1", 1), ("b3 b4", 4)];
    for (name, time) in expected {
        let at = named(&ipg).iter().position(|known| known == name).unwrap();
        assert_eq!(times.wcet[at], Some(Cycles::new(time)), "{name}");
    }
    assert_eq!((times.bound.as_slice(), once.timing.bound.as_slice()), ([1].as_slice(), [1].as_slice()));
    let found = estimate(&ipg, &once, &[], Limits::Loops).unwrap();
    // 4 + (6 + 3 + 1) + 6 + 3 + 4; the transitions of Z_warp include the waiting of warp 1 from 5
    // to 10 and of warp 0 from 13 to 20: 4 + (6 + 9 + 1) + 6 + 9 + 4
    let sections = found.sections.clone().unwrap();
    assert_eq!((sections.path.get(), found.warp.value.get()), (27, 39));
    // one block, whose last warp starts in cycle 1
    assert_eq!(once.blocks, Some(BlockWaves { waves: 1, jitter: Cycles::new(1) }));
    assert_eq!((sections.hybrid.value.get(), found.high_water.get()), (28, 26));
    assert_eq!(found.blocks.unwrap().value.get(), 40);
    // two iterations allowed instead of one
    let wider = estimate(&ipg, &once, &[Some(2)], Limits::Loops).unwrap();
    assert_eq!(wider.sections.unwrap().path.get(), 37);

    // the next block in the same CTA slot begins 4 cycles after the end
    let later: String = MEETING
        .lines()
        .map(|line| {
            let (what, cycle) = line.rsplit_once(' ').unwrap();
            format!("{what} {}\n", cycle.parse::<u64>().unwrap() + 30)
        })
        .collect();
    let twice = read(&format!("{MEETING}{later}"));
    assert_eq!(twice.blocks, Some(BlockWaves { waves: 2, jitter: Cycles::new(5) }));
    let found = estimate(&ipg, &twice, &[], Limits::Loops).unwrap();
    assert_eq!((found.sections.unwrap().hybrid.value.get(), found.high_water.get()), (64, 56));
    // two separate runs give the same result as one trace of both
    let mut joined = read(MEETING);
    joined.then(read(MEETING));
    assert_eq!((&joined.sections, joined.blocks), (&once.sections, once.blocks));
}

#[test]
fn where_sections_do_not_apply() {
    let (written, ipg) = with_barriers();
    let layout = written.layout(&ipg).unwrap();
    let of = |text: &str, layout: Option<&Layout>| {
        let found = read_traces(text.as_bytes(), "t", &ipg, &[], layout).unwrap().unwrap();
        (found.sections.unwrap_err(), found.blocks.is_some())
    };
    let alone = "b0 0 0 0\nb1 0 0 1\nb2 0 0 2\nb3 0 0 3\nb4 0 0 4\n";
    assert_eq!(of(alone, None), (NoSections::Unknown, false));
    // warp 1 of the block never arrives
    assert_eq!(of(alone, Some(&layout)), (NoSections::Early(0), false));
    let of_one = Layout { warps: 1, barriers: None };
    assert_eq!(of(alone, Some(&of_one)), (NoSections::Unknown, true));
    // warp 0 starts again while warp 1 of its block is running
    let plain = Layout { warps: 2, barriers: None };
    let again = format!("b0 0 1 0\n{alone}{}", "b0 0 0 5\nb1 0 0 5\nb2 0 0 5\nb3 0 0 5\nb4 0 0 5\n");
    let again = again + "b1 0 1 6\nb2 0 1 6\nb3 0 1 6\nb4 0 1 6\n";
    assert_eq!(of(&again, Some(&plain)), (NoSections::Again(0), false));
    // barriers after different ipoints
    let two = "b0 -> b1 b2\nb1 -> b3\nb2 -> b3\nblock 2\nbarrier b1 b2\n";
    let written = WrittenGraph::parse(&warpbound_core::diag::SourceText::new("g", two)).unwrap();
    let ipg = written.ipg().unwrap();
    let text = "b0 0 0 0\nb0 0 1 0\nb1 0 0 1\nb2 0 1 2\nb3 0 0 3\nb3 0 1 3\n";
    let found = read_traces(text.as_bytes(), "t", &ipg, &[], written.layout(&ipg).as_ref()).unwrap().unwrap();
    assert_eq!(found.sections, Err(NoSections::Apart("b2".to_owned(), "b1".to_owned())));
    let found = estimate(&ipg, &found, &[], Limits::Loops).unwrap();
    assert!(found.blocks.is_some() && found.sections.is_err());
}

/// Tests random blocks: warps take the same path, wait for each other, and take different times.
#[test]
fn no_block_that_was_observed_takes_longer_than_its_path() {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    let (mut below_warp, mut met) = (0, 0);
    for round in 0..300 {
        let (all, _) = structured(&mut rng);
        let ipg = Ipg::new(&all, &[], |_| true, |node| format!("b{node}")).unwrap();
        let barriers: Vec<bool> =
            (0..all.len()).map(|node| node > 0 && !all.leaves(node) && rng.random_range(0..3) == 0).collect();
        let warps: u32 = rng.random_range(1..4);
        let mut text = String::new();
        let mut free = 0;
        for _ in 0..rng.random_range(1..4) {
            let Some(way) = walk(&mut rng, &all) else { continue };
            let mut events: Vec<(u64, String)> = Vec::new();
            let mut now: Vec<u64> = (0..warps).map(|_| free + rng.random_range(0..9)).collect();
            for (index, &node) in way.iter().enumerate() {
                for (warp, now) in now.iter_mut().enumerate() {
                    if index > 0 {
                        *now += rng.random_range(0..40);
                    }
                    events.push((*now, format!("b{node} 0 {warp} {now}\n")));
                }
                if barriers[node] {
                    let last = now.iter().copied().max().unwrap();
                    now.fill(last + 1);
                    met += 1;
                }
            }
            events.sort_by_key(|&(at, _)| at);
            free = events.last().unwrap().0;
            text.extend(events.into_iter().map(|(_, line)| line));
        }
        if text.is_empty() {
            continue;
        }
        let layout = Layout { warps, barriers: Some(barriers) };
        let observed = read_traces(text.as_bytes(), "t", &ipg, &[], Some(&layout)).unwrap().unwrap();
        for limits in [Limits::Counts, Limits::Loops] {
            let found = estimate(&ipg, &observed, &[], limits).unwrap();
            let sections = found.sections.unwrap();
            assert!(!sections.hybrid.below_high_water, "round {round}: {text}");
            assert!(!found.blocks.unwrap().below_high_water, "round {round}: {text}");
            below_warp += usize::from(sections.path < found.warp.value);
        }
    }
    assert!(met > 500 && below_warp > 100, "{met} barriers, {below_warp} paths shorter than a warp's");
}
