//! The exact worst and best makespan over all work-conserving schedules.

pub mod grammar;
mod layer;
pub mod model;
pub mod search;

#[cfg(test)]
mod tests {
    use super::model::Model;
    use super::search::{Limits, search};
    use crate::diag::SourceText;
    use crate::machine::{Machine, MachineSpec};
    use crate::micro::MicroKernel;
    use crate::program::TimingTable;

    fn extremes(kernel: &str, machine: &str) -> (u64, u64, u64) {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
        let read = |path: String| {
            SourceText::new(path.clone(), std::fs::read_to_string(format!("{root}{path}")).unwrap())
        };
        let load = |name: &str| Ok(read(format!("configs/{name}.ron")));
        let source = read(format!("configs/{machine}.ron"));
        let spec = MachineSpec::parse_with_bases(&source, &load).unwrap();
        let machine = Machine::new(&spec, &source).unwrap();
        let kernel = MicroKernel::parse("k", &read(format!("kernels/witness/{kernel}.warp"))).unwrap();
        let table = TimingTable::new(&kernel.program, &machine).unwrap();
        let model = Model::new(&table, &kernel.paths()).unwrap();
        let found = search(&model, Limits { max_states: 10_000_000, threads: 2 }, &|_, _| {}).unwrap();
        let alone = search(&model, Limits { max_states: 10_000_000, threads: 1 }, &|_, _| {}).unwrap();
        assert_eq!(found, alone, "the result depends on the number of threads");
        (found.worst, found.best, found.states)
    }

    #[test]
    fn known_witnesses_have_their_known_extremes() {
        // MODEL.md section 3; issue 3 "Shows"
        let (worst, best, states) = extremes("fig3", "paper-fig2");
        assert_eq!((worst, best), (18, 17));
        println!("{states}");
        let (worst, best, states) = extremes("witness-929", "pull-apart-9");
        assert_eq!((worst, best), (48, 35));
        println!("{states}");
        let (worst, best, states) = extremes("witness-identical", "identical-warps");
        assert_eq!((worst, best), (106, 91));
        println!("{states}");
        assert_eq!(extremes("witness-626", "pull-apart-6").0, 30);
        assert_eq!(extremes("witness-21", "twenty-one").0, 195);
    }
}
