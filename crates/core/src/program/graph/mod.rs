//! Algorithms on control flow graphs: dominators, loops, and the edges that divergence adds.
//!
//! [`crate::program::cfg`] builds a graph whose nodes are the basic blocks of a function. This
//! module is independent of instructions.

mod divergence;
mod loops;

pub use divergence::{DivergentEdge, divergent_edges, published_edges};
pub use loops::{Irreducible, Loop, LoopTree};

use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};

/// A control flow graph with the nodes `0..n`, of which 0 is the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowGraph {
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    leaves: Vec<bool>,
}

impl FlowGraph {
    /// Creates a graph in which control flows from node n to any node of `successors[n]` (without
    /// duplicates) or, if `leaves[n]`, leaves the graph.
    ///
    /// # Panics
    /// If an edge leads to a node that does not exist, or the lists differ in length.
    pub fn new(successors: Vec<Vec<usize>>, leaves: Vec<bool>) -> Self {
        assert_eq!(successors.len(), leaves.len(), "an entry for each node");
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|&to| predecessors[to].push(from));
        }
        Self { successors, predecessors, leaves }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// Returns whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// Returns the successors of a node.
    pub fn successors(&self, node: usize) -> &[usize] {
        &self.successors[node]
    }

    /// Returns the predecessors of a node.
    pub fn predecessors(&self, node: usize) -> &[usize] {
        &self.predecessors[node]
    }

    /// Returns whether control can leave the graph after a node.
    pub fn leaves(&self, node: usize) -> bool {
        self.leaves[node]
    }

    /// Returns whether an edge exists.
    pub fn has_edge(&self, from: usize, to: usize) -> bool {
        self.successors[from].contains(&to)
    }

    /// Returns a copy of the graph with additional edges; edges that exist already are not
    /// duplicated.
    #[must_use]
    pub fn with_edges(&self, more: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut successors = self.successors.clone();
        for (from, to) in more {
            if !successors[from].contains(&to) {
                successors[from].push(to);
            }
        }
        Self::new(successors, self.leaves.clone())
    }

    /// Returns the reachable nodes in reverse post-order: each node precedes its successors, except
    /// along back edges.
    pub fn reverse_post_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.len());
        let mut seen = vec![false; self.len()];
        let mut stack = Vec::new();
        if !self.is_empty() {
            seen[0] = true;
            stack.push((0, 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            if let Some(&to) = self.successors[*node].get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            } else {
                order.push(*node);
                stack.pop();
            }
        }
        order.reverse();
        order
    }

    /// Returns the nodes that are reachable from `side`, itself included, without passing through
    /// `join`.
    pub fn reached(&self, side: usize, join: Option<usize>) -> Vec<usize> {
        let mut seen = vec![false; self.len()];
        seen[side] = true;
        let mut reached = vec![side];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &to in &self.successors[node] {
                if Some(to) != join && !std::mem::replace(&mut seen[to], true) {
                    reached.push(to);
                }
            }
        }
        reached
    }

    /// Returns the immediate post-dominator of each node; `None` if it is the virtual exit that all
    /// leaving nodes share, or if the exit is unreachable.
    pub fn post_dominators(&self) -> Vec<Option<usize>> {
        // the edges are reversed, so that dominators of this graph are post-dominators of the code
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = self.successors.iter().map(|_| graph.add_node(())).collect();
        let end = graph.add_node(());
        for (from, targets) in self.successors.iter().enumerate() {
            for &to in targets {
                graph.add_edge(nodes[to], nodes[from], ());
            }
            if self.leaves[from] {
                graph.add_edge(end, nodes[from], ());
            }
        }
        let tree = dominators::simple_fast(&graph, end);
        let immediate = |&node: &NodeIndex| tree.immediate_dominator(node).filter(|&above| above != end);
        nodes.iter().map(|node| immediate(node).map(NodeIndex::index)).collect()
    }

    /// Computes the dominators.
    pub fn dominators(&self) -> Dominators {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = self.successors.iter().map(|_| graph.add_node(())).collect();
        for (from, targets) in self.successors.iter().enumerate() {
            targets.iter().for_each(|&to| {
                graph.add_edge(nodes[from], nodes[to], ());
            });
        }
        Dominators::new(&graph, nodes.first().copied())
    }
}

/// The dominance relation: a traversal of the dominator tree numbers the nodes, and a node
/// dominates those whose interval lies within its own.
#[derive(Clone, Debug)]
pub struct Dominators {
    intervals: Vec<(usize, usize)>,
}

impl Dominators {
    fn new(graph: &DiGraph<(), ()>, root: Option<NodeIndex>) -> Self {
        // unreachable nodes keep an empty interval and dominate nothing
        let mut intervals = vec![(0, 0); graph.node_count()];
        let Some(root) = root else { return Self { intervals } };
        let tree = dominators::simple_fast(graph, root);
        let mut children = vec![Vec::new(); graph.node_count()];
        for node in graph.node_indices() {
            if let Some(parent) = tree.immediate_dominator(node) {
                children[parent.index()].push(node.index());
            }
        }
        let mut clock = 1;
        let mut stack = vec![(root.index(), 0)];
        intervals[root.index()].0 = clock;
        while let Some((node, next)) = stack.last_mut() {
            clock += 1;
            if let Some(&child) = children[*node].get(*next) {
                *next += 1;
                intervals[child].0 = clock;
                stack.push((child, 0));
            } else {
                intervals[*node].1 = clock;
                stack.pop();
            }
        }
        Self { intervals }
    }

    /// Returns whether every path from the entry to `below` passes through `above`; every node
    /// dominates itself.
    pub fn dominates(&self, above: usize, below: usize) -> bool {
        let ((start, end), (at, _)) = (self.intervals[above], self.intervals[below]);
        at > 0 && start <= at && at < end
    }
}
