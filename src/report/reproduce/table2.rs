//! Table 2: what each simplification of the paper model costs, over a suite.

use super::published::TABLE_2;
use super::{Number, ReproduceResult, table};
use crate::report::ablation::Ablation;
use crate::report::style::Style;

const FIGURES: [&str; 4] = ["mean", "std-dev", "min", "max"];

pub const NOTES: &[&str] = &[
    "numbers are 100 * cycles(A) / cycles(B): below 100 the simplified variant B is the slower one. Under gto, one block \
     at a time as in the paper (`ablate --set limits.blocks=1` is the same run)",
    "the paper runs 583 calls of the kernels of Rodinia, these are the kernels of the embedded suite: the distribution over \
     kernels is another one, and with it single numbers; on which side of 100 a mean is should agree",
    "in the last variant every access counts as coalesced, so the last column shows how often accesses are not; of the \
     suite's most are, and `ablate` names those that are not",
];

pub fn numbers(ablation: &Ablation) -> Vec<Number> {
    let columns = ablation.columns.iter().zip(&TABLE_2);
    let of_column = columns.flat_map(|(column, published)| {
        let ours = [column.mean, column.std_dev, column.min, column.max];
        FIGURES.into_iter().zip(ours).zip(published).map(|((figure, ours), paper)| Number {
            column: Some(column.name),
            policy: ablation.scheduler.clone(),
            ..Number::new(figure, ours.0, Some(*paper))
        })
    });
    of_column.collect()
}

pub fn text(result: &ReproduceResult, style: Style) -> String {
    let mut heading = vec!["column".to_owned()];
    for figure in ["mean", "std dev", "min", "max"] {
        heading.extend([figure.to_owned(), "paper".to_owned()]);
    }
    let mut rows = table(&heading, 1);
    for of_column in result.numbers.chunk_by(|a, b| a.column == b.column) {
        let name = of_column[0].column.unwrap_or_default().to_owned();
        rows.row(std::iter::once(name).chain(of_column.iter().flat_map(Number::cells)));
    }
    rows.render(2, style.width)
}
