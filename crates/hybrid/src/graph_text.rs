//! Control flow graphs as text, for traces of code that is not a kernel of this program.
//!
//! ```text
//! # the entry is the node that is named first
//! i1 -> i2 i3
//! i2 -> b2
//! b2 ~> i3        # divergence adds this edge
//! plain b2        # no ipoint
//! block 4         # warps 0 to 3 of a multiprocessor are a block, 4 to 7 the next
//! barrier i3      # here a warp waits for all of its block
//! ```
//!
//! Nodes are words; a node that no `->` leaves is an end. A barrier is the first instruction of its
//! node: a warp that passes the node's ipoint has arrived at the barrier, and is released before
//! the next ipoint that it passes.

use std::ops::Range;

use super::ipg::{Ipg, IpgError};
use super::layout::{Layout, MAX_WARPS};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::program::graph::FlowGraph;

const FORMAT: &str = "a line is `a -> b c`, `a ~> b` for edges that divergence adds, `plain a b` for nodes without an ipoint, `barrier a b` for nodes where a warp waits for its block, or `block 4` for its warps";

/// A control flow graph that was read from a text.
#[derive(Clone, Debug)]
pub struct WrittenGraph {
    /// The graph.
    pub graph: FlowGraph,
    /// The edges that divergence adds.
    pub divergent: Vec<(usize, usize)>,
    /// The names of the nodes.
    pub names: Vec<String>,
    /// The nodes without ipoints.
    pub plain: Vec<usize>,
    /// The nodes at which a warp waits for its block.
    pub barriers: Vec<usize>,
    /// The number of warps of a block.
    pub block: Option<u32>,
}

#[derive(Default)]
struct Parts {
    names: Vec<String>,
    places: Vec<Range<usize>>,
    edges: Vec<(usize, usize)>,
    divergent: Vec<(usize, usize, Range<usize>)>,
    plain: Vec<(usize, Range<usize>)>,
    barriers: Vec<(usize, Range<usize>)>,
    block: Option<u32>,
}

impl Parts {
    fn node(&mut self, word: &str, place: Range<usize>) -> usize {
        self.names.iter().position(|name| name == word).unwrap_or_else(|| {
            self.names.push(word.to_owned());
            self.places.push(place);
            self.names.len() - 1
        })
    }
}

impl WrittenGraph {
    /// Parses a text.
    ///
    /// # Errors
    /// Returns every invalid line, and every unreachable node.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let mut wrong = Diagnostics::new();
        let mut parts = Parts::default();
        let mut start = 0;
        for line in source.text().split_inclusive('\n') {
            let code = line.split('#').next().unwrap_or("");
            if let Err(problem) = parse_line(source, start, code, &mut parts) {
                wrong.push(problem);
            }
            start += line.len();
        }
        wrong.into_result(())?;
        let Parts { names, places, edges, divergent, plain, barriers, block } = parts;
        if names.is_empty() {
            return Err(Diagnostic::general(source.name(), "a graph without nodes").hint(FORMAT).into());
        }
        let mut successors = vec![Vec::new(); names.len()];
        edges.iter().for_each(|&(from, to)| successors[from].push(to));
        let leaves: Vec<bool> = successors.iter().map(Vec::is_empty).collect();
        let mut wrong = Diagnostics::new();
        for (from, _, place) in divergent.iter().filter(|(from, ..)| leaves[*from]) {
            let message = format!("`{}` is an end: divergence cannot add an edge to it", names[*from]);
            wrong.push(source.error(place.clone(), message).hint("an end is a node that no -> leaves"));
        }
        for (node, place) in plain.iter().filter(|(node, _)| *node == 0 || leaves[*node]) {
            let what = if *node == 0 { "the entry" } else { "an end" };
            let message = format!("`{}` is {what}, which always has an ipoint", names[*node]);
            wrong.push(source.error(place.clone(), message).hint(FORMAT));
        }
        for (node, place) in &barriers {
            let what = match plain.iter().any(|(other, _)| other == node) {
                _ if leaves[*node] => "is an end, where no warp waits",
                true => "has no ipoint, so no trace shows which warps wait there",
                false => continue,
            };
            wrong.push(source.error(place.clone(), format!("`{}` {what}", names[*node])).hint(FORMAT));
        }
        let graph = FlowGraph::new(successors, leaves);
        let reached = graph.reached(0, None);
        for node in (0..names.len()).filter(|node| !reached.contains(node)) {
            let message = format!("nothing leads from the entry `{}` to `{}`", names[0], names[node]);
            wrong.push(
                source.error(places[node].clone(), message).hint("the entry is the node that is named first"),
            );
        }
        if !reached.iter().any(|&node| graph.leaves(node)) {
            wrong.push(
                Diagnostic::general(source.name(), "the graph has no end")
                    .hint("an end is a node that no -> leaves"),
            );
        }
        wrong.into_result(())?;
        let divergent = divergent.into_iter().map(|(from, to, _)| (from, to)).collect();
        let nodes = |of: Vec<(usize, Range<usize>)>| of.into_iter().map(|(node, _)| node).collect();
        Ok(Self { graph, divergent, names, plain: nodes(plain), barriers: nodes(barriers), block })
    }

    /// Returns the blocks of its traces, by the ipoints of its graph; `None` if the text does not
    /// describe them.
    pub fn layout(&self, ipg: &Ipg) -> Option<Layout> {
        let is_barrier = |ipoint: usize| self.barriers.contains(&ipg.node(ipoint));
        let barriers = (0..ipg.len()).map(is_barrier).collect();
        let barriers = (!self.barriers.is_empty()).then_some(barriers);
        self.block.map(|warps| Layout { warps, barriers })
    }

    /// Returns its instrumentation point graph.
    ///
    /// # Errors
    /// See [`IpgError`].
    pub fn ipg(&self) -> Result<Ipg, IpgError> {
        Ipg::new(
            &self.graph,
            &self.divergent,
            |node| !self.plain.contains(&node),
            |node| self.names[node].clone(),
        )
    }
}

fn parse_line(source: &SourceText, start: usize, code: &str, parts: &mut Parts) -> Result<(), Diagnostic> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in code.split_inclusive(char::is_whitespace) {
        let text = word.trim_end();
        if !text.is_empty() {
            words.push((text, start + at..start + at + text.len()));
        }
        at += word.len();
    }
    let Some((first, place)) = words.first().cloned() else { return Ok(()) };
    let is_arrow = |word: &str| matches!(word, "->" | "~>");
    let arrow = words.get(1).map(|(word, _)| *word).filter(|word| is_arrow(word));
    let names = if arrow.is_some() { &words[2..] } else { &words[1..] };
    let odd = |(word, _): &&(&str, Range<usize>)| is_arrow(word) || !super::ipg::is_word(word);
    let nodes_only = matches!(first, "plain" | "barrier" | "block");
    if is_arrow(first) || (arrow.is_none() && !nodes_only) || names.is_empty() {
        return Err(source.error(place, "this is not a line of a graph").hint(FORMAT));
    }
    if arrow.is_none() && first == "block" {
        return parse_block(source, place, names, parts);
    }
    if let Some((word, place)) = std::iter::once(&words[0]).chain(names).find(odd) {
        let message = format!("`{word}` is not a name of a node");
        let hint = "a name is a word of letters, digits and _ that begins with no digit";
        return Err(source.error(place.clone(), message).hint(hint));
    }
    if arrow.is_none() {
        for (word, place) in names {
            let Some(node) = parts.names.iter().position(|name| name == word) else {
                let message = format!("no line before this one names `{word}`");
                return Err(source.error(place.clone(), message).hint(FORMAT));
            };
            let list = if first == "plain" { &mut parts.plain } else { &mut parts.barriers };
            list.push((node, place.clone()));
        }
        return Ok(());
    }
    let from = parts.node(first, place);
    for (word, place) in names {
        let to = parts.node(word, place.clone());
        if arrow == Some("~>") {
            parts.divergent.push((from, to, place.clone()));
        } else if parts.edges.contains(&(from, to)) {
            let message = format!("the edge from `{first}` to `{word}` is there already");
            return Err(source.error(place.clone(), message));
        } else {
            parts.edges.push((from, to));
        }
    }
    Ok(())
}

/// Parses the number after `block`.
fn parse_block(
    source: &SourceText,
    line: Range<usize>,
    words: &[(&str, Range<usize>)],
    parts: &mut Parts,
) -> Result<(), Diagnostic> {
    let (word, place) = &words[0];
    let warps = word.parse().ok().filter(|warps| (1..=MAX_WARPS).contains(warps) && words.len() == 1);
    let Some(warps) = warps else {
        let message = format!("expected a single number of warps from 1 to {MAX_WARPS} here");
        return Err(source.error(place.clone(), message).hint("for example `block 4`: blocks of 4 warps"));
    };
    if parts.block.replace(warps).is_some() {
        return Err(source.error(line, "the number of warps of a block is given already"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<WrittenGraph, Diagnostics> {
        WrittenGraph::parse(&SourceText::new("g", text))
    }

    #[test]
    fn graphs_are_read() {
        let found =
            parse("# comment\ni1 -> i2 i3 # more\n\n i2 -> b2\nb2 -> i3\r\nb2 ~> i2\nplain b2\n").unwrap();
        assert_eq!(found.names, ["i1", "i2", "i3", "b2"]);
        assert_eq!((found.graph.successors(0), found.graph.leaves(2)), ([1, 2].as_slice(), true));
        assert_eq!(
            (found.divergent.as_slice(), found.plain.as_slice()),
            ([(3, 1)].as_slice(), [3].as_slice())
        );
        let ipg = found.ipg().unwrap();
        assert_eq!(ipg.names().collect::<Vec<_>>(), ["i1", "i2", "i3"]);
    }

    #[test]
    fn errors_have_a_message_and_a_place() {
        for (text, line, column, message) in [
            ("a -> b\nb c\n", 2, 1, "not a line of a graph"),
            ("a ->\n", 1, 1, "not a line of a graph"),
            ("a -> b -> c\n", 1, 8, "`->` is not a name"),
            ("a -> 1b\n", 1, 6, "`1b` is not a name"),
            ("a -> b b\n", 1, 8, "there already"),
            ("a -> b\nplain q\n", 2, 7, "names `q`"),
            ("a -> b\nc -> b\n", 2, 1, "nothing leads"),
            ("a -> b\nb ~> a\n", 2, 6, "`b` is an end"),
            ("a -> b\nplain a\n", 2, 7, "the entry"),
            ("a -> b\nb -> a\n", 0, 0, "no end"),
            ("# nothing\n", 0, 0, "without nodes"),
            ("a -> b\nbarrier b\n", 2, 9, "`b` is an end"),
            ("a -> b\nb -> c\nplain b\nbarrier b\n", 4, 9, "`b` has no ipoint"),
            ("a -> b\nblock 0\n", 2, 7, "single number of warps"),
            ("a -> b\nblock 2 3\n", 2, 7, "single number of warps"),
            ("a -> b\nblock 2\nblock 2\n", 3, 1, "given already"),
        ] {
            let wrong = parse(text).unwrap_err();
            let first = &wrong.list()[0];
            assert_eq!((first.line, first.column), (line, column), "{text}{wrong}");
            assert!(first.message.contains(message), "{text}{wrong}");
        }
    }
}
