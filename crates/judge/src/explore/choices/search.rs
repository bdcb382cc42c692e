//! The search: depth first over the choices, with the extremes of each state that was left.
//!
//! A node is a launch at the beginning of a cycle in which some arbiter has a choice. Its children
//! are the nodes, or ends, that follow after each combination of choices in this cycle. Nodes with
//! equal keys have equal futures, so each key is followed once.

use std::collections::HashMap;

use super::{Choice, Following};
use crate::explore::search::{Limits, Spent};
use warpbound_core::base::ProgressMonitor;
use warpbound_sim::by_cycle::{Launch, Rules};

/// The result of an exploration. The makespans are exact if every state was followed. Otherwise
/// they are those of runs that were found: the largest makespan of all runs is at least `worst`,
/// and the smallest is at most `best`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// The largest makespan.
    pub worst: u64,
    /// The smallest makespan.
    pub best: u64,
    /// The number of distinct states in which some arbiter has a choice.
    pub states: u64,
    /// The number of combinations of choices in a cycle that were followed.
    pub edges: u64,
    /// The number of bytes of all keys.
    pub bytes: u64,
    /// The reason why not every state was followed; `None` if every state was.
    pub spent: Option<Spent>,
    /// The choices of a run with the largest makespan.
    pub worst_witness: Vec<Choice>,
    /// The choices of a run with the smallest makespan.
    pub best_witness: Vec<Choice>,
}

/// The number of cycles from a node to the end of the longest and of the shortest run.
#[derive(Clone, Copy)]
struct Rest {
    most: u64,
    least: u64,
}

/// What follows in a launch: a node, or the end of the launch with this makespan.
enum Next<'a> {
    Node(Box<Launch<'a>>),
    End(u64),
}

/// A node whose choices are being followed.
struct Frame<'a> {
    launch: Launch<'a>,
    key: Box<[u8]>,
    /// The choices in its cycle that are followed now.
    choices: Vec<Choice>,
    rest: Rest,
}

impl<'a> Frame<'a> {
    fn new(launch: Launch<'a>, key: Box<[u8]>) -> Self {
        Self { launch, key, choices: Vec::new(), rest: Rest { most: 0, least: u64::MAX } }
    }

    /// Adds the extremes of a child, as makespans.
    fn add(&mut self, worst: u64, best: u64) {
        let now = self.launch.now();
        self.rest.most = self.rest.most.max(worst - now);
        self.rest.least = self.rest.least.min(best - now);
    }

    /// Prepares the next combination of choices. Returns whether there is one.
    fn turn(&mut self) -> bool {
        turn(&mut self.choices)
    }
}

/// Replaces the choices of a cycle by the next combination. Returns whether there is one.
fn turn(choices: &mut Vec<Choice>) -> bool {
    while let Some(last) = choices.pop() {
        if let Some(next) = last.next() {
            choices.push(next);
            return true;
        }
    }
    false
}

/// Simulates the cycle of a node with these choices, which are completed by those of the rules.
fn follow<'a>(launch: &Launch<'a>, choices: &mut Vec<Choice>) -> Next<'a> {
    let mut launch = launch.clone();
    let cycle = launch.now();
    let mut chooser = Following { cycle, choices, next: 0, then: Rules };
    match launch.cycle_by(&mut chooser) {
        Some(makespan) => Next::End(makespan),
        None => advance(launch),
    }
}

/// The number of cycles that are simulated between two copies of a launch. It affects only speed.
const STRIDE: u32 = 16;

/// Simulates the cycles in which no arbiter has a choice.
fn advance(mut from: Launch<'_>) -> Next<'_> {
    loop {
        let mut launch = from.clone();
        for _ in 0..STRIDE {
            let cycle = launch.now();
            let mut choices = Vec::new();
            let mut chooser = Following { cycle, choices: &mut choices, next: 0, then: Rules };
            let over = launch.cycle_by(&mut chooser);
            if !choices.is_empty() {
                // no arbiter has a choice up to this cycle
                while from.now() < cycle {
                    from.cycle_by(&mut Rules);
                }
                return Next::Node(Box::new(from));
            }
            if let Some(makespan) = over {
                return Next::End(makespan);
            }
        }
        from = launch;
    }
}

/// Explores all choices of the arbiters in a launch, within limits; the number of threads is
/// ignored. `monitor` is notified of states, and can stop the search.
pub fn explore(launch: &Launch, limits: Limits, monitor: &ProgressMonitor) -> Explored {
    let mut search = Search::new();
    match advance(launch.clone()) {
        Next::End(makespan) => {
            (search.found.worst, search.found.best) = (makespan, makespan);
        }
        Next::Node(first) => search.run(*first, limits, monitor),
    }
    search.found
}

struct Search<'a> {
    /// The extremes by key, or `None` while the node is on the stack.
    known: HashMap<Box<[u8]>, Option<Rest>>,
    stack: Vec<Frame<'a>>,
    found: Explored,
}

impl<'a> Search<'a> {
    fn new() -> Self {
        let found = Explored {
            worst: 0,
            best: u64::MAX,
            states: 0,
            edges: 0,
            bytes: 0,
            spent: None,
            worst_witness: Vec::new(),
            best_witness: Vec::new(),
        };
        Self { known: HashMap::new(), stack: Vec::new(), found }
    }

    fn enter(&mut self, launch: Launch<'a>, key: Box<[u8]>) {
        self.found.states += 1;
        self.found.bytes += key.len() as u64;
        self.known.insert(key.clone(), None);
        self.stack.push(Frame::new(launch, key));
    }

    fn run(&mut self, first: Launch<'a>, limits: Limits, monitor: &ProgressMonitor) {
        let key = first.key();
        self.enter(first, key);
        while let Some(frame) = self.stack.last_mut() {
            self.found.edges += 1;
            match follow(&frame.launch, &mut frame.choices) {
                Next::End(makespan) => self.add(makespan, makespan, None),
                Next::Node(node) => {
                    let key = node.key();
                    if let Some(&rest) = self.known.get(&key) {
                        let rest = rest.expect("every choice brings the launch nearer to its end");
                        let now = node.now();
                        self.add(now + rest.most, now + rest.least, Some(*node));
                    } else {
                        self.found.spent = self.spent(limits, monitor);
                        if self.found.spent.is_some() {
                            return self.finish_by_rules();
                        }
                        monitor.searched(0, self.found.states);
                        self.enter(*node, key);
                        continue;
                    }
                }
            }
            self.leave_nodes();
        }
    }

    fn spent(&self, limits: Limits, monitor: &ProgressMonitor) -> Option<Spent> {
        if monitor.is_stopped() {
            Some(Spent::Time)
        } else if self.found.states >= limits.max_states {
            Some(Spent::States)
        } else if self.found.bytes + self.found.states * ENTRY_BYTES > limits.max_bytes {
            Some(Spent::Memory)
        } else {
            None
        }
    }

    /// Completes the present run by the rules, if no run has been completed before.
    fn finish_by_rules(&mut self) {
        if self.found.worst > 0 {
            return;
        }
        let Some(frame) = self.stack.last() else { return };
        let mut choices: Vec<Choice> = self.stack.iter().flat_map(|frame| &frame.choices).copied().collect();
        let mut next = follow(&frame.launch, &mut frame.choices.clone());
        let makespan = loop {
            match next {
                Next::End(makespan) => break makespan,
                Next::Node(launch) => {
                    let mut of_cycle = Vec::new();
                    next = follow(&launch, &mut of_cycle);
                    choices.extend(of_cycle);
                }
            }
        };
        (self.found.worst, self.found.best) = (makespan, makespan);
        (self.found.worst_witness, self.found.best_witness) = (choices.clone(), choices);
    }

    /// Turns to the next choices of the last node on the stack, and leaves the nodes all of whose
    /// choices have been followed.
    fn leave_nodes(&mut self) {
        while let Some(frame) = self.stack.last_mut() {
            if frame.turn() {
                return;
            }
            let rest = frame.rest;
            let now = frame.launch.now();
            if let Some(Frame { key, .. }) = self.stack.pop() {
                self.known.insert(key, Some(rest));
            }
            if let Some(frame) = self.stack.last_mut() {
                frame.add(now + rest.most, now + rest.least);
            }
        }
    }

    /// Adds the extremes of the child that has been reached: an end, or a node that is known.
    fn add(&mut self, worst: u64, best: u64, node: Option<Launch<'a>>) {
        if let Some(frame) = self.stack.last_mut() {
            frame.add(worst, best);
        }
        if worst > self.found.worst {
            self.found.worst = worst;
            self.found.worst_witness = self.witness(worst, node.clone(), |rest| rest.most);
        }
        if best < self.found.best {
            self.found.best = best;
            self.found.best_witness = self.witness(best, node, |rest| rest.least);
        }
    }

    /// Returns the choices of the stack, followed by those of a run from `node` on that has this
    /// makespan.
    fn witness(&self, makespan: u64, node: Option<Launch<'a>>, of: impl Fn(Rest) -> u64) -> Vec<Choice> {
        let mut all: Vec<Choice> = self.stack.iter().flat_map(|frame| &frame.choices).copied().collect();
        let mut node = node;
        while let Some(launch) = node {
            let mut choices = Vec::new();
            loop {
                let next = follow(&launch, &mut choices);
                let reached = match &next {
                    Next::End(end) => *end,
                    Next::Node(launch) => {
                        let rest = self.known[&launch.key()].expect("what follows a known node is known");
                        launch.now() + of(rest)
                    }
                };
                if reached == makespan {
                    all.append(&mut choices);
                    node = match next {
                        Next::End(_) => None,
                        Next::Node(launch) => Some(*launch),
                    };
                    break;
                }
                assert!(turn(&mut choices), "some choices give the extreme of a node");
            }
        }
        all
    }
}

/// The approximate number of bytes of an entry of the table, without its key.
const ENTRY_BYTES: u64 = 48;
