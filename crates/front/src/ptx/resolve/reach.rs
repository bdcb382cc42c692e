//! The functions that a kernel reaches, and those of them that are recursive.

use std::collections::HashSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Statics;
use crate::ptx::ast::{Ast, Body, OperandKind, Stmt};
use crate::ptx::span::Span;

/// The functions that a kernel reaches.
pub(in crate::ptx) struct Reach {
    /// The indices of functions with a body, without duplicates; the kernel is the first.
    pub functions: Vec<u32>,
    /// The functions on cycles of the call graph, which may have several frames at a time. An
    /// indirect call may reach any function whose address is taken.
    pub recursive: HashSet<u32>,
}

/// The functions that a body refers to.
#[derive(Default)]
struct Uses {
    /// The functions that it calls by name.
    calls: Vec<u32>,
    /// The functions that it names otherwise, whose addresses are values.
    addresses: Vec<u32>,
    /// Whether it contains an indirect call.
    through_pointer: bool,
}

/// Searches the call graph depth-first with an explicit stack, because chains of calls can be long.
/// Once an indirect call is reached, all functions are reached whose addresses are taken in reached
/// code or in an initialiser of the module.
pub(in crate::ptx) fn reach(ast: &Ast, text: &str, statics: &Statics, entry: u32) -> Reach {
    let mut functions = Vec::new();
    let mut uses: Vec<Uses> = Vec::new();
    let mut seen = HashSet::new();
    let mut taken: Vec<u32> = Vec::new();
    let mut is_taken = HashSet::new();
    let mut through_pointer = false;
    let mut stack = vec![entry];
    // the number of addresses that have been followed
    let mut followed = 0;
    let has_body = |index: &u32| ast.functions[*index as usize].body.is_some();
    loop {
        while let Some(function) = stack.pop() {
            if !seen.insert(function) {
                continue;
            }
            let found = ast.functions[function as usize]
                .body
                .as_ref()
                .map_or_else(Uses::default, |body| uses_of(body, text, statics));
            // the first call is on top of the stack
            stack.extend(found.calls.iter().rev().filter(|&callee| has_body(callee)));
            taken.extend(found.addresses.iter().filter(|&&index| is_taken.insert(index)));
            through_pointer |= found.through_pointer;
            functions.push(function);
            uses.push(found);
        }
        if !through_pointer {
            break;
        }
        taken.extend(statics.taken.iter().filter(|&&index| is_taken.insert(index)));
        let callable = |index: &&u32| has_body(index) && !ast.functions[**index as usize].entry;
        stack.extend(taken[followed..].iter().rev().filter(callable));
        followed = taken.len();
        if stack.is_empty() {
            break;
        }
    }
    let recursive = recursive_functions(&functions, &uses, &taken);
    Reach { functions, recursive }
}

/// Returns the functions that may be called recursively.
fn recursive_functions(functions: &[u32], uses: &[Uses], taken: &[u32]) -> HashSet<u32> {
    let mut graph = DiGraph::<Option<u32>, ()>::new();
    let nodes: std::collections::HashMap<u32, NodeIndex> =
        functions.iter().map(|&index| (index, graph.add_node(Some(index)))).collect();
    // all indirect calls lead to one node, from which every function whose address is taken can be
    // reached
    let pointers = graph.add_node(None);
    for index in taken {
        if let Some(&to) = nodes.get(index) {
            graph.add_edge(pointers, to, ());
        }
    }
    let mut recursive = HashSet::new();
    for (&function, uses) in functions.iter().zip(uses) {
        let from = nodes[&function];
        for callee in &uses.calls {
            if let Some(&to) = nodes.get(callee) {
                graph.add_edge(from, to, ());
            }
            if *callee == function {
                recursive.insert(function);
            }
        }
        if uses.through_pointer {
            graph.add_edge(from, pointers, ());
        }
    }
    for cycle in kosaraju_scc(&graph).into_iter().filter(|cycle| cycle.len() > 1) {
        recursive.extend(cycle.into_iter().filter_map(|node| graph[node]));
    }
    recursive
}

fn uses_of(body: &Body, text: &str, statics: &Statics) -> Uses {
    let function = |name: Span| statics.functions.get(text.get(name.range()).unwrap_or_default()).copied();
    let mut uses = Uses::default();
    for &callee in &body.callees {
        match function(callee) {
            Some(index) => uses.calls.push(index),
            None => uses.through_pointer = true,
        }
    }
    for stmt in &body.stmts {
        match stmt {
            Stmt::CallTargets(_, targets) => {
                uses.addresses.extend(targets.iter().filter_map(|target| function(*target)));
            }
            Stmt::Instr(instr) => {
                let is_call = text.get(instr.opcode.range()).is_some_and(|opcode| opcode.starts_with("call"));
                for operand in instr.operands.iter().filter(|_| !is_call) {
                    match &operand.kind {
                        OperandKind::Name(name) => uses.addresses.extend(function(*name)),
                        OperandKind::Symbol(expr) => uses.addresses.extend(function(expr.name)),
                        _ => {}
                    }
                }
                // arguments of a call may be addresses of functions as well
                for operand in instr.operands.iter().filter(|_| is_call) {
                    if let OperandKind::Group(list) = &operand.kind {
                        let names = list.iter().filter_map(|argument| match argument.kind {
                            OperandKind::Name(name) => function(name),
                            _ => None,
                        });
                        uses.addresses.extend(names);
                    }
                }
            }
            _ => {}
        }
    }
    uses
}
