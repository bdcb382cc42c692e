//! Natural loops and their nesting.

use super::FlowGraph;

/// A natural loop: the nodes of all cycles through one header that dominates them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The header, the loop's only entry.
    pub header: usize,
    /// The sources of the back edges to the header.
    pub latches: Vec<usize>,
    /// The nodes in ascending order, including the header and inner loops.
    pub body: Vec<usize>,
    /// The index of the innermost enclosing loop.
    pub parent: Option<usize>,
    /// The nesting depth; 1 for an outermost loop.
    pub depth: usize,
}

impl Loop {
    /// Returns whether the loop contains a node.
    pub fn contains(&self, node: usize) -> bool {
        self.body.binary_search(&node).is_ok()
    }
}

/// The loops of a graph and their nesting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopTree {
    /// The loops; a loop comes after those that enclose it.
    pub loops: Vec<Loop>,
    innermost: Vec<Option<usize>>,
}

/// The graph has a cycle with several entries, which is therefore not a natural loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irreducible {
    /// The edge that closes the cycle.
    pub edge: (usize, usize),
}

impl LoopTree {
    /// Finds the loops of the reachable part of a graph.
    ///
    /// # Errors
    /// A cycle has no header that dominates it.
    pub fn new(graph: &FlowGraph) -> Result<Self, Irreducible> {
        let dominators = graph.dominators();
        let order = graph.reverse_post_order();
        let mut place = vec![usize::MAX; graph.len()];
        order.iter().enumerate().for_each(|(index, &node)| place[node] = index);
        let mut loops: Vec<Loop> = Vec::new();
        for &header in &order {
            let mut latches = Vec::new();
            for &from in graph.predecessors(header).iter().filter(|&&from| place[from] != usize::MAX) {
                if dominators.dominates(header, from) {
                    latches.push(from);
                } else if place[from] >= place[header] {
                    return Err(Irreducible { edge: (from, header) });
                }
            }
            if !latches.is_empty() {
                latches.sort_unstable();
                let is_reachable = |node: usize| place[node] != usize::MAX;
                let body = body(graph, header, &latches, is_reachable);
                loops.push(Loop { header, latches, body, parent: None, depth: 1 });
            }
        }
        // The headers are in reverse post-order: a loop that contains another one's header precedes
        // it, and the last such loop is the innermost.
        for inner in 1..loops.len() {
            let header = loops[inner].header;
            if let Some(outer) = (0..inner).rev().find(|&outer| loops[outer].contains(header)) {
                (loops[inner].parent, loops[inner].depth) = (Some(outer), loops[outer].depth + 1);
            }
        }
        let mut innermost = vec![None; graph.len()];
        for (index, found) in loops.iter().enumerate() {
            found.body.iter().for_each(|&node| innermost[node] = Some(index));
        }
        Ok(Self { loops, innermost })
    }

    /// Returns the innermost loop that contains a node.
    pub fn innermost(&self, node: usize) -> Option<usize> {
        self.innermost[node]
    }

    /// Returns whether an edge is a back edge to the header of a loop.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        let mut enclosing = self.innermost(from);
        while let Some(index) = enclosing {
            let found = &self.loops[index];
            if found.header == to {
                return found.latches.contains(&from);
            }
            enclosing = found.parent;
        }
        false
    }
}

/// Returns the nodes from which a latch is reachable without passing through the header.
fn body(
    graph: &FlowGraph,
    header: usize,
    latches: &[usize],
    is_reachable: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut body = vec![header];
    let mut seen = vec![false; graph.len()];
    seen[header] = true;
    let mut open = latches.to_vec();
    while let Some(node) = open.pop() {
        if is_reachable(node) && !std::mem::replace(&mut seen[node], true) {
            body.push(node);
            open.extend_from_slice(graph.predecessors(node));
        }
    }
    body.sort_unstable();
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[usize]]) -> FlowGraph {
        let leaves = edges.iter().map(|targets| targets.is_empty()).collect();
        FlowGraph::new(edges.iter().map(|targets| targets.to_vec()).collect(), leaves)
    }

    #[test]
    fn loops_are_nested_by_their_bodies() {
        // 0 -> 1 (outer) -> 2 (inner) -> 2 | 3; 3 -> 1 | 4; 4 -> 4 | 5
        let tree = LoopTree::new(&graph(&[&[1], &[2], &[2, 3], &[1, 4], &[4, 5], &[]])).unwrap();
        let fields = |found: &Loop| (found.header, found.body.clone(), found.parent, found.depth);
        let loops: Vec<_> = tree.loops.iter().map(fields).collect();
        assert_eq!(loops, [(1, vec![1, 2, 3], None, 1), (2, vec![2], Some(0), 2), (4, vec![4], None, 1)]);
        assert_eq!((tree.innermost(3), tree.innermost(2), tree.innermost(5)), (Some(0), Some(1), None));
        assert!(tree.is_back_edge(3, 1) && tree.is_back_edge(2, 2) && !tree.is_back_edge(3, 4));
    }

    #[test]
    fn two_ways_back_are_one_loop() {
        let tree = LoopTree::new(&graph(&[&[1, 2], &[0], &[0, 3], &[]])).unwrap();
        assert_eq!((tree.loops.len(), &tree.loops[0].latches), (1, &vec![1, 2]));
    }

    #[test]
    fn a_cycle_with_two_entries_is_reported() {
        let problem = LoopTree::new(&graph(&[&[1, 2], &[2, 3], &[1], &[]])).unwrap_err();
        assert!([(1, 2), (2, 1)].contains(&problem.edge), "{problem:?}");
    }

    #[test]
    fn unreachable_nodes_are_in_no_loop() {
        let tree = LoopTree::new(&graph(&[&[1], &[], &[3], &[2]])).unwrap();
        assert!(tree.loops.is_empty());
    }
}
