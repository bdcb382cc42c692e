//! Examples of every command, for the manual pages. A test runs each of them.

/// An example: a command line, and what it does.
pub type Example = (&'static str, &'static str);

/// Returns the examples of a command; those of the program itself for the name `warpbound`.
pub fn of(command: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "warpbound",
        &[
            ("warpbound check", "Simulate the embedded kernels and judge all bounds."),
            ("warpbound list", "List the embedded kernels, machines, plans and policies."),
        ],
    ),
    (
        "check",
        &[
            ("warpbound check saxpy", "Judge the bounds of one kernel on the default machine."),
            (
                "warpbound check saxpy transpose_naive --machine ecrts25-orin,rtx3070 --scheduler gto,lrr",
                "Judge two kernels on two machines under two policies.",
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
        &[(
            "warpbound diff saxpy \"saxpy --scheduler lrr\"",
            "Explain the difference between two policies in cycles.",
        )],
    ),
    ("phases", &[("warpbound phases saxpy", "Print the exec and idle phases of each warp.")]),
    (
        "explore",
        &[(
            "warpbound explore lrr-witness --machine lrr-witness",
            "Search all schedules of a small kernel for the worst one.",
        )],
    ),
    (
        "compare",
        &[(
            "warpbound compare saxpy --scheduler gto,lrr,srr",
            "Compare policies and bounds with the worst schedule that was found.",
        )],
    ),
    (
        "worst",
        &[("warpbound worst saxpy", "Search for a bad schedule of a kernel that is too large to explore.")],
    ),
    ("hunt", &[("warpbound hunt --bound gub --seed 1", "Search for a small block that exceeds GUB.")]),
    ("export", &[("warpbound export saxpy --out traces", "Write the kernel as a trace for Accel-Sim.")]),
    (
        "synthetic",
        &[(
            "warpbound synthetic gemm --out gemm --blocks 4 --instructions 1000",
            "Write the trace of an artificial matrix product.",
        )],
    ),
    ("family", &[("warpbound family ping-pong --out family", "Write kernels for which GUB fails.")]),
    (
        "anomaly",
        &[(
            "warpbound anomaly saxpy --scheduler lrr --sweep mem-latency=5..=100:5",
            "Search for memory latencies whose reduction makes the run longer.",
        )],
    ),
    (
        "fermi",
        &[("warpbound fermi --warps 1..=4", "Print exact finishing times and bounds for up to four warps.")],
    ),
    ("ablate", &[("warpbound ablate saxpy", "Measure what each simplification of the paper model costs.")]),
    ("evidence", &[("warpbound evidence", "Check four bounds on every block of a small grammar.")]),
    (
        "evidence-pack",
        &[("warpbound evidence-pack saxpy --out pack", "Write the evidence for the bound of a kernel.")],
    ),
    ("sweep", &[("warpbound sweep table4 --out results", "Run all points of an embedded plan.")]),
    (
        "merge",
        &[("warpbound merge results --out merged", "Combine the folders of several shards of a sweep.")],
    ),
    ("report", &[("warpbound report results --out results.html", "Make a page of the results of a sweep.")]),
    (
        "reproduce",
        &[
            ("warpbound reproduce", "List the tables and figures that can be reproduced."),
            ("warpbound reproduce pastis", "Print figures of a paper beside the simulated ones."),
        ],
    ),
    ("cfg", &[("warpbound cfg saxpy --svg saxpy.svg", "Draw the control flow of a kernel.")]),
    (
        "static",
        &[
            ("warpbound static saxpy", "Bound all paths of a kernel, for any input."),
            (
                "warpbound static bfs_program --loop-bound bfs.ptx:74=40",
                "Bound all launches of a program, with a bound for a loop that depends on data.",
            ),
        ],
    ),
    ("wcet", &[("warpbound wcet saxpy", "Compare the bounds and estimates of a kernel's worst case.")]),
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
    ("hybrid", &[("warpbound hybrid saxpy", "Estimate the worst case from times measured between points.")]),
    ("inspect", &[("warpbound inspect saxpy", "Show what was read of a kernel.")]),
    (
        "import-config",
        &[(
            "warpbound import-config gpgpusim.config --name my-gpu",
            "Convert a configuration of GPGPU-Sim to a machine file.",
        )],
    ),
    ("list", &[("warpbound list", "List the embedded kernels, machines, plans and policies.")]),
    ("completions", &[("warpbound completions bash", "Print the completions of a shell.")]),
    ("man", &[("warpbound man pages", "Write all manual pages into a folder.")]),
];
