//! Edges that a warp can take although no lane does.
//!
//! Where the lanes of a warp take different sides of a branch, the warp executes one side after the
//! other and then continues at the branch's immediate post-dominator. It therefore moves from the
//! end of one side to the beginning of the next. The control flow graph of warps thus differs from
//! that of lanes (Betts and Donaldson, "Estimating the WCET of GPU-Accelerated Applications using
//! Hybrid Analysis", ECRTS 2013, section IV).
//!
//! [`published_edges`] is that paper's algorithm (its figure 3), which works on the graph without
//! back edges. It has two weaknesses, which concern loops and exits:
//!
//! * Groups of lanes that leave a loop early through the same side in different iterations execute
//!   that side one after the other: from its end the warp moves to its beginning. Without the back
//!   edges there is no such path, so a warp's path need not be a walk in the graph.
//! * A node before the post-dominator that belongs to no side gets edges to all sides.
//!
//! [`divergent_edges`] follows the sides themselves. For a branch b with post-dominator m, a *side*
//! is a successor of b other than m. A side *ends* in each node that is reachable from it without
//! passing through m and that has an edge to m or, if there is no m, leaves the function. When the
//! warp reaches such an end, it continues with m or with a pending side of this branch or of an
//! enclosing one with the same m. While a side s of b is pending, the warp executes *another* side
//! of b and what is reachable from it, possibly through b again in a loop. The edges therefore lead
//! from the ends of each side to all other sides. Without loops, and if every node before m belongs
//! to a side, they are the published ones; a test checks this.

use super::{FlowGraph, LoopTree};

/// An edge that a warp can take because its lanes have diverged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DivergentEdge {
    /// The end of one side.
    pub from: usize,
    /// The beginning of another side.
    pub to: usize,
    /// The first branch that causes the edge.
    pub branch: usize,
}

/// Returns the edges that divergence adds to a graph, in the order of nodes. Uniform branches add
/// none.
pub fn divergent_edges(graph: &FlowGraph, is_uniform: impl Fn(usize) -> bool) -> Vec<DivergentEdge> {
    let post_dominators = graph.post_dominators();
    let mut edges = Vec::new();
    for branch in graph.reverse_post_order() {
        let join = post_dominators[branch];
        let sides: Vec<usize> =
            graph.successors(branch).iter().copied().filter(|&side| Some(side) != join).collect();
        if sides.len() < 2 || is_uniform(branch) {
            continue;
        }
        for &side in &sides {
            for end in graph.reached(side, join).into_iter().filter(|&node| leads_to(graph, node, join)) {
                let others = sides.iter().filter(|&&other| other != side);
                edges.extend(others.map(|&to| DivergentEdge { from: end, to, branch }));
            }
        }
    }
    once(graph, edges)
}

/// Returns whether a side ends at a node that it reaches.
fn leads_to(graph: &FlowGraph, node: usize, join: Option<usize>) -> bool {
    join.map_or(graph.leaves(node), |join| graph.has_edge(node, join))
}

/// Returns the edges of the paper's figure 3. If the only post-dominator of a branch is the end of
/// the function, the nodes that leave the function take the role of the post-dominator's
/// predecessors.
pub fn published_edges(
    graph: &FlowGraph,
    loops: &LoopTree,
    is_uniform: impl Fn(usize) -> bool,
) -> Vec<DivergentEdge> {
    let order = graph.reverse_post_order();
    let forward: Vec<Vec<usize>> = (0..graph.len())
        .map(|node| {
            let targets = graph.successors(node).iter().copied();
            targets.filter(|&to| !loops.is_back_edge(node, to)).collect()
        })
        .collect();
    // for each node, the nodes from which it is reachable without back edges
    let mut reaching = vec![vec![false; graph.len()]; graph.len()];
    for &node in &order {
        reaching[node][node] = true;
        let from = reaching[node].clone();
        for &to in &forward[node] {
            reaching[to].iter_mut().zip(&from).for_each(|(to, from)| *to |= from);
        }
    }
    let post_dominators = graph.post_dominators();
    let mut edges = Vec::new();
    for &branch in &order {
        if !is_forward_branch(branch, &forward[branch], loops) || is_uniform(branch) {
            continue;
        }
        let before_join = order.iter().filter(|&&node| leads_to(graph, node, post_dominators[branch]));
        for &from in before_join {
            let sides = &forward[branch];
            let mut new: Vec<usize> = sides.iter().copied().filter(|&side| !reaching[from][side]).collect();
            if new.is_empty() {
                new.clone_from(sides);
            }
            edges.extend(new.into_iter().map(|to| DivergentEdge { from, to, branch }));
        }
    }
    once(graph, edges)
}

/// Returns whether a node is a branch in the sense of the paper's section IV-A; `forward` contains
/// its successors without back edges.
fn is_forward_branch(node: usize, forward: &[usize], loops: &LoopTree) -> bool {
    let of_header = loops.innermost(node).map(|index| &loops.loops[index]).filter(|of| of.header == node);
    forward.len() > 1 && of_header.is_none_or(|of| forward.iter().all(|&to| of.contains(to)))
}

/// Removes duplicates and edges that exist already.
fn once(graph: &FlowGraph, mut edges: Vec<DivergentEdge>) -> Vec<DivergentEdge> {
    edges.retain(|edge| !graph.has_edge(edge.from, edge.to));
    // the sort is stable, so the first branch of each edge is kept
    edges.sort_by_key(|edge| (edge.from, edge.to));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    edges
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The graph of the paper's figure 2, reconstructed from the text; node n is `b(n + 6)`.
    fn figure_2() -> FlowGraph {
        let edges = [(6, 7), (6, 12), (7, 8), (7, 10), (8, 9), (9, 15), (10, 11), (11, 14)];
        let further_edges = [(12, 10), (12, 13), (13, 14), (14, 15)];
        let mut successors = vec![Vec::new(); 10];
        edges
            .iter()
            .chain(&further_edges)
            .for_each(|&(from, to): &(usize, usize)| successors[from - 6].push(to - 6));
        FlowGraph::new(successors, (0..10).map(|node| node == 9).collect())
    }

    fn named(edges: &[DivergentEdge]) -> Vec<(usize, usize)> {
        edges.iter().map(|edge| (edge.from + 6, edge.to + 6)).collect()
    }

    #[test]
    fn figure_2_gets_the_edges_of_its_three_regions() {
        let graph = figure_2();
        let loops = LoopTree::new(&graph).unwrap();
        let edges = published_edges(&graph, &loops, |_| false);
        // region (b6, b15): b9 to b12, b14 to both; (b7, b15): b9 to b10, b14 to b8; (b12, b14):
        // b11 to b13, b13 to b10
        assert_eq!(named(&edges), [(9, 10), (9, 12), (11, 13), (13, 10), (14, 7), (14, 8), (14, 12)]);
        assert_eq!(named(&divergent_edges(&graph, |_| false)), named(&edges));
        let branch_of = |from: usize, to: usize| {
            edges.iter().find(|edge| (edge.from + 6, edge.to + 6) == (from, to)).map(|edge| edge.branch + 6)
        };
        assert_eq!((branch_of(9, 12), branch_of(9, 10), branch_of(13, 10)), (Some(6), Some(7), Some(12)));
        // the new graph has a cycle between b11 and b13 that is not a natural loop
        let updated = graph.with_edges(edges.iter().map(|edge| (edge.from, edge.to)));
        assert!(LoopTree::new(&updated).is_err());
        // a uniform branch adds none of its edges
        assert_eq!(named(&divergent_edges(&graph, |node| node != 12 - 6)), [(11, 13), (13, 10)]);
    }

    #[test]
    fn the_executions_of_figure_2_are_walks_of_the_new_graph_only() {
        let graph = figure_2();
        let edges = divergent_edges(&graph, |_| false);
        let updated = graph.with_edges(edges.iter().map(|edge| (edge.from, edge.to)));
        // all lanes take b12 and diverge there; the lanes at b7 run first and diverge there; those
        // at b12 run first
        let executions: [&[usize]; 3] = [
            &[6, 12, 10, 11, 13, 14, 15],
            &[6, 7, 8, 9, 10, 11, 14, 12, 10, 11, 13, 14, 15],
            &[6, 12, 10, 11, 13, 14, 7, 10, 11, 14, 8, 9, 15],
        ];
        let is_walk = |graph: &FlowGraph, walk: &[usize]| {
            walk.windows(2).all(|step| graph.has_edge(step[0] - 6, step[1] - 6))
        };
        assert!(executions.iter().all(|walk| is_walk(&updated, walk)));
        assert!(executions.iter().all(|walk| !is_walk(&graph, walk)));
        assert!(!updated.has_edge(11 - 6, 7 - 6), "impossible, as the paper says");
    }

    /// Returns a random graph in which every node is reachable and leads to the exit. All edges go
    /// forward; with `loops`, some go back.
    fn random(rng: &mut ChaCha8Rng, loops: bool) -> FlowGraph {
        let nodes = rng.random_range(2..9);
        let mut successors: Vec<Vec<usize>> = (0..nodes - 1).map(|node| vec![node + 1]).collect();
        successors.push(Vec::new());
        for (from, targets) in successors.iter_mut().enumerate().take(nodes - 1) {
            let to = if loops && rng.random_ratio(1, 3) {
                rng.random_range(0..=from)
            } else {
                rng.random_range(from + 1..nodes)
            };
            if rng.random_bool(0.7) && !targets.contains(&to) {
                targets.push(to);
            }
        }
        FlowGraph::new(successors, (0..nodes).map(|node| node == nodes - 1).collect())
    }

    /// Returns the nodes that a warp executes if its lanes decide at random, simulated with a stack
    /// of post-dominators.
    fn execution(graph: &FlowGraph, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let joins = graph.post_dominators();
        let mut path = Vec::new();
        // next node, reconvergence point, lanes
        let mut stack = vec![(0, None, 0xffu8)];
        while let Some(&mut (node, join, lanes)) = stack.last_mut() {
            if Some(node) == join {
                stack.pop();
                continue;
            }
            path.push(node);
            if path.len() > 200 {
                break;
            }
            let targets = graph.successors(node);
            let mut sides: Vec<(usize, u8)> = targets.iter().map(|&to| (to, 0)).collect();
            for lane in (0..8).filter(|lane| lanes >> lane & 1 == 1) {
                if !sides.is_empty() {
                    let chosen = rng.random_range(0..sides.len());
                    sides[chosen].1 |= 1 << lane;
                }
            }
            sides.retain(|&(_, lanes)| lanes != 0);
            match sides[..] {
                [] => {
                    stack.pop();
                }
                [(to, _)] => stack.last_mut().expect("it is there").0 = to,
                _ => {
                    let enclosing_join = joins[node];
                    if enclosing_join == join {
                        stack.pop();
                    } else {
                        let top = stack.last_mut().expect("it is there");
                        top.0 = enclosing_join.expect("the end is the join of no branch but itself");
                    }
                    if rng.random_bool(0.5) {
                        sides.reverse();
                    }
                    stack.extend(sides.iter().map(|&(to, lanes)| (to, enclosing_join, lanes)));
                }
            }
        }
        path
    }

    #[test]
    fn every_execution_is_a_walk() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut added, mut beyond_published, mut looping) = (0, 0, 0);
        for _ in 0..3000 {
            let graph = random(&mut rng, true);
            let edges = divergent_edges(&graph, |_| false);
            let updated = graph.with_edges(edges.iter().map(|edge| (edge.from, edge.to)));
            let published = LoopTree::new(&graph).ok().map(|loops| {
                looping += usize::from(!loops.loops.is_empty());
                let edges = published_edges(&graph, &loops, |_| false);
                graph.with_edges(edges.iter().map(|edge| (edge.from, edge.to)))
            });
            for _ in 0..20 {
                let path = execution(&graph, &mut rng);
                for step in path.windows(2) {
                    assert!(updated.has_edge(step[0], step[1]), "{graph:?} {path:?} {step:?}");
                    added += usize::from(!graph.has_edge(step[0], step[1]));
                    let known = published.as_ref().is_none_or(|graph| graph.has_edge(step[0], step[1]));
                    beyond_published += usize::from(!known);
                }
            }
        }
        assert!(added > 1000 && looping > 500, "{added} {looping}");
        assert!(beyond_published > 0, "the published edges would do");
    }

    #[test]
    fn without_loops_the_sides_have_no_edge_that_is_not_published() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut equal = 0;
        for _ in 0..3000 {
            let graph = random(&mut rng, false);
            let loops = LoopTree::new(&graph).unwrap();
            let (ours, theirs) =
                (divergent_edges(&graph, |_| false), published_edges(&graph, &loops, |_| false));
            assert!(ours.iter().all(|edge| theirs.iter().any(|t| (t.from, t.to) == (edge.from, edge.to))));
            equal += usize::from(ours == theirs);
        }
        assert!(equal > 500, "{equal}");
    }
}
