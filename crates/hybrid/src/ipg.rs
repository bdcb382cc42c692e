//! The instrumentation point graph: the points that a warp can pass next.
//!
//! Betts and Donaldson, section II-B. Its vertices are the instrumentation points (ipoints) of a
//! control flow graph, each at the start of a node. There is a transition from one ipoint to
//! another if some path of the graph leads from the first to the second without passing a third.
//!
//! # Loops
//! Loops are those of the control flow graph *without* the edges that divergence adds (section
//! IV-C: with them the graph is irreducible). Given a loop L, a transition from u to v
//! * *iterates* L if both are in L and an ipoint-free path between them stays in L and goes back to
//!   L's header;
//! * *enters* L if v is in L, but no ipoint-free path from u to v stays in L.
//!
//! A transition may iterate several loops, or iterate one and enter another; it never does both to
//! the same loop. If no transition has a path with divergence, then for every cycle of transitions
//! there is a loop that one of them iterates and none of them enters. To see this, follow the cycle
//! in the control flow graph, and take the innermost loop that it stays in. The cycle passes the
//! header of that loop, since otherwise it would stay in a loop further inside. So a bound on
//! iterations per entry for each loop limits all counts. With divergence edges that is not so.
//!
//! If not every node is an ipoint, one transition may represent several paths, of which some go
//! back to a header and some do not. It then counts as an iteration whenever it is taken, in traces
//! as in the calculation, so that a bound read from traces is valid for the calculation.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use warpbound_core::base::Fnv1a;
use warpbound_core::program::graph::{FlowGraph, Irreducible, Loop, LoopTree};

/// A transition between two ipoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The ipoint that it leaves.
    pub from: usize,
    /// The ipoint that it leads to.
    pub to: usize,
    /// Whether all its paths take an edge that divergence added.
    pub divergent: bool,
    /// The loops that it iterates, ascending.
    pub iterates: Vec<usize>,
    /// The loops that it enters, ascending.
    pub enters: Vec<usize>,
}

/// A loop of the control flow graph that contains ipoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpgLoop {
    /// Its header, a node of the control flow graph.
    pub header: usize,
    /// The ipoint at its header, if there is one.
    pub ipoint: Option<usize>,
    /// The ipoints in the loop, ascending.
    pub ipoints: Vec<usize>,
    /// The enclosing loop, which has a smaller index.
    pub parent: Option<usize>,
}

/// The largest number of ipoints for which a table of transitions is built.
const MAX_IN_TABLE: usize = 256;
const NONE: u32 = u32::MAX;

/// The instrumentation point graph of a control flow graph.
#[derive(Clone, Debug)]
pub struct Ipg {
    names: Vec<String>,
    nodes: Vec<usize>,
    exits: Vec<bool>,
    transitions: Vec<Transition>,
    /// The transitions that leave each ipoint, as destination and index; ascending.
    leaving: Vec<Vec<(usize, usize)>>,
    /// The transition from each ipoint to each other, row by row, `NONE` if there is none; empty if
    /// there are too many ipoints.
    between: Vec<u32>,
    loops: Vec<IpgLoop>,
    by_name: ByName,
}

/// The reason why there is no instrumentation point graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IpgError {
    /// The control flow graph has no nodes.
    Empty,
    /// The control flow graph has a cycle that is not a loop, before divergence edges are added.
    Irreducible(Irreducible),
    /// Control can end after this node, and also continue. [`with_end`] adds a separate node for
    /// the end.
    ExitGoesOn(usize),
    /// The name of this node's ipoint is not a word of letters, digits and `_` that does not begin
    /// with a digit.
    NotAWord(usize, String),
    /// Two nodes' ipoints have the same name, or the name is `run`, which is reserved.
    Taken(usize, String),
}

impl fmt::Display for IpgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the control flow graph is empty"),
            Self::Irreducible(found) => write!(
                f,
                "the control flow graph is irreducible: node {} goes back to node {}, which is not the only entry of that loop",
                found.edge.0, found.edge.1
            ),
            Self::ExitGoesOn(node) => {
                write!(f, "control can end after node {node} and also go on from there")
            }
            Self::NotAWord(node, name) => write!(f, "the name `{name}` of node {node} is not a word"),
            Self::Taken(node, name) => write!(f, "the name `{name}` of node {node} is taken"),
        }
    }
}

impl std::error::Error for IpgError {}

/// Returns a graph with one more node, its last, to which control goes where it could end before: a
/// warp passes the ipoint there when it ends. Divergence edges are computed on the result.
pub fn with_end(graph: &FlowGraph) -> FlowGraph {
    let end = graph.len();
    let mut successors: Vec<Vec<usize>> = (0..end).map(|node| graph.successors(node).to_vec()).collect();
    (0..end).filter(|&node| graph.leaves(node)).for_each(|node| successors[node].push(end));
    successors.push(Vec::new());
    let mut leaves = vec![false; end];
    leaves.push(true);
    FlowGraph::new(successors, leaves)
}

impl Ipg {
    /// Creates the graph of the nodes that `instrumented` accepts, and in any case of the entry and
    /// all exits. `divergent` are the edges that divergence adds; `name` returns the name of a
    /// node's ipoint in traces.
    ///
    /// # Errors
    /// See [`IpgError`].
    pub fn new(
        graph: &FlowGraph,
        divergent: &[(usize, usize)],
        instrumented: impl Fn(usize) -> bool,
        name: impl Fn(usize) -> String,
    ) -> Result<Self, IpgError> {
        if graph.is_empty() {
            return Err(IpgError::Empty);
        }
        let tree = LoopTree::new(graph).map_err(IpgError::Irreducible)?;
        let updated = graph.with_edges(divergent.iter().copied());
        if let Some(node) =
            (0..graph.len()).find(|&node| graph.leaves(node) && !updated.successors(node).is_empty())
        {
            return Err(IpgError::ExitGoesOn(node));
        }
        let nodes: Vec<usize> =
            (0..graph.len()).filter(|&node| node == 0 || graph.leaves(node) || instrumented(node)).collect();
        let mut ipoint_of = vec![None; graph.len()];
        nodes.iter().enumerate().for_each(|(ipoint, &node)| ipoint_of[node] = Some(ipoint));
        let (names, by_name) = named(&nodes, name)?;
        let mut ipg = Self {
            exits: nodes.iter().map(|&node| graph.leaves(node)).collect(),
            loops: loops_with_ipoints(&tree, &ipoint_of),
            leaving: vec![Vec::new(); nodes.len()],
            between: Vec::new(),
            transitions: Vec::new(),
            names,
            nodes,
            by_name,
        };
        ipg.connect(graph, &updated, &ipoint_of);
        ipg.classify(&updated, &tree, &ipoint_of);
        ipg.between = ipg.table();
        Ok(ipg)
    }

    fn connect(&mut self, graph: &FlowGraph, updated: &FlowGraph, ipoint_of: &[Option<usize>]) {
        for (from, &node) in self.nodes.iter().enumerate() {
            let lanes = next_ipoints(graph, node, ipoint_of, |_| true, |_, _| false);
            for Reached { ipoint: to, .. } in next_ipoints(updated, node, ipoint_of, |_| true, |_, _| false) {
                let divergent = !lanes.iter().any(|reached| reached.ipoint == to);
                self.leaving[from].push((to, self.transitions.len()));
                self.transitions.push(Transition {
                    from,
                    to,
                    divergent,
                    iterates: Vec::new(),
                    enters: Vec::new(),
                });
            }
        }
    }

    fn classify(&mut self, updated: &FlowGraph, tree: &LoopTree, ipoint_of: &[Option<usize>]) {
        for (index, ipg_loop) in self.loops.iter().enumerate() {
            let body: &Loop =
                tree.loops.iter().find(|body| body.header == ipg_loop.header).expect("one loop a header");
            let goes_back = |from: usize, to: usize| to == body.header && body.latches.contains(&from);
            let mut inside = vec![false; updated.len()];
            body.body.iter().for_each(|&node| inside[node] = true);
            for &from in &ipg_loop.ipoints {
                let reached =
                    next_ipoints(updated, self.nodes[from], ipoint_of, |node| inside[node], goes_back);
                for &(to, transition) in &self.leaving[from] {
                    let within = reached.iter().find(|reached| reached.ipoint == to);
                    let transition = &mut self.transitions[transition];
                    match within {
                        Some(reached) if reached.marked => transition.iterates.push(index),
                        Some(_) => {}
                        None if inside[self.nodes[to]] => transition.enters.push(index),
                        None => {}
                    }
                }
            }
            for transition in &mut self.transitions {
                if !inside[self.nodes[transition.from]] && inside[self.nodes[transition.to]] {
                    transition.enters.push(index);
                }
            }
        }
    }

    fn table(&self) -> Vec<u32> {
        let ipoints = self.len();
        if ipoints > MAX_IN_TABLE {
            return Vec::new();
        }
        let mut between = vec![NONE; ipoints * ipoints];
        for (number, transition) in (0..).zip(&self.transitions) {
            between[transition.from * ipoints + transition.to] = number;
        }
        between
    }

    /// Returns the number of ipoints; they are numbered in the order of their nodes, and 0 is the
    /// entry.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns false, because the entry is always instrumented.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the name of an ipoint in traces.
    pub fn name(&self, ipoint: usize) -> &str {
        &self.names[ipoint]
    }

    /// Returns the names of all ipoints.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the ipoint with this name.
    pub fn ipoint(&self, name: &[u8]) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns the node of the control flow graph at which an ipoint is.
    pub fn node(&self, ipoint: usize) -> usize {
        self.nodes[ipoint]
    }

    /// Returns whether a warp ends at an ipoint; no transition leaves it then.
    pub fn is_exit(&self, ipoint: usize) -> bool {
        self.exits[ipoint]
    }

    /// Returns all transitions, ordered by source and then by destination.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns the index of the transition between two ipoints.
    #[inline]
    pub fn transition(&self, from: usize, to: usize) -> Option<usize> {
        if let Some(&number) = self.between.get(from * self.nodes.len() + to) {
            return (number != NONE).then_some(number as usize);
        }
        let leaving = &self.leaving[from];
        leaving.binary_search_by_key(&to, |&(to, _)| to).ok().map(|at| leaving[at].1)
    }

    /// Returns the transitions that leave an ipoint, as destination and index.
    pub fn leaving(&self, ipoint: usize) -> &[(usize, usize)] {
        &self.leaving[ipoint]
    }

    /// Returns the loops; an enclosing loop comes before the loops in it.
    pub fn loops(&self) -> &[IpgLoop] {
        &self.loops
    }

    /// Returns the name of a loop: that of the ipoint at its header, or its number if there is
    /// none.
    pub fn loop_name(&self, of: usize) -> String {
        self.loops[of].ipoint.map_or_else(|| format!("loop {of}"), |at| format!("`{}`", self.name(at)))
    }

    /// Returns whether any transition exists only because of divergence.
    pub fn has_divergence(&self) -> bool {
        self.transitions.iter().any(|transition| transition.divergent)
    }
}

pub(super) fn is_word(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// A map from names to ipoints, with a fast hash because every event of a trace needs a look-up.
type ByName = HashMap<Vec<u8>, usize, BuildHasherDefault<NameHash>>;

#[derive(Clone, Default)]
struct NameHash(Fnv1a);

impl Hasher for NameHash {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

type Named = (Vec<String>, ByName);

fn named(nodes: &[usize], name: impl Fn(usize) -> String) -> Result<Named, IpgError> {
    let mut by_name = ByName::default();
    let mut names = Vec::with_capacity(nodes.len());
    for (ipoint, &node) in nodes.iter().enumerate() {
        let name = name(node);
        if !is_word(&name) {
            return Err(IpgError::NotAWord(node, name));
        }
        if name == "run" || by_name.insert(name.clone().into_bytes(), ipoint).is_some() {
            return Err(IpgError::Taken(node, name));
        }
        names.push(name);
    }
    Ok((names, by_name))
}

/// Returns the loops that contain ipoints. Loops without ipoints are not visible in traces: their
/// cost is part of the transitions that pass them.
fn loops_with_ipoints(tree: &LoopTree, ipoint_of: &[Option<usize>]) -> Vec<IpgLoop> {
    let mut number = vec![None; tree.loops.len()];
    let mut loops = Vec::new();
    for (index, body) in tree.loops.iter().enumerate() {
        let ipoints: Vec<usize> = body.body.iter().filter_map(|&node| ipoint_of[node]).collect();
        if !ipoints.is_empty() {
            number[index] = Some(loops.len());
            // the ipoints of a loop are also in the enclosing loops, so that those have numbers
            let parent = body.parent.and_then(|parent| number[parent]);
            loops.push(IpgLoop { header: body.header, ipoint: ipoint_of[body.header], ipoints, parent });
        }
    }
    loops
}

/// A next ipoint, and whether some path to it takes a marked edge.
struct Reached {
    ipoint: usize,
    marked: bool,
}

/// Returns the ipoints to which ipoint-free paths lead from a node through nodes that are
/// `allowed`, ascending.
fn next_ipoints(
    graph: &FlowGraph,
    start: usize,
    ipoint_of: &[Option<usize>],
    allowed: impl Fn(usize) -> bool,
    marks: impl Fn(usize, usize) -> bool,
) -> Vec<Reached> {
    // a node is visited at most twice: reached without a marked edge, and with one
    let mut seen = vec![[false; 2]; graph.len()];
    let mut open = vec![(start, false)];
    while let Some((node, marked)) = open.pop() {
        for &to in graph.successors(node).iter().filter(|&&to| allowed(to)) {
            let marked = marked || marks(node, to);
            if !std::mem::replace(&mut seen[to][usize::from(marked)], true) && ipoint_of[to].is_none() {
                open.push((to, marked));
            }
        }
    }
    let mut reached: Vec<Reached> = (0..graph.len())
        .filter(|&node| seen[node] != [false; 2])
        .filter_map(|node| ipoint_of[node].map(|ipoint| Reached { ipoint, marked: seen[node][1] }))
        .collect();
    reached.sort_by_key(|reached| reached.ipoint);
    reached
}
