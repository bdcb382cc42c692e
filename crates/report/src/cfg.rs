//! The report of the control flow of a kernel's warps: basic blocks, loops, and the edges that
//! divergence adds.

use std::collections::BTreeMap;
use std::fmt::Write;

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use serde::Serialize;

use super::count;
use super::output::{Output, Report};
use super::style::Style;
use super::table::Table;
use warpbound_core::diag::printable_markup;
use warpbound_core::program::KernelCode;
use warpbound_core::program::warp_cfg::WarpCfg;

/// The control flow graph of a kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CfgResult {
    /// The name of the kernel.
    pub kernel: String,
    /// Its source file.
    pub file: String,
    /// Which edges represent divergence: `sides` or `published`. Machine code whose threads are
    /// scheduled independently has none (`threads take turns`).
    pub divergence: &'static str,
    /// The basic blocks; those of the kernel itself come first.
    pub blocks: Vec<Block>,
    /// The edges that lanes can take, including calls, as pairs of indices of blocks.
    pub edges: Vec<[usize; 2]>,
    /// The additional edges that warps can take because their lanes diverge.
    pub added: Vec<Added>,
    /// The loops, each after the loops that contain it.
    pub loops: Vec<LoopRow>,
}

/// A basic block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    /// The function that contains it.
    pub function: String,
    /// The lines of its first and last instruction.
    pub lines: [u32; 2],
    /// The number of its instructions.
    pub instructions: usize,
    /// The number of loops that contain it.
    pub depth: usize,
    /// The block at which lanes that diverge at its end reconverge; absent if they reconverge only
    /// at the end of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_dominator: Option<usize>,
    /// Whether lanes of a warp may diverge at its end.
    pub diverges: bool,
    /// Whether lanes may exit, or return, after it.
    pub leaves: bool,
}

/// An edge that divergence adds.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Added {
    /// The block at which one side of a branch ends.
    pub from: usize,
    /// The block at which another side begins.
    pub to: usize,
    /// The block that ends with the branch.
    pub branch: usize,
}

/// A loop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopRow {
    /// The block that is its only entry.
    pub header: usize,
    /// The line of the first instruction of the header.
    pub line: u32,
    /// The nesting depth: 1 for an outermost loop.
    pub depth: usize,
    /// The blocks of the loop.
    pub blocks: Vec<usize>,
}

impl CfgResult {
    /// Returns the graph of the warps of a program.
    pub fn new(kernel: &str, program: &KernelCode, divergence: &'static str, graph: &WarpCfg) -> Self {
        let line = |index: usize| program.instrs[index].line;
        let block = |(index, block): (usize, &warpbound_core::program::cfg::BasicBlock)| {
            let function = graph.function_of(index);
            let join = function.joins.blocks[index - function.first];
            Block {
                function: function.name.clone(),
                lines: [line(block.start.index()), line(block.end.index() - 1)],
                instructions: block.end.index() - block.start.index(),
                depth: graph.depth(index),
                post_dominator: join.map(|join| join + function.first),
                diverges: graph.diverges[index],
                leaves: graph.lanes.leaves(index),
            }
        };
        let loops = graph.functions.iter().flat_map(|function| {
            function.loops.loops.iter().map(|found| LoopRow {
                header: found.header + function.first,
                line: line(graph.blocks[found.header + function.first].start.index()),
                depth: found.depth,
                blocks: found.body.iter().map(|block| block + function.first).collect(),
            })
        });
        let nodes = 0..graph.blocks.len();
        Self {
            kernel: kernel.to_owned(),
            file: program.file.clone(),
            divergence,
            blocks: graph.blocks.iter().enumerate().map(block).collect(),
            edges: nodes
                .flat_map(|from| graph.lanes.successors(from).iter().map(move |&to| [from, to]))
                .collect(),
            added: graph
                .added
                .iter()
                .map(|edge| Added { from: edge.from, to: edge.to, branch: edge.branch })
                .collect(),
            loops: loops.collect(),
        }
    }

    /// Returns the graph in the language of Graphviz. Edges of lanes are solid, edges that
    /// divergence adds are dashed and red.
    pub fn dot(&self) -> String {
        let mut text =
            format!("digraph \"{}\" {{\n  node [shape=box];\n", self.kernel.replace(['"', '\\'], "_"));
        for (index, block) in self.blocks.iter().enumerate() {
            let [first, last] = block.lines;
            let lines =
                if first == last { format!("line {first}") } else { format!("lines {first} to {last}") };
            let fill = if block.diverges { ", style=filled, fillcolor=\"#fff2cc\"" } else { "" };
            let _ = writeln!(text, "  b{index} [label=\"b{index}: {lines}\"{fill}];");
        }
        for [from, to] in &self.edges {
            let _ = writeln!(text, "  b{from} -> b{to};");
        }
        for Added { from, to, .. } in &self.added {
            let _ = writeln!(text, "  b{from} -> b{to} [style=dashed, color=red];");
        }
        text + "}\n"
    }

    /// Returns a drawing of the graph.
    ///
    /// # Errors
    /// If the graph cannot be laid out: the message of the layout.
    pub fn svg(&self) -> Result<String, String> {
        let graph = DotParser::new(&self.dot()).process()?;
        let mut builder = GraphBuilder::new();
        builder.visit_graph(&graph);
        let mut writer = SVGWriter::new();
        builder.get().do_it(false, false, false, &mut writer);
        Ok(printable_markup(&writer.finalize()).into_owned())
    }

    fn text(&self, width: Option<usize>) -> String {
        let diverging = self.blocks.iter().filter(|block| block.diverges).count();
        let mut text = format!(
            "{}: {}, {}, lanes may diverge at the end of {diverging}; divergence adds {} ({})\n\n",
            self.kernel,
            count(self.blocks.len(), "block"),
            count(self.edges.len(), "edge"),
            count(self.added.len(), "edge"),
            self.divergence
        );
        let mut targets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        self.edges.iter().for_each(|&[from, to]| targets.entry(from).or_default().push(to));
        let mut added: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        self.added.iter().for_each(|edge| added.entry(edge.from).or_default().push(edge.to));
        let names = |list: Option<&Vec<usize>>| {
            let list: Vec<String> = list.into_iter().flatten().map(|block| format!("b{block}")).collect();
            list.join(" ")
        };
        let heading = ["block", "lines", "instructions", "depth", "to", "by divergence", "lanes", "meet at"];
        let mut table = Table::new(heading, &[0, 1, 4, 5, 6, 7]);
        for (index, block) in self.blocks.iter().enumerate() {
            let [first, last] = block.lines;
            let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
            let mut to = names(targets.get(&index));
            if block.leaves {
                to += if to.is_empty() { "end" } else { " end" };
            }
            let meet = match block.post_dominator {
                Some(join) if block.diverges => format!("b{join}"),
                None if block.diverges => "end".to_owned(),
                _ => String::new(),
            };
            table.row([
                format!("b{index}"),
                lines,
                block.instructions.to_string(),
                block.depth.to_string(),
                to,
                names(added.get(&index)),
                if block.diverges { "may diverge" } else { "" }.to_owned(),
                meet,
            ]);
        }
        text += &table.render(2, width);
        for found in &self.loops {
            let _ = write!(
                text,
                "\nloop at line {}, depth {}: {}",
                found.line,
                found.depth,
                names(Some(&found.blocks))
            );
        }
        if !self.loops.is_empty() {
            text.push('\n');
        }
        text
    }
}

impl Report for Output<CfgResult> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|result| result.text(style.width)).collect()
    }
}
