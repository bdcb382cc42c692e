//! Implicit path enumeration: the longest path as an integer linear program.
//!
//! Betts and Donaldson, section II-C. A variable `x.u.v` for each observed transition is the number
//! of times that it is taken, and a variable `end.v` for each exit states whether the warp ends
//! there. Each ipoint is left as often as it is entered, where ending there counts as leaving. In
//! each loop the iterations are at most the bound times the entries, see [`super::ipg`]. The
//! program maximises the sum of counts times longest times.
//!
//! If divergence adds transitions, loop bounds do not limit all counts. In that case, and on
//! request, each transition is taken at most as often as a warp was observed to take it
//! ([`Limits::Counts`]). These limits are the paper's "maximum execution counts of IPG edges"
//! (section VI-C). Such a value combines the worst observations; a path that no test took often
//! enough can be longer.
//!
//! Solutions need not be paths: the transitions may also form a cycle that is separate from the
//! path, if the cycle is in a loop that the path enters, or if only observed counts limit the
//! cycle. That makes values larger, never smaller.

use std::fmt;

use good_lp::solvers::microlp::microlp;
use good_lp::{Expression, ProblemVariables, ResolutionError, Solution, SolverModel, Variable, variable};

use super::ipg::Ipg;
use super::timing::Timing;
use warpbound_core::base::Cycles;

/// The limit of the solver, which stores integers in 31 bits; values near it may have been cut off.
const MOST: u64 = i32::MAX as u64;
/// The limit up to which the solver computes exactly, in 53 bits.
const EXACT: u64 = 1 << 53;

/// The constraints on the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// Only loop bounds.
    Loops,
    /// Loop bounds, and for each transition the number of times that a warp was observed to take
    /// it.
    Counts,
}

/// The reason why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IlpError {
    /// With divergence, loop bounds alone do not limit the counts.
    Divergent,
    /// No path of observed transitions leads from the entry to an exit.
    NoPath,
    /// A time or count exceeds what the solver can represent.
    TooLarge,
    /// The solver failed, or its result violates a constraint.
    Solver(String),
}

impl fmt::Display for IlpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divergent => f.write_str("with divergence, loop bounds alone do not give a bound"),
            Self::NoPath => f.write_str("no path that was observed leads from the entry to an exit"),
            Self::TooLarge => f.write_str("a time or count is more than the solver can represent"),
            Self::Solver(why) => write!(f, "the solver found no optimum: {why}"),
        }
    }
}

impl std::error::Error for IlpError {}

/// A longest path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// Its length: the sum of counts times longest times.
    pub value: Cycles,
    /// The number of times that it takes each transition.
    pub counts: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    Equals,
}

/// A constraint: the sum of coefficients times variables is at most, or equal to, a number.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    terms: Vec<(i128, usize)>,
    relation: Relation,
    right: i128,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    time: u64,
    most: Option<u64>,
    transition: Option<usize>,
}

/// The integer linear program of a graph and of the data from traces.
#[derive(Clone, Debug)]
pub struct IntegerProgram {
    columns: Vec<Column>,
    rows: Vec<Row>,
    transitions: usize,
}

impl IntegerProgram {
    /// Creates the program whose optimum is the estimate of one warp.
    ///
    /// # Errors
    /// Returns [`IlpError::Divergent`] if divergence adds transitions and only loops are to limit
    /// the counts; [`IlpError::TooLarge`] for numbers that exceed the solver's range.
    pub fn new(ipg: &Ipg, timing: &Timing, limits: Limits) -> Result<Self, IlpError> {
        if limits == Limits::Loops && ipg.has_divergence() {
            return Err(IlpError::Divergent);
        }
        within_reach(ipg, timing)?;
        let mut columns = Vec::new();
        let mut column_of = vec![None; ipg.transitions().len()];
        for (index, transition) in ipg.transitions().iter().enumerate() {
            let Some(time) = timing.wcet[index] else { continue };
            column_of[index] = Some(columns.len());
            columns.push(Column {
                name: format!("x.{}.{}", ipg.name(transition.from), ipg.name(transition.to)),
                time: time.get(),
                most: (limits == Limits::Counts).then_some(timing.count[index]),
                transition: Some(index),
            });
        }
        // by ipoint: the entries less the departures
        let mut balance: Vec<Vec<(i128, usize)>> = vec![Vec::new(); ipg.len()];
        for (index, column) in column_of.iter().enumerate().filter_map(|(index, at)| at.map(|at| (index, at)))
        {
            let transition = &ipg.transitions()[index];
            if transition.from != transition.to {
                balance[transition.to].push((1, column));
                balance[transition.from].push((-1, column));
            }
        }
        for exit in (0..ipg.len()).filter(|&ipoint| ipg.is_exit(ipoint)) {
            balance[exit].push((-1, columns.len()));
            let name = format!("end.{}", ipg.name(exit));
            columns.push(Column { name, time: 0, most: Some(1), transition: None });
        }
        let mut rows: Vec<Row> = balance
            .into_iter()
            .enumerate()
            // the entry is also entered from outside, once
            .map(|(ipoint, terms)| Row {
                name: format!("flow.{}", ipg.name(ipoint)),
                terms,
                relation: Relation::Equals,
                right: -i128::from(ipoint == 0),
            })
            .collect();
        for (index, of) in ipg.loops().iter().enumerate() {
            let bound = i128::from(timing.bound[index]);
            let mut terms = Vec::new();
            for (number, transition) in ipg.transitions().iter().enumerate() {
                let Some(column) = column_of[number] else { continue };
                if transition.iterates.contains(&index) {
                    terms.push((1, column));
                } else if transition.enters.contains(&index) && bound > 0 {
                    terms.push((-bound, column));
                }
            }
            let starts_inside = i128::from(of.ipoints.first() == Some(&0));
            let name =
                format!("loop.{}", of.ipoint.map_or_else(|| index.to_string(), |at| ipg.name(at).to_owned()));
            rows.push(Row { name, terms, relation: Relation::AtMost, right: bound * starts_inside });
        }
        Ok(Self { columns, rows, transitions: ipg.transitions().len() })
    }

    /// Solves the program. The value is computed again from the counts, which are integers and are
    /// checked against each constraint.
    ///
    /// # Errors
    /// See [`IlpError`].
    pub fn solve(&self) -> Result<Worst, IlpError> {
        let mut variables = ProblemVariables::new();
        let columns: Vec<Variable> = self
            .columns
            .iter()
            .map(|column| {
                let most = column.most.map_or(f64::INFINITY, |most| as_f64(i128::from(most)));
                variables.add(variable().integer().min(0.0).max(most))
            })
            .collect();
        let mut objective = Expression::with_capacity(columns.len());
        for (column, &variable) in self.columns.iter().zip(&columns) {
            objective.add_mul(as_f64(i128::from(column.time)), variable);
        }
        let mut model = variables.maximise(objective).using(microlp);
        for row in &self.rows {
            let mut sum = Expression::with_capacity(row.terms.len());
            row.terms.iter().for_each(|&(factor, column)| sum.add_mul(as_f64(factor), columns[column]));
            model.add_constraint(match row.relation {
                Relation::AtMost => sum.leq(as_f64(row.right)),
                Relation::Equals => sum.eq(as_f64(row.right)),
            });
        }
        let solution = model.solve().map_err(|error| match error {
            ResolutionError::Infeasible => IlpError::NoPath,
            other => IlpError::Solver(other.to_string()),
        })?;
        let counts: Vec<u64> = columns.iter().map(|&column| rounded(solution.value(column))).collect();
        self.checked(&counts)
    }

    fn checked(&self, counts: &[u64]) -> Result<Worst, IlpError> {
        if counts.iter().any(|&count| count >= MOST) {
            return Err(IlpError::TooLarge);
        }
        for row in &self.rows {
            let sum: i128 =
                row.terms.iter().map(|&(factor, column)| factor * i128::from(counts[column])).sum();
            if sum > row.right || (row.relation == Relation::Equals && sum < row.right) {
                return Err(IlpError::Solver(format!("its counts violate {}", row.name)));
            }
        }
        let mut value = 0u64;
        let mut by_transition = vec![0; self.transitions];
        for (column, &count) in self.columns.iter().zip(counts) {
            if column.most.is_some_and(|most| count > most) {
                return Err(IlpError::Solver(format!("its count of {} is too large", column.name)));
            }
            let time = column.time.checked_mul(count).ok_or(IlpError::TooLarge)?;
            value = value.checked_add(time).ok_or(IlpError::TooLarge)?;
            if let Some(transition) = column.transition {
                by_transition[transition] = count;
            }
        }
        if value >= EXACT {
            return Err(IlpError::TooLarge);
        }
        Ok(Worst { value: Cycles::new(value), counts: by_transition })
    }

    /// Returns the program in the LP text format of CPLEX, which other solvers read as well.
    pub fn lp_text(&self) -> String {
        let name = |column: usize| self.columns[column].name.as_str();
        let mut text = String::from(
            "\\ how often a warp takes each transition (x.from.to), and where it ends\nMaximize\n",
        );
        let times = self.columns.iter().enumerate().map(|(column, of)| (i128::from(of.time), column));
        text += &format!(" time: {}\nSubject To\n", sum(times, &name));
        for row in self.rows.iter().filter(|row| !row.terms.is_empty()) {
            let relation = if row.relation == Relation::Equals { "=" } else { "<=" };
            let left = sum(row.terms.iter().copied(), &name);
            text += &format!(" {}: {left} {relation} {}\n", row.name, row.right);
        }
        text += "Bounds\n";
        for column in &self.columns {
            if let Some(most) = column.most {
                text += &format!(" 0 <= {} <= {most}\n", column.name);
            }
        }
        text += "General\n";
        self.columns.iter().for_each(|column| text += &format!(" {}\n", column.name));
        text + "End\n"
    }
}

/// Checks that the solver can represent the times and the products of loop bounds.
fn within_reach(ipg: &Ipg, timing: &Timing) -> Result<(), IlpError> {
    let times = timing.wcet.iter().flatten().all(|time| time.get() < EXACT);
    let counts = timing.count.iter().all(|&count| count < MOST);
    let mut together: Vec<u64> = Vec::new();
    for (index, of) in ipg.loops().iter().enumerate() {
        let outside = of.parent.map_or(1, |parent| together[parent]);
        together.push(outside.saturating_mul(timing.bound[index].saturating_add(1)));
    }
    let loops = together.iter().all(|&most| most < MOST);
    (times && counts && loops).then_some(()).ok_or(IlpError::TooLarge)
}

/// Formats terms with their signs, eight to a line.
fn sum<'a>(terms: impl Iterator<Item = (i128, usize)>, name: &impl Fn(usize) -> &'a str) -> String {
    let mut text = String::new();
    for (index, (factor, column)) in terms.enumerate() {
        if index > 0 && index % 8 == 0 {
            text.push_str("\n  ");
        }
        text.push_str(match (index, factor < 0) {
            (0, true) => "-",
            (0, false) => "",
            (_, true) => " - ",
            (_, false) => " + ",
        });
        text += &format!("{} {}", factor.unsigned_abs(), name(column));
    }
    text
}

/// Converts a number, which is below 2^53 here.
#[allow(clippy::cast_precision_loss)]
fn as_f64(number: i128) -> f64 {
    number as f64
}

/// Rounds a value of the solver, whose integers are within 10^-6 of an integer; any other value
/// fails a constraint.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rounded(value: f64) -> u64 {
    value.round().max(0.0) as u64
}
