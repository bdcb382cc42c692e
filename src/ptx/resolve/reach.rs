//! Which functions a kernel reaches, and whether they call each other in a circle.

use super::{Problem, Statics};
use crate::ptx::ast::Ast;

/// What a kernel reaches.
pub(in crate::ptx) struct Reach {
    /// Indices of functions with a body, the kernel first, each once.
    pub functions: Vec<u32>,
    /// Calls that close a circle.
    pub problems: Vec<Problem>,
}

/// Depth-first search over the calls, on a stack of its own: chains of calls can be long.
pub(in crate::ptx) fn reach(ast: &Ast, text: &str, statics: &Statics, entry: u32) -> Reach {
    let mut found = Reach { functions: vec![entry], problems: Vec::new() };
    let mut state = std::collections::HashMap::from([(entry, true)]);
    let mut stack = vec![(entry, 0usize)];
    while let Some((function, next)) = stack.last_mut() {
        let body = ast.functions[*function as usize].body.as_ref();
        let Some(&callee) = body.and_then(|body| body.callees.get(*next)) else {
            // done: a later call of it closes no circle
            state.insert(*function, false);
            stack.pop();
            continue;
        };
        *next += 1;
        let name = text.get(callee.range()).unwrap_or_default();
        let Some(&index) = statics.functions.get(name) else { continue };
        if ast.functions[index as usize].body.is_none() {
            continue;
        }
        match state.get(&index) {
            Some(true) => found.problems.push(Problem {
                span: callee,
                line: 0,
                construct: "recursion".into(),
                message: format!("`{name}` calls itself, directly or through others"),
                hint: "functions have static storage here; write the recursion as a loop".into(),
            }),
            Some(false) => {}
            None => {
                state.insert(index, true);
                found.functions.push(index);
                stack.push((index, 0));
            }
        }
    }
    found
}
