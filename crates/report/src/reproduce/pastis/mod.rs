//! Section V of Adalbert et al., "PasTiS: building an NVIDIA Pascal GPU simulator for embedded AI
//! applications", ERTS 2022: the stack of a warp (figures 5 to 7), products of integer matrices
//! (figures 10 to 12), and a network that recognises handwritten digits, from PTX and from machine
//! code, on a simulated Jetson TX2.

pub mod published;
pub mod stacks;
mod text;

use serde::Serialize;

use crate::Fraction;
use crate::output::Origin;
use crate::reproduce::figure::Statement;
use crate::verdict::Status;
use published::{Product, SIZES};
use warpbound_core::base::Cycles;
use warpbound_judge::check::{JudgedApplication, StatementBound, StatementRow, overestimation};

/// The paper.
pub const PAPER: &str = "Adalbert et al., ERTS 2022";

/// The machine of figures 10 to 12. If it changes, `FITTED` must be updated, too.
pub const MACHINE: &str = "jetson-tx2-pastis";

/// A note on the parameter of the machine that was fitted to the cycles of figure 10.
const FITTED: &str = "one number of the machine is fitted: the cost of a launch before its first and after its last \
    instruction. It makes the cycles of machine code equal to those of figure 10. Latencies and intervals are from the \
    sources that the machine's file names; for shared memory they are from the paper (section III.B). Control codes decide \
    when instructions of machine code issue; registers decide when instructions of PTX issue";

/// The bound whose overestimation is shown.
const BOUND: &str = "lwb";

/// A simulated product of matrices. Errors are fractions of the board's cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProductRow {
    /// The figure.
    pub figure: &'static str,
    /// The number of rows and columns of the matrices.
    pub side: u32,
    /// Our launch.
    pub launch: String,
    /// The code: `ptx`, or the architecture of the machine code.
    pub code: &'static str,
    /// Transactions of shared memory reads.
    pub shared_reads: u64,
    /// Transactions of shared memory reads on the board.
    pub shared_reads_published: u64,
    /// Transactions of shared memory writes.
    pub shared_writes: u64,
    /// Transactions of shared memory writes on the board.
    pub shared_writes_published: u64,
    /// Our cycles.
    pub cycles: u64,
    /// Our cycles under PasTiS's own policy, run-to-barrier.
    pub cycles_run_to_barrier: u64,
    /// The cycles on the board.
    pub cycles_board: u64,
    /// The cycles that PasTiS computes.
    pub cycles_pastis: u64,
    /// Our error relative to the board.
    pub error: Fraction,
    /// The error of PasTiS relative to the board.
    pub error_pastis: Fraction,
}

impl ProductRow {
    /// Returns the row for the counts of a run of a product.
    pub fn new(of: &Product, (launch, code): (String, &'static str), counted: Counted) -> Self {
        let error = |cycles: u64| Fraction((cycles as f64 - of.board as f64) / of.board as f64);
        Self {
            figure: of.figure,
            side: of.side,
            launch,
            code,
            shared_reads: counted.reads,
            shared_reads_published: of.reads,
            shared_writes: counted.writes,
            shared_writes_published: of.writes,
            cycles: counted.cycles,
            cycles_run_to_barrier: counted.cycles_run_to_barrier,
            cycles_board: of.board,
            cycles_pastis: of.pastis,
            error: error(counted.cycles),
            error_pastis: error(of.pastis),
        }
    }

    /// Returns whether the transactions equal those of the board.
    fn agrees(&self) -> bool {
        (self.shared_reads, self.shared_writes) == (self.shared_reads_published, self.shared_writes_published)
    }
}

/// The cost of a launch if it were fitted to one of the products.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fit {
    /// The figure of the product.
    pub figure: &'static str,
    /// The number of rows and columns of its matrices.
    pub side: u32,
    /// The fitted cost, in cycles: the board's cycles minus ours without a cost.
    pub launch: i64,
    /// Our error for each product with this cost, in their order; 0 for the one it is fitted to.
    pub errors: Vec<Fraction>,
}

/// Returns the cost of a launch fitted to each product of machine code, where `launch` is its cost
/// in these runs.
fn fits(products: &[ProductRow], launch: u64) -> Vec<Fit> {
    let of_code: Vec<&ProductRow> = products.iter().filter(|row| row.code != "ptx").collect();
    let lacks = |row: &ProductRow| row.cycles_board as i64 - (row.cycles as i64 - launch as i64);
    let error =
        |row: &ProductRow, launch: i64| Fraction((launch - lacks(row)) as f64 / row.cycles_board as f64);
    let fit = |on: &&ProductRow| Fit {
        figure: on.figure,
        side: on.side,
        launch: lacks(on),
        errors: of_code.iter().map(|row| error(row, lacks(on))).collect(),
    };
    of_code.iter().map(fit).collect()
}

/// The counts of a run of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Transactions of shared memory reads.
    pub reads: u64,
    /// Transactions of shared memory writes.
    pub writes: u64,
    /// The makespan, in cycles.
    pub cycles: u64,
    /// The makespan under run-to-barrier, in cycles.
    pub cycles_run_to_barrier: u64,
}

/// The network, run from each kind of code.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Network {
    /// Our program.
    pub program: &'static str,
    /// The number of images per run.
    pub images: usize,
    /// The machine on which the bounds are judged.
    pub judged_on: String,
    /// The class of each image by the reference, numpy.
    pub classes: Vec<usize>,
    /// The number of images whose class by the reference is the digit that was written.
    pub right: usize,
    /// Whether all kinds of code produce the same bytes.
    pub same_bytes: bool,
    /// The results for each kind of code.
    pub codes: Vec<NetworkRun>,
}

/// The network, run from one kind of code.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetworkRun {
    /// The code: `ptx`, or the architecture of the machine code.
    pub code: &'static str,
    /// The number of images whose class is the digit that was written.
    pub right: usize,
    /// The number of images whose class differs from the reference.
    pub other_classes: usize,
    /// The largest difference between an output and the reference.
    pub largest_difference: f64,
    /// The layers, in order, without the launches that convert bytes to weights.
    pub layers: Vec<LayerRow>,
}

/// A launch of the network.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LayerRow {
    /// The index of the launch in the program, from 0.
    pub launch: usize,
    /// The number of inputs of each neuron.
    pub inputs: u32,
    /// The number of neurons.
    pub neurons: u32,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// Cycles on the machine of the figures.
    pub cycles: u64,
    /// Cycles on the machine of the figures under PasTiS's own policy, run-to-barrier.
    pub cycles_run_to_barrier: u64,
    /// Cycles on the machine on which the bounds are judged.
    pub cycles_judged: u64,
    /// The bound LWB on that machine, if it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lwb: Option<u64>,
    /// The overestimation of LWB, as a fraction of the cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<Fraction>,
    /// The verdict over all bounds on that machine.
    pub status: Status,
}

impl NetworkRun {
    /// Returns the result for the outputs of the last layer and three runs: on the machine of the
    /// figures, on this machine under run-to-barrier, and on the machine of the bounds.
    pub fn new(
        code: &'static str,
        outputs: &[f64],
        images: &Images,
        figures: &JudgedApplication,
        to_barriers: &JudgedApplication,
        judged: &JudgedApplication,
    ) -> Self {
        let classes = classes(outputs, images.labels.len());
        let differ = |a: &[usize], b: &[usize]| a.iter().zip(b).filter(|(a, b)| a != b).count();
        let differences = outputs.iter().zip(&images.outputs).map(|(ours, theirs)| (ours - theirs).abs());
        Self {
            code,
            right: images.labels.len() - differ(&classes, &images.labels),
            other_classes: differ(&classes, &images.classes()),
            largest_difference: differences.fold(0.0, f64::max),
            layers: layers(figures, to_barriers, judged),
        }
    }
}

/// A layer on the machine of the figures, on this machine under run-to-barrier, and on the machine
/// of the bounds.
type Layer<'a> = ((&'a StatementRow, &'a StatementRow), &'a StatementRow);

/// Returns the layers, which are the last launches of a program.
fn layers(
    figures: &JudgedApplication,
    to_barriers: &JudgedApplication,
    judged: &JudgedApplication,
) -> Vec<LayerRow> {
    let bound = judged.total.bounds.iter().position(|bound| bound.name == BOUND);
    let [figures, to_barriers, judged] = [figures, to_barriers, judged].map(JudgedApplication::statements);
    let before = judged.len().saturating_sub(SIZES.len() - 1);
    let row = |(sizes, ((on_figures, to_barrier), on_judged)): (&[u32], Layer)| {
        let lwb = bound.and_then(|bound| on_judged.bounds[bound].value);
        let some = |of: fn(&StatementBound) -> bool| on_judged.bounds.iter().any(of);
        let status = match (some(|bound| bound.violated), some(|bound| bound.value.is_some())) {
            (true, _) => Status::Violated,
            (false, true) => Status::Holds,
            (false, false) => Status::NotApplicable,
        };
        LayerRow {
            launch: on_judged.statement,
            inputs: sizes[0],
            neurons: sizes[1],
            warp_instructions: on_figures.warp_instructions,
            cycles: on_figures.sum.get(),
            cycles_run_to_barrier: to_barrier.sum.get(),
            cycles_judged: on_judged.sum.get(),
            lwb: lwb.map(Cycles::get),
            overestimation: lwb.and_then(|lwb| overestimation(lwb, on_judged.sum)).map(Fraction),
            status,
        }
    };
    let launches = figures.iter().zip(&to_barriers).zip(&judged).skip(before);
    SIZES.windows(2).zip(launches).map(row).collect()
}

/// The images that the network reads, with their references.
#[derive(Clone, Debug, Default)]
pub struct Images {
    /// The digits that were written.
    pub labels: Vec<usize>,
    /// The outputs of the reference: one row per class, one column per image.
    pub outputs: Vec<f64>,
}

impl Images {
    /// Returns the classes of the reference.
    fn classes(&self) -> Vec<usize> {
        classes(&self.outputs, self.labels.len())
    }
}

/// Returns the row of the largest number in each column; of equal numbers, the first.
fn classes(outputs: &[f64], images: usize) -> Vec<usize> {
    let rows: Vec<&[f64]> = outputs.chunks_exact(images.max(1)).collect();
    let larger = |image: usize, best: usize, row: usize| {
        if rows[row][image] > rows[best][image] { row } else { best }
    };
    (0..images).map(|image| (0..rows.len()).fold(0, |best, row| larger(image, best, row))).collect()
}

impl Network {
    /// Returns the network's result over the kinds of code that were run.
    pub fn new(judged_on: String, images: &Images, same_bytes: bool, codes: Vec<NetworkRun>) -> Self {
        let classes = images.classes();
        let right = classes.iter().zip(&images.labels).filter(|(class, label)| class == label).count();
        let images = images.labels.len();
        Self { program: published::NETWORK, images, judged_on, classes, right, same_bytes, codes }
    }
}

/// All results for the paper.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PastisResult {
    /// The figures.
    pub figure: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The policy, except for numbers that name run-to-barrier.
    pub policy: String,
    /// Figures 10 to 12, for each kind of code.
    pub products: Vec<ProductRow>,
    /// The fitted parameter, fitted to each product, with the errors for the other products.
    pub fits: Vec<Fit>,
    /// The network; absent if the command was stopped before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Statements of the paper about policies, and whether they hold here.
    pub statements: Vec<Statement>,
    /// Differences from the paper that matter for the comparison.
    pub notes: Vec<&'static str>,
}

/// Differences from the paper.
const NOTES: &[&str] = &[
    FITTED,
    "the paper gives no source, so both kernels are our own, after its description. Clang 16 made the PTX, and NVIDIA's \
     assembler 12.8 made machine code for sm_61 from it. In the paper nvcc compiled all code for the board's sm_62, \
     which has the same instructions. Another compiler uses other instructions around the same accesses. The paper does \
     not state where its cycles begin and end; ours begin with the first block and end with the last",
    "tables I and II of the paper, which list transactions by width and mask of lanes, agree with the machine's rule in \
     all 108 cases (tests/exec/bank_conflicts.rs)",
    "the paper's images are from MNIST, and the paper's weights were trained on the board: 98.4375 % of the images are \
     classified correctly there and by PasTiS. We use 64 images that are not in the training set, from the 8x8 digits of \
     scikit-learn scaled to 28x28, and weights rounded to a byte each (scripts/train-digits.py). It is chance that a \
     similar share is correct",
    "the paper does not print the cycles of the network; those of PasTiS were more than twice as many as the board's",
    "most bounds assume one issue per cycle on one SM and blocks that run one after the other, so the layers are judged \
     on such a machine. Its cycles cannot be compared with the others",
];

impl PastisResult {
    /// Returns the result of the runs. `policy` is the policy of the machine, and `launch` is
    /// the number of cycles that a launch costs in addition to its instructions.
    pub fn new(
        origin: Origin,
        policy: String,
        products: Vec<ProductRow>,
        launch: u64,
        network: Option<Network>,
    ) -> Self {
        let (figure, notes, fits) = ("Figures 10 to 12", NOTES.to_vec(), fits(&products, launch));
        let statements = vec![without_influence(&products, &policy)];
        Self { figure, paper: PAPER, origin, policy, products, fits, network, statements, notes }
    }

    /// Returns whether some layer exceeds a bound.
    pub fn violated(&self) -> bool {
        let runs = self.network.iter().flat_map(|network| &network.codes);
        runs.flat_map(|run| &run.layers).any(|layer| layer.status == Status::Violated)
    }
}

/// States whether products with one warp per scheduler take the same time under both policies.
fn without_influence(products: &[ProductRow], policy: &str) -> Statement {
    let same = products.iter().filter(|row| row.cycles == row.cycles_run_to_barrier).count();
    Statement {
        claim: "this is the maximum number of warps that can be executed/simulated without influence from the warp schedulers policy",
        place: "section V, of one warp for each of four schedulers",
        holds: same == products.len(),
        seen: format!(
            "{same} of {} products take as long under run-to-barrier as under {policy}",
            products.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::published::PRODUCTS;
    use super::*;
    use crate::style::Style;

    fn result(reads: u64, other_classes: usize, status: Status) -> PastisResult {
        let row = |product: &Product| {
            let counted = Counted {
                reads,
                writes: product.writes,
                cycles: product.pastis,
                cycles_run_to_barrier: product.pastis + other_classes as u64,
            };
            ProductRow::new(product, (product.launch.to_owned(), "sm_61"), counted)
        };
        let layer = |sizes: &[u32]| LayerRow {
            launch: 0,
            inputs: sizes[0],
            neurons: sizes[1],
            warp_instructions: 1_000_000,
            cycles: 1_000_000,
            cycles_run_to_barrier: 2_500_000,
            cycles_judged: 10_000_000,
            lwb: Some(11_000_000),
            overestimation: Some(Fraction(0.1)),
            status,
        };
        let run = |code| NetworkRun {
            code,
            right: 3 - other_classes,
            other_classes,
            largest_difference: 1e-14,
            layers: SIZES.windows(2).map(layer).collect(),
        };
        let images = Images { labels: vec![0, 1, 1], outputs: vec![2.0, 0.0, 1.0, 1.0, 3.0, 1.0] };
        let codes = vec![run("sm_61"), run("ptx")];
        let network = Network::new("ecrts25-orin".to_owned(), &images, other_classes == 0, codes);
        let origin = Origin { machine: MACHINE.to_owned(), machine_digest: String::new(), clock_khz: None };
        let products = PRODUCTS.iter().map(row).collect();
        PastisResult::new(origin, "gto".to_owned(), products, 100, Some(network))
    }

    #[test]
    fn the_class_is_the_first_row_of_the_largest() {
        let network = result(8, 0, Status::Holds).network.unwrap();
        // the third image has two equal outputs
        assert_eq!((network.classes, network.right, network.images), (vec![0, 1, 0], 2, 3));
        assert_eq!(classes(&[], 2), [0, 0]);
        assert!(classes(&[], 0).is_empty());
    }

    /// The paper prints 9.7, 7.9 and 6.1 percent; the second is truncated, not rounded.
    #[test]
    fn errors_are_those_of_the_paper() {
        for (row, printed) in result(8, 0, Status::Holds).products.iter().zip([9.7, 7.9, 6.1]) {
            assert_eq!((1000.0 * row.error_pastis.0).floor() / 10.0, printed);
            assert_eq!(row.error.0, row.error_pastis.0);
        }
    }

    #[test]
    fn the_text_fits_80_columns_and_says_what_differs() {
        let style = Style { colour: false, width: Some(80) };
        let good = result(8, 0, Status::Holds);
        let bad = result(9, 1, Status::Violated);
        assert!(!good.violated() && bad.violated());
        for text in [good.text(style), bad.text(style)] {
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
            assert!(!text.contains("no room"), "{text}");
        }
        let (good, bad) = (good.text(Style::default()), bad.text(Style::default()));
        assert!(good.contains("the board's in 1 of 3 runs") && good.contains("8, not 88"), "{good}");
        assert!(good.contains("leave the same bytes") && !good.contains("NOT"), "{good}");
        assert!(good.contains("3 of 3 products") && good.contains("2.50"), "{good}");
        assert!(bad.contains("DOES NOT HOLD here; 0 of 3 products"), "{bad}");
        for part in ["in 0 of 3 runs", "the class of 1 image is NOT numpy's", "DIFFERENT bytes", "VIOLATED"] {
            assert!(bad.contains(part), "{part}: {bad}");
        }
    }
}
