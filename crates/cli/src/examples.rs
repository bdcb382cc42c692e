//! Examples of every command and the exit codes, for the help and the manual pages. A test runs each
//! example.

use std::fmt::Write;

use clap::Command;

/// An example: a command line, and what it does.
pub type Example = (&'static str, &'static str);

/// The exit codes of all commands, and their meaning.
pub const EXIT_CODES: [(&str, &str); 4] = [
    ("0", "No error occurred, and no gating bound is violated."),
    ("1", "The input is wrong, or the result is incomplete."),
    ("2", "The command line is wrong."),
    ("3", "A gating bound is violated: one that is published or proved, or that --bound names."),
];

/// Returns the examples of a command; those of the program itself for the name `warpbound`.
pub fn of(command: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

/// Adds the examples and the exit codes to the end of the help of a program and of its commands.
pub fn with_sections(program: Command) -> Command {
    let sections = sections(program.get_name());
    let program = program.mut_subcommands(|command| {
        let sections = self::sections(command.get_name());
        command.after_long_help(sections)
    });
    program.after_long_help(sections)
}

fn sections(command: &str) -> String {
    let mut text = "Examples:\n".to_owned();
    for (line, meaning) in of(command) {
        let _ = writeln!(text, "  {line}\n      {meaning}");
    }
    text.push_str("\nExit status:\n");
    for (code, meaning) in EXIT_CODES {
        let _ = writeln!(text, "  {code}  {meaning}");
    }
    text
}

const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "warpbound",
        &[
            ("warpbound check", "Simulate the embedded kernels and judge all bounds."),
            ("warpbound list", "List the embedded kernels, machines, plans and policies."),
            ("warpbound explain scoreboard", "Print what a word in an output means."),
        ],
    ),
    (
        "check",
        &[
            ("warpbound check saxpy", "Judge the bounds of one kernel on the default machine."),
            (
                "warpbound check saxpy transpose_naive --machine ecrts25-orin,rtx3070 --policy gto,lrr",
                "Judge two kernels on two machines under two policies.",
            ),
            (
                "warpbound check saxpy --mem-latency 400 --format json",
                "Judge the bounds with another memory latency, and print JSON.",
            ),
        ],
    ),
    (
        "run",
        &[
            ("warpbound run saxpy", "Simulate a kernel and show where its cycles were lost."),
            ("warpbound run saxpy --trace saxpy.json", "Write the events for ui.perfetto.dev as well."),
            (
                "warpbound run jacobi --launch 3 --explain",
                "Print the critical path of one launch of a program.",
            ),
        ],
    ),
    (
        "diff",
        &[
            (
                "warpbound diff saxpy \"saxpy --policy lrr\"",
                "Explain the difference between two policies in cycles.",
            ),
            (
                "warpbound diff saxpy \"saxpy --mem-latency 400\"",
                "Explain the difference between two memory latencies.",
            ),
        ],
    ),
    (
        "why",
        &[
            ("warpbound why saxpy \"saxpy --policy lrr\"", "State the largest causes between two policies."),
            ("warpbound why transpose_naive transpose_padded", "State them between two kernels."),
        ],
    ),
    (
        "phases",
        &[
            ("warpbound phases saxpy", "Print the exec and idle phases of each warp."),
            ("warpbound phases fig3 --format json", "Print the phases of a worked example as JSON."),
        ],
    ),
    (
        "explore",
        &[
            (
                "warpbound explore lrr-witness --machine lrr-witness",
                "Search all schedules of a small kernel for the worst one.",
            ),
            (
                "warpbound explore witness-929 --worst-schedule worst.replay",
                "Write the worst schedule to a file that --policy replay:FILE repeats.",
            ),
        ],
    ),
    (
        "compare",
        &[
            (
                "warpbound compare saxpy --policy gto,lrr,srr",
                "Compare policies and bounds with the worst schedule that was found.",
            ),
            (
                "warpbound compare saxpy --machine ecrts25-orin,accelsim-ecrts",
                "Compare the bounds of a kernel on two machines.",
            ),
            (
                "warpbound compare saxpy --over mem_latency=100..=500/100",
                "State which policy is the fastest at which latency, and why.",
            ),
        ],
    ),
    (
        "worst",
        &[
            ("warpbound worst saxpy", "Search for a bad schedule of a kernel that is too large to explore."),
            ("warpbound worst fig3 --out worst-schedules", "Write the worst schedule into a folder."),
        ],
    ),
    (
        "hunt",
        &[
            ("warpbound hunt --bound gub --seed 1", "Search for a small block that exceeds GUB."),
            (
                "warpbound hunt --bound iwb --instances 1000",
                "Search among few blocks for one that exceeds a proved bound.",
            ),
        ],
    ),
    (
        "compile",
        &[
            ("warpbound compile halve.cu", "Compile a kernel to halve.ptx, with source lines."),
            (
                "warpbound compile halve.cu --arch sm_86 -D N=4 -o halve_n.ptx",
                "Compile it for another architecture, with a macro.",
            ),
            (
                "warpbound compile halve.cu -o - | warpbound inspect - --template",
                "Print a launch file for it.",
            ),
        ],
    ),
    (
        "headers",
        &[
            ("warpbound headers cuda-headers", "Write the headers for compilers that are run by hand."),
            ("warpbound headers cuda-headers --force", "Replace them by those of another version."),
        ],
    ),
    (
        "export",
        &[
            ("warpbound export saxpy --out traces", "Write the kernel as a trace for Accel-Sim."),
            ("warpbound export jacobi --out jacobi-traces", "Write one trace for each launch of a program."),
        ],
    ),
    (
        "bundle",
        &[
            (
                "warpbound bundle saxpy sssp_program --out bundles",
                "Write a kernel and a program with their data.",
            ),
            ("warpbound bundle --out all-bundles", "Write all embedded launches and programs."),
        ],
    ),
    (
        "synthetic",
        &[
            (
                "warpbound synthetic gemm --out gemm --blocks 4 --instructions 1000",
                "Write the trace of an artificial matrix product.",
            ),
            (
                "warpbound synthetic chase --out chase --blocks 1 --instructions 1000",
                "Write the trace of a chain of dependent loads.",
            ),
        ],
    ),
    (
        "family",
        &[
            ("warpbound family ping-pong --out family", "Write kernels for which GUB fails."),
            (
                "warpbound family ping-pong --p 32 --m 6 --n 32 --out large-family",
                "Write a kernel that exceeds GUB by a larger factor.",
            ),
        ],
    ),
    (
        "anomaly",
        &[
            (
                "warpbound anomaly saxpy --policy lrr --sweep mem-latency=5..=100:5",
                "Search for memory latencies whose reduction makes the run longer.",
            ),
            (
                "warpbound anomaly --phases",
                "Search for shorter phases that make a schedule longer, and draw it.",
            ),
        ],
    ),
    (
        "fermi",
        &[
            ("warpbound fermi --warps 1..=4", "Print exact finishing times and bounds for up to four warps."),
            ("warpbound fermi --warps 1..=2 --rep 1", "Print them for one repetition of the sub-block."),
        ],
    ),
    (
        "ablate",
        &[
            ("warpbound ablate saxpy", "Measure what each simplification of the paper model costs."),
            ("warpbound ablate saxpy --format csv", "Print the same as a table for other programs."),
        ],
    ),
    (
        "evidence",
        &[
            ("warpbound evidence", "Check four bounds on every block of a small grammar."),
            (
                "warpbound evidence --instructions 2",
                "Check only blocks with at most two instructions per warp.",
            ),
        ],
    ),
    (
        "evidence-pack",
        &[
            ("warpbound evidence-pack saxpy --out pack", "Write the evidence for the bound of a kernel."),
            (
                "warpbound evidence-pack saxpy --machine accelsim-ecrts --out plb-pack",
                "Write the evidence for the bound on a machine with a pipeline.",
            ),
        ],
    ),
    (
        "sweep",
        &[
            ("warpbound sweep table4 --out results", "Run all points of an embedded plan."),
            (
                "warpbound sweep table4 --shard 1/2 --out shard1",
                "Run half of the points, in a folder of its own.",
            ),
            (
                "warpbound sweep table4 --shard 2/2 --out shard2",
                "Run the other half, possibly on another computer.",
            ),
        ],
    ),
    (
        "merge",
        &[
            (
                "warpbound merge shard1 shard2 --out merged",
                "Combine the folders of several shards of a sweep.",
            ),
            ("warpbound merge results --out copy", "Check a folder of results, and write it anew."),
        ],
    ),
    (
        "report",
        &[
            ("warpbound report results --html results.html", "Make a page of the results of a sweep."),
            ("warpbound report merged --html merged.html", "Make a page of merged results."),
        ],
    ),
    (
        "reproduce",
        &[
            ("warpbound reproduce", "List the tables and figures that can be reproduced."),
            ("warpbound reproduce pastis", "Print figures of a paper beside the simulated ones."),
        ],
    ),
    (
        "cfg",
        &[
            ("warpbound cfg saxpy --out saxpy.svg", "Draw the control flow of a kernel."),
            (
                "warpbound cfg saxpy --edges published",
                "Show it with the edges of Betts and Donaldson, ECRTS 2013.",
            ),
        ],
    ),
    (
        "static",
        &[
            ("warpbound static saxpy", "Bound all paths of a kernel, for any input."),
            ("warpbound static saxpy --machine accelsim-ecrts", "Bound them on a machine with a pipeline."),
            (
                "warpbound static bfs_program --loop-bound bfs.ptx:74=40",
                "Bound all launches of a program, with a bound for a loop that depends on data.",
            ),
        ],
    ),
    (
        "wcet",
        &[
            ("warpbound wcet saxpy", "Compare the bounds and estimates of a kernel's worst case."),
            (
                "warpbound wcet saxpy --runs 20 --format json",
                "Print the same as JSON, with fewer random inputs.",
            ),
        ],
    ),
    (
        "pwcet",
        &[
            (
                "warpbound pwcet times.csv --column cycles",
                "Estimate rare execution times from measured ones.",
            ),
            (
                "warpbound pwcet histogram --machine kepler-gk104 --runs 500",
                "Estimate rare execution times from simulated runs with random inputs.",
            ),
        ],
    ),
    (
        "hybrid",
        &[
            ("warpbound hybrid saxpy", "Estimate the worst case from times measured between points."),
            ("warpbound hybrid saxpy --runs 20", "Measure more runs."),
        ],
    ),
    (
        "validate",
        &[
            (
                "warpbound validate cycles.csv --machine turing-tu102",
                "Compare a machine with cycles that were measured on a GPU.",
            ),
            (
                "warpbound validate cycles.csv --machine rtx3070 --metric sm__cycles_active.max@warm --out errors.svg",
                "Compare another metric, and plot simulated against measured cycles.",
            ),
            (
                "warpbound validate latencies.csv --machine h100-sxm",
                "Compare with a table of your own, with the columns kernel, options and cycles.",
            ),
        ],
    ),
    (
        "inspect",
        &[
            ("warpbound inspect saxpy", "Show what was read of a kernel."),
            (
                "warpbound inspect rtx3070",
                "Show all settings of a machine, and the sources of its latencies.",
            ),
        ],
    ),
    (
        "import-config",
        &[
            (
                "warpbound import-config gpgpusim.config --name my-gpu",
                "Convert a configuration of GPGPU-Sim to a machine file.",
            ),
            (
                "warpbound import-config gpgpusim.config --name my-gpu > my-gpu.ron",
                "Write it to a file, for --machine my-gpu.ron.",
            ),
            (
                "warpbound import-config gpgpusim.config trace.config gto.config --name my-gpu",
                "Merge files, of which later ones override earlier ones.",
            ),
        ],
    ),
    (
        "list",
        &[
            ("warpbound list", "List the embedded kernels, machines, plans and policies."),
            ("warpbound list machines", "List the machines, and what each was compared with."),
            ("warpbound list kernels matrix shared", "List the kernels whose description has both words."),
        ],
    ),
    (
        "explain",
        &[
            ("warpbound explain", "List all terms."),
            ("warpbound explain lwb", "Print what a bound is."),
            ("warpbound explain units.gmem.lat", "Print the type, the unit and the default of a setting."),
        ],
    ),
    (
        "schema",
        &[
            ("warpbound schema list", "List the schemas."),
            ("warpbound schema print run", "Print the schema of the output of a command."),
            (
                "warpbound run saxpy --format json | warpbound schema check -",
                "Check an output against the schema of its command.",
            ),
        ],
    ),
    (
        "completions",
        &[
            (
                "warpbound completions bash > warpbound.bash",
                "Write the completions of bash; `source warpbound.bash` activates them.",
            ),
            ("warpbound completions fish", "Print the completions of fish."),
        ],
    ),
    (
        "man",
        &[
            ("warpbound man pages", "Write all manual pages into a folder."),
            ("warpbound man", "Print the manual page of the program."),
        ],
    ),
];
