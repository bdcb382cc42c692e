//! Trace files, parsed strictly and compared with each other and with the result of the run.

mod kanata;
mod perfetto;
mod table;

use std::path::Path;

use serde_json::Value;

use super::support::{json_in, scratch};
use perfetto::Perfetto;
use table::Row;

/// A run with a trace of each kind, of SM 0.
struct Traced {
    /// The JSON output of the run.
    result: Value,
    rows: Vec<Row>,
    perfetto: Perfetto,
    kanata: Vec<kanata::Instruction>,
    /// The bytes of the files.
    files: Vec<Vec<u8>>,
}

const FILES: [&str; 3] = ["t.csv", "t.json", "t.kanata"];

fn traced(dir: &Path, args: &[&str]) -> Traced {
    let traces = FILES.iter().flat_map(|file| ["--trace", file]);
    let all: Vec<&str> = ["run"].iter().chain(args).copied().chain(traces).chain(["--force"]).collect();
    let result = json_in(dir, &all, 0);
    let files: Vec<Vec<u8>> = FILES.iter().map(|file| std::fs::read(dir.join(file)).unwrap()).collect();
    let text = |file: usize| std::str::from_utf8(&files[file]).expect("UTF-8");
    Traced {
        result,
        rows: table::read(text(0)),
        perfetto: Perfetto::read(text(1)),
        kanata: kanata::read(text(2)),
        files,
    }
}

impl Traced {
    /// Checks the properties of the traces of every run.
    fn check(&self) {
        self.perfetto.is_well_formed();
        self.formats_agree();
        self.stalls_are_those_of_the_result();
        self.unit_counters_are_those_of_the_slices();
        self.warps_do_something_in_every_cycle();
    }

    /// Returns the sub-cores of SM 0: stalls by reason, with "issues".
    fn sub_cores(&self) -> Vec<(Value, u64)> {
        let of_machine = match self.result["sub_cores"].as_array() {
            None => vec![(self.result["stalls"].clone(), self.rows.len() as u64)],
            Some(all) => all.iter().map(|c| (c["stalls"].clone(), c["issues"].as_u64().unwrap())).collect(),
        };
        let tracks = self.perfetto.tracks_named("SM", "no issue").len();
        of_machine[..tracks].to_vec()
    }

    fn formats_agree(&self) {
        let mut drawn: Vec<[u64; 7]> = self.perfetto.instructions();
        let mut listed: Vec<[u64; 7]> = self.rows.iter().map(Row::key).collect();
        drawn.sort_unstable();
        listed.sort_unstable();
        assert_eq!(drawn, listed);
        assert_eq!(self.kanata.len(), self.rows.len());
        for (instruction, row) in self.kanata.iter().zip(&self.rows) {
            instruction.is(row);
        }
    }

    fn stalls_are_those_of_the_result(&self) {
        let tracks = self.perfetto.tracks_named("SM", "no issue");
        assert!(!tracks.is_empty());
        let makespan = self.result["makespan"].as_u64().unwrap();
        let mut issues_of_all = 0;
        for (track, (stalls, issues)) in tracks.iter().zip(self.sub_cores()) {
            let mut sums: std::collections::BTreeMap<&str, u64> =
                stalls.as_object().unwrap().keys().map(|reason| (reason.as_str(), 0)).collect();
            for slice in self.perfetto.slices(*track) {
                *sums.get_mut(slice.name.as_str()).expect("a reason") += slice.to - slice.from;
            }
            assert_eq!(serde_json::to_value(&sums).unwrap(), stalls);
            // an issue slot is used or idle; dual issue uses one twice
            assert!(sums.values().sum::<u64>() + issues >= makespan);
            issues_of_all += issues;
        }
        assert_eq!(issues_of_all, self.rows.len() as u64);
    }

    fn unit_counters_are_those_of_the_slices(&self) {
        let mut waited_at_all = 0;
        for unit in self.perfetto.units() {
            let slices: u64 =
                unit.tracks.iter().flat_map(|t| self.perfetto.slices(*t)).map(|s| s.to - s.from).sum();
            let counter = self.perfetto.counter("SM", &format!("unit {}", unit.name));
            assert_eq!(perfetto::integral(&counter, "busy"), slices, "unit {}", unit.name);
            let on_unit = |row: &&Row| row.unit.split('[').next() == Some(&unit.name);
            let waited: u64 = self.rows.iter().filter(on_unit).map(|row| row.start - row.issue).sum();
            assert_eq!(perfetto::integral(&counter, "waiting"), waited, "unit {}", unit.name);
            let most = counter.iter().map(|(_, values)| values["busy"].as_u64().unwrap()).max();
            assert!(most.unwrap_or(0) <= unit.tracks.len() as u64);
            waited_at_all += waited;
        }
        let all: u64 = self.rows.iter().map(|row| row.start - row.issue).sum();
        assert_eq!(waited_at_all, all, "every unit has a counter");
    }

    /// Checks that a warp is active from the start of its block to its last result.
    fn warps_do_something_in_every_cycle(&self) {
        for ((block, warp), track) in self.perfetto.warps() {
            let did = self.perfetto.slices(track);
            assert!(did.windows(2).all(|two| two[0].to == two[1].from), "b{block} w{warp}");
            let own = || self.rows.iter().filter(|row| (row.block, row.warp) == (block, warp));
            let mut counted = 0;
            for slice in did {
                let within = own().filter(|row| slice.from <= row.issue && row.issue < slice.to).count();
                let issues = slice.args.get("instructions").map_or(0, |n| n.as_u64().unwrap());
                assert_eq!((within as u64, slice.name == "issues"), (issues, issues > 0), "{slice:?}");
                counted += issues;
            }
            assert_eq!(counted, own().count() as u64, "b{block} w{warp}");
            let done = own().map(|row| row.done).max();
            assert!(done <= did.last().map(|slice| slice.to), "b{block} w{warp}");
        }
    }

    /// Checks that the last values of a counter are those of the result.
    fn counter_ends_as(&self, process: &str, counter: &str, result: &Value) {
        let values = self.perfetto.counter(process, counter);
        let (_, last) = values.last().unwrap_or_else(|| panic!("no counter {counter}"));
        for (name, total) in result.as_object().unwrap() {
            assert_eq!(&last[&name.replace('_', " ")], total, "{counter}: {name}");
            let steps = values.iter().map(|(_, values)| values[&name.replace('_', " ")].as_u64().unwrap());
            assert!(steps.is_sorted(), "{counter}: {name} counts");
        }
    }
}

#[test]
fn traces_of_a_micro_kernel() {
    let traced = traced(&scratch("traces-micro"), &["fig3"]);
    traced.check();
    let source_lines: Vec<(u64, &str, &str)> =
        traced.rows.iter().map(|row| (row.line, row.text.as_str(), row.unit.as_str())).collect();
    assert_eq!(source_lines.len(), 8);
    let source = std::fs::read_to_string(kernel("witness/fig3.warp")).unwrap();
    for (line, text, _) in source_lines {
        assert_eq!(first_words(source.lines().nth(line as usize - 1).unwrap()), text);
    }
}

#[test]
fn traces_of_a_micro_kernel_with_barriers_and_sub_cores() {
    let dir = scratch("traces-barriers");
    let text = ".machine paper-fig2\n.policy gto\n.warps 2\n f0 r0\n bar\n f1 r1, r0 # last\n ret\n\
                .warps 1\n f1 r1\n f1 r2\n f2 r3, r1\n bar\n ret\n";
    std::fs::write(dir.join("meet.warp"), text).unwrap();
    let traced = traced(&dir, &["meet.warp", "--set", "sub_cores=2"]);
    traced.check();
    assert!(traced.rows.iter().any(|row| row.text == "f1 r1, r0"), "quoted, without the comment");
    let mut waits = traced.perfetto.warps().into_values().flat_map(|track| traced.perfetto.slices(track));
    assert!(waits.any(|slice| slice.name == "at barrier"));
}

#[test]
fn traces_of_a_ptx_kernel() {
    let traced = traced(&scratch("traces-ptx"), &["reduce_shfl", "--machine", "ecrts25-orin-4sub"]);
    traced.check();
    assert!(traced.result["sub_cores"].as_array().unwrap().len() == 4);
    let source = std::fs::read_to_string(kernel("reduction/reduction.ptx")).unwrap();
    for row in &traced.rows {
        // in a table, text that begins like a formula is preceded by a quote
        let text = row.text.strip_prefix('\'').unwrap_or(&row.text);
        assert_eq!(first_words(source.lines().nth(row.line as usize - 1).unwrap()), text);
    }
    assert!(traced.rows.iter().any(|row| row.text.contains(", ")), "operands need quotes");
    assert!(traced.perfetto.counters_of("memory").is_empty(), "this machine has no caches");
}

#[test]
fn traces_of_the_detailed_engine_with_memory() {
    let on = ["--machine", "accelsim-sm1", "--set", "memory.start=Cold"];
    let traced = traced(&scratch("traces-memory"), &[&["reduce_shfl"], &on[..]].concat());
    traced.check();
    let memory = &traced.result["memory"];
    assert!(memory["l1"]["misses"].as_u64().unwrap() > 0 && memory["dram_reads"].as_u64().unwrap() > 0);
    traced.counter_ends_as("SM", "L1", &memory["l1"]);
    traced.counter_ends_as("memory", "L2", &memory["l2"]);
    traced.counter_ends_as("memory", "DRAM", &dram(memory));
    for (process, counter, level) in [("SM", "L1", "mshrs"), ("memory", "DRAM", "busy banks")] {
        let values = traced.perfetto.counter(process, counter);
        let levels: Vec<u64> = values.iter().map(|(_, values)| values[level].as_u64().unwrap()).collect();
        assert!(levels.iter().any(|&level| level > 0) && levels.last() == Some(&0), "{counter} {level}");
    }
}

#[test]
fn traces_of_instruction_fetches() {
    let traced = traced(&scratch("traces-fetch"), &["icache_loop", "--machine", "ablation-baseline"]);
    traced.check();
    let fetch = traced.perfetto.counter("SM", "fetch");
    let all = |name: &str| fetch.iter().map(|(_, values)| values[name].as_u64().unwrap()).collect::<Vec<_>>();
    let [fetches, misses] = ["fetches", "misses"].map(|name| *all(name).last().unwrap());
    assert!(0 < misses && misses < fetches && fetches <= traced.rows.len() as u64);
    assert!(all("fetches").is_sorted() && all("misses").is_sorted());
    for level in ["filled buffers", "warps at a miss"] {
        assert!(all(level).iter().any(|&level| level > 0) && all(level).last() == Some(&0), "{level}");
    }
}

#[test]
fn traces_of_several_sms_on_any_number_of_threads() {
    let dir = scratch("traces-sms");
    let on = |threads: &str| {
        let args = [
            "histogram",
            "--machine",
            "accelsim-sm1",
            "--set",
            "sms=3",
            "--set",
            "memory.start=Cold",
            "--sm-threads",
            threads,
        ];
        traced(&dir, &args)
    };
    let one = on("1");
    one.check();
    // the L1 is that of SM 0 alone, the lower levels are shared by all
    let memory = &one.result["memory"];
    one.counter_ends_as("memory", "L2", &memory["l2"]);
    one.counter_ends_as("memory", "DRAM", &dram(memory));
    let l1 = one.perfetto.counter("SM", "L1").last().unwrap().1["accesses"].as_u64().unwrap();
    assert!(0 < l1 && l1 < memory["l1"]["accesses"].as_u64().unwrap());
    for threads in ["2", "3"] {
        assert!(on(threads).files == one.files, "{threads} threads");
    }
}

/// Returns the result's counts of DRAM, by the names of the counter.
fn dram(memory: &Value) -> Value {
    let names = ["reads", "writes", "activations"];
    names.iter().map(|name| ((*name).to_owned(), memory[format!("dram_{name}")].clone())).collect()
}

fn kernel(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(path)
}

/// Returns a line without comments, with single spaces.
fn first_words(line: &str) -> String {
    let code = line.split(['#', ';']).next().unwrap().split("//").next().unwrap();
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}
