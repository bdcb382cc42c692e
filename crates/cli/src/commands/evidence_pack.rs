//! `warpbound evidence-pack`: writes the evidence for the guaranteed bounds of kernels into a
//! folder.

mod of_all_paths;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::again::shell_line;
use super::prepared::Prepared;
use crate::args::{EvidencePack as Options, Races};
use crate::files::Folder;
use crate::lists::{Lists, Setup};
use crate::load;
use crate::loop_bounds::ByLine;
use crate::output::{Ending, Outcome};
use crate::resources::MAX_INSTRUCTIONS;
use crate::session::Session;
use crate::sha256;
use warpbound_bound::{self as bound, Bound};
use warpbound_core::diag::{Diagnostic, Diagnostics, printable_json};
use warpbound_core::machine::{Features, Machine, PolicyKind};
use warpbound_core::program::loop_bounds::LoopBound;
use warpbound_judge::check::{
    Application, JudgedApplication, JudgedLaunch, Run, WorkloadKind, counterexample,
};
use warpbound_judge::load::{Loaded, LoadedKernel};
use warpbound_report::answer::Answer;
use warpbound_report::evidence_pack::{
    Claim, EvidencePack, FileDigest, Inputs, LaunchFacts, Replay, Tool, page, readme,
};
use warpbound_report::output::{Output, TOOL_VERSION};

const OPTION: &str = "--out";
const DATA: &str = "evidence.json";
const SCHEDULE: &str = "schedule.replay";
const MACHINE: &str = "machine.ron";

/// A file: its name and its contents.
type Contents = (String, Vec<u8>);

/// The files of a claim.
#[derive(Default)]
struct ClaimFiles {
    /// Those in its folder.
    contents: Vec<Contents>,
    /// The digests of these, and of the files that stay where they are.
    digests: Vec<FileDigest>,
    /// The commands that repeat the claim.
    replays: Vec<Replay>,
}

/// Runs the command. A run that exceeds a proved bound decides the exit code; a kernel without a
/// proved bound does not, because the pack states it.
pub fn run(args: &Options, session: &Session) -> Outcome {
    let lists = Lists::new(&args.common)?;
    reject_replays(&lists)?;
    let loop_bounds = of_all_paths::loop_bounds(args, &lists)?;
    let folder = empty_folder(&args.out, session)?;
    let bounds = bound::all();
    let mut making = Making {
        args,
        session,
        bounds: &bounds,
        loop_bounds,
        taken: HashSet::new(),
        claims: Vec::new(),
        folders: Vec::new(),
    };
    for name in &args.kernels {
        making.kernel(name, &lists)?;
    }
    making.loop_bounds.iter().for_each(ByLine::warn_of_unused);
    let Making { claims, folders, .. } = making;
    let pack = EvidencePack::new(tool(), claims);
    let mut ending = Ending { violated: pack.is_violated(), ..Ending::default() };
    let output = Output::new("evidence-pack", Some(args.common.seed), vec![pack]);
    session.conclude();
    write(&folder, folders, &output)?;
    ending.report(session, args.common.format, &output);
    if args.common.format.is_for_people() {
        let page = folder.path("index.html");
        ending.print(session, &format!("\nwrote the evidence; to read it, open {}\n", page.display()));
    }
    Ok(ending)
}

/// Rejects replays as policies: a claim is about all schedules of policies, and a replay is one
/// schedule from a file that the pack would have to contain.
fn reject_replays(lists: &Lists) -> Result<(), Diagnostic> {
    let is_replay = |name: &&String| name.starts_with("replay:");
    match lists.policies().into_iter().flatten().find(is_replay) {
        Some(name) => {
            let message = "a replay is one schedule, and a claim is about the schedules of policies";
            Err(Diagnostic::general(format!("--policy {name}"), message)
                .hint("name policies; the pack records the schedule of the longest run"))
        }
        None => Ok(()),
    }
}

/// Returns the folder of the pack, which must be empty, so that the pack contains nothing that the
/// program did not write.
fn empty_folder(dir: &Path, session: &Session) -> Result<Folder, Diagnostic> {
    let has_entry = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    if has_entry {
        let place = format!("{OPTION} {}", dir.display());
        return Err(Diagnostic::general(place, "the folder is not empty")
            .hint("a pack contains nothing else; choose another folder"));
    }
    Folder::prepare(OPTION, dir, false, &session.parts)
}

/// Returns what is known about this program.
fn tool() -> Tool {
    let executable = std::env::current_exe().ok().and_then(|path| sha256::of_file(&path).ok());
    Tool {
        name: "warpbound",
        version: TOOL_VERSION,
        commit: option_env!("WARPBOUND_COMMIT"),
        executable_sha256: executable.map(|(digest, _)| digest),
    }
}

/// Writes all files. The data comes last, so that a folder with it is complete.
fn write(
    folder: &Folder,
    folders: Vec<(String, Vec<Contents>)>,
    output: &Output<EvidencePack>,
) -> Result<(), Diagnostics> {
    let json = serde_json::to_string_pretty(output).expect("reports are plain data") + "\n";
    let json = printable_json(&json).into_owned();
    let mut top: Vec<Contents> = Vec::new();
    for pack in &output.results {
        top.push(("README.md".to_owned(), readme(pack).into_bytes()));
        top.push(("index.html".to_owned(), page(pack).render().into_bytes()));
    }
    let line = |name: &str, bytes: &[u8]| format!("{}  {name}\n", sha256::of_bytes(bytes));
    let mut sums: Vec<String> = top.iter().map(|(name, bytes)| line(name, bytes)).collect();
    sums.push(line(DATA, json.as_bytes()));
    for (dir, files) in &folders {
        sums.extend(files.iter().map(|(name, bytes)| line(&format!("{dir}/{name}"), bytes)));
    }
    top.push(("SHA256SUMS".to_owned(), sums.concat().into_bytes()));
    top.push((DATA.to_owned(), json.into_bytes()));
    let written = folders
        .iter()
        .try_for_each(|(dir, files)| folder.write(dir, files).map(drop))
        .and_then(|()| folder.write("", &top).map(drop));
    if written.is_err() {
        remove(folder, &folders, &top);
    }
    Ok(written?)
}

/// Removes the files of a pack that could not be written completely, since it would look complete.
/// The folder was empty before.
fn remove(folder: &Folder, folders: &[(String, Vec<Contents>)], top: &[Contents]) {
    // errors are ignored: the error of writing is reported
    for (dir, _) in folders {
        let _ = fs::remove_dir_all(folder.path(dir));
    }
    for (name, _) in top {
        let _ = fs::remove_file(folder.path(name));
    }
}

/// The claims so far, and what their making needs.
struct Making<'a> {
    args: &'a Options,
    session: &'a Session,
    bounds: &'a [Box<dyn Bound>],
    /// The loop bounds if the claims are about all paths.
    loop_bounds: Option<ByLine>,
    /// The identifiers of the claims.
    taken: HashSet<String>,
    claims: Vec<Claim>,
    /// The folder of each claim, with its files.
    folders: Vec<(String, Vec<Contents>)>,
}

impl Making<'_> {
    /// Adds the claims about a kernel or application on every machine.
    fn kernel(&mut self, name: &str, lists: &Lists) -> Result<(), Diagnostics> {
        let Self { args, session, .. } = *self;
        let common = &args.common;
        let what = load::any(name, &args.ptx, common.seed, &session.monitor)?;
        let policies =
            [PolicyKind::Gto, PolicyKind::Lrr, PolicyKind::Oldest, PolicyKind::Random(common.seed)];
        let prepared = Prepared::new(what, common, lists, &policies)?;
        session.progress.begin(name, prepared.blocks(), "blocks");
        let options = common.run_options(&session.monitor).judged_by(self.bounds, &[]).self_check(true);
        let all = prepared.run(&options);
        let Prepared { what, setups } = prepared;
        for (setups, runs) in setups.iter().zip(all) {
            let mut judged = Vec::new();
            for Run { judged: one, problems } in runs {
                if let Some(problems) = problems {
                    return Err(what.with_excerpts(problems));
                }
                judged.extend(one);
            }
            if session.monitor.is_stopped() || judged.len() != setups.len() {
                return Err(self.stopped(name));
            }
            match self.loop_bounds {
                None => self.machine(name, &what, setups, &judged)?,
                Some(_) => self.all_paths(name, &what, setups, &judged)?,
            }
        }
        Ok(())
    }

    /// Returns the error of a command that was stopped.
    fn stopped(&self, name: &str) -> Diagnostics {
        let why = self.session.stopped().map_or("stopped", |stopped| stopped.text());
        Diagnostic::general(name, format!("{why} before all runs had ended; no pack is written")).into()
    }

    /// Adds the claims on one machine.
    fn machine(
        &mut self,
        name: &str,
        what: &Loaded,
        setups: &[Setup],
        judged: &[JudgedApplication],
    ) -> Result<(), Diagnostics> {
        let Some(Setup { machine, .. }) = setups.first() else { return Ok(()) };
        let totals: Vec<&JudgedLaunch> = judged.iter().map(|run| &run.total).collect();
        for answer in Answer::of_runs(what.name(), machine, &totals) {
            let runs: Vec<(&Setup, &JudgedLaunch)> = setups
                .iter()
                .zip(&totals)
                .filter(|(_, run)| answer.policies.contains(&run.policy))
                .map(|(setup, run)| (setup, *run))
                .collect();
            let wanted = match answer.guaranteed.as_ref().and_then(|bound| bound.policy.as_deref()) {
                Some(policy) => format!("{}-{}-{policy}", what.name(), machine.name()),
                None => format!("{}-{}", what.name(), machine.name()),
            };
            self.claim(name, what, &wanted, (machine, answer), &runs, &[], Claim::new)?;
        }
        Ok(())
    }

    /// Adds a claim, which `make` makes, with its folder. `static_bounds` are the loop bounds of a claim
    /// about all paths.
    #[expect(clippy::too_many_arguments, reason = "all of it goes into the claim")]
    fn claim(
        &mut self,
        name: &str,
        what: &Loaded,
        wanted: &str,
        (machine, answer): (&Machine, Answer),
        runs: &[(&Setup, &JudgedLaunch)],
        static_bounds: &[(LoopBound, usize)],
        make: impl FnOnce(Inputs<'_>) -> Claim,
    ) -> Result<(), Diagnostics> {
        let id = self.identifier(wanted);
        let ClaimFiles { contents, digests, replays } = self.files(what, runs, static_bounds)?;
        if self.session.monitor.is_stopped() {
            return Err(self.stopped(name));
        }
        let launch = self.launch(what, runs);
        let runs: Vec<_> = runs.iter().map(|(setup, run)| (setup.policy.kind(), *run)).collect();
        self.claims.push(make(Inputs {
            id: id.clone(),
            answer,
            machine,
            features: features(what, machine),
            launch,
            runs: &runs,
            is_application: matches!(what, Loaded::Application(_)),
            files: digests,
            replays,
        }));
        self.folders.push((id, contents));
        Ok(())
    }

    /// Returns an identifier that is also the name of a folder, and that no other claim has.
    fn identifier(&mut self, wanted: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.@".contains(c) { c } else { '-' };
        let wanted: String = wanted.chars().map(plain).collect();
        let wanted = wanted.trim_start_matches(['.', '-']).to_owned();
        let mut id = wanted.clone();
        for number in 2.. {
            if self.taken.insert(id.clone()) {
                break;
            }
            id = format!("{wanted}-{number}");
        }
        id
    }

    fn launch(&self, what: &Loaded, runs: &[(&Setup, &JudgedLaunch)]) -> LaunchFacts {
        let kernel = match what {
            Loaded::Kernel(kernel) => Some(&kernel.workload),
            Loaded::Application(_) => None,
        };
        let launches = match what {
            Loaded::Kernel(_) => 1,
            Loaded::Application(found) => found.application.launches(),
        };
        LaunchFacts {
            launches,
            blocks: kernel.map(|workload| workload.blocks()),
            threads: kernel.map(|workload| workload.needs().threads),
            shared_bytes: kernel.map(|workload| workload.needs().shared_bytes),
            resident_blocks: runs.iter().map(|(_, run)| run.resident_blocks).max().unwrap_or(0),
            sms: runs.first().map_or(1, |(setup, _)| setup.machine.sms()),
            seed: self.args.common.seed,
            warp_instructions: runs.first().map_or(0, |(_, run)| run.warp_instructions),
        }
    }

    /// Returns the files of a claim, the digests of these and of the files that stay where they
    /// are, and the commands that repeat the claim.
    /// `static_bounds` are the loop bounds of a claim about all paths.
    fn files(
        &self,
        what: &Loaded,
        runs: &[(&Setup, &JudgedLaunch)],
        static_bounds: &[(LoopBound, usize)],
    ) -> Result<ClaimFiles, Diagnostics> {
        // the first of several equally long runs, as in the answer
        let Some(longest) = runs.iter().rev().max_by_key(|(_, run)| run.makespan) else {
            return Ok(ClaimFiles::default());
        };
        let (mut files, outside) = match what {
            Loaded::Kernel(kernel) => (self.replay(kernel, longest)?, traces(kernel)),
            Loaded::Application(found) => {
                let mut files = found.files()?;
                let outside = if files.is_empty() { found.inputs.clone() } else { Vec::new() };
                files.push((MACHINE.to_owned(), counterexample::machine_file(&longest.0.spec)?.into_bytes()));
                (files, outside)
            }
        };
        files.sort();
        let mut digests: Vec<FileDigest> = files
            .iter()
            .map(|(name, bytes)| FileDigest {
                name: name.clone(),
                in_pack: true,
                what: description(name).to_owned(),
                bytes: bytes.len() as u64,
                sha256: sha256::of_bytes(bytes),
            })
            .collect();
        for path in outside {
            let unreadable =
                |error| Diagnostic::general(path.display().to_string(), format!("cannot read: {error}"));
            let (sha256, bytes) = sha256::of_file(&path).map_err(unreadable)?;
            digests.push(FileDigest {
                name: base_name(&path),
                in_pack: false,
                what: "a trace, or a list of traces".to_owned(),
                bytes,
                sha256,
            });
        }
        let recorded = files.iter().any(|(name, _)| name == SCHEDULE);
        let bounds = of_all_paths::options_in_pack(static_bounds, &files);
        let replays = self.replays(what, runs, (longest, recorded), &bounds);
        Ok(ClaimFiles { contents: files, digests, replays })
    }

    /// Returns the files from which the longest run of a kernel can be replayed.
    fn replay(
        &self,
        kernel: &LoadedKernel,
        (setup, run): &(&Setup, &JudgedLaunch),
    ) -> Result<Vec<Contents>, Diagnostics> {
        let blocks = u64::from(kernel.workload.blocks());
        self.session.progress.begin(format!("recording {}", kernel.workload.name), Some(blocks), "blocks");
        let files = kernel.files()?;
        counterexample::replay(&counterexample::Inputs {
            workload: &kernel.workload,
            machine: &setup.machine,
            machine_spec: &setup.spec,
            policy: &setup.policy,
            run,
            files: &files,
            seed: self.args.common.seed,
            gating: &[],
            max_instructions_per_block: self.args.common.fuel(),
            monitor: &self.session.monitor,
        })
    }

    fn replays(
        &self,
        what: &Loaded,
        runs: &[(&Setup, &JudgedLaunch)],
        (longest, recorded): (&(&Setup, &JudgedLaunch), bool),
        loop_bounds: &[String],
    ) -> Vec<Replay> {
        let policies: Vec<&str> = runs.iter().map(|(_, run)| run.policy.as_str()).collect();
        let trace = if is_traced(what) { "; the trace has to be in this folder" } else { "" };
        let again = match self.loop_bounds {
            None => Replay {
                what: format!("The claim again, under the same policies{trace}"),
                command: self.command("check", what, &policies.join(","), &[]),
            },
            Some(_) => Replay {
                what: "The claim again, beside one run".to_owned(),
                command: self.command("static", what, &longest.1.policy, loop_bounds),
            },
        };
        let longest = match recorded {
            true => Replay {
                what: format!(
                    "The longest run ({} cycles), from its recorded schedule{trace}",
                    longest.1.makespan
                ),
                command: self.command("check", what, &format!("replay:{SCHEDULE}"), &[]),
            },
            false => Replay {
                what: format!("The longest run ({} cycles), under its policy{trace}", longest.1.makespan),
                command: self.command("check", what, &longest.1.policy, &[]),
            },
        };
        vec![again, longest]
    }

    /// Returns a command line to be run in the folder of a claim.
    fn command(&self, command: &str, what: &Loaded, policy: &str, loop_bounds: &[String]) -> String {
        let mut words = vec!["warpbound".to_owned(), command.to_owned()];
        words.extend(subject(what));
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        option("--machine", MACHINE.to_owned());
        option("--policy", policy.to_owned());
        let common = &self.args.common;
        if common.seed != 0 {
            option("--seed", common.seed.to_string());
        }
        if common.max_instructions != MAX_INSTRUCTIONS {
            option("--max-instructions", common.max_instructions.to_string());
        }
        if common.races == Races::Ignore {
            option("--races", "ignore".to_owned());
        }
        loop_bounds.iter().for_each(|bound| option("--loop-bound", bound.clone()));
        shell_line(&words)
    }
}

/// Returns the features of the machine beyond the paper model, as these kernels use them.
fn features(what: &Loaded, machine: &Machine) -> Features {
    let mut all = machine.beyond_the_paper_model();
    let mut add = |features: Features| all = all.iter().chain(features.iter()).collect();
    match what {
        Loaded::Kernel(kernel) => add(kernel.workload.program().beyond_the_paper_model_on(machine)),
        Loaded::Application(found) => match &found.application {
            Application::Program(sequence) => {
                let kernels = sequence.kernels.iter();
                kernels.for_each(|kernel| add(kernel.program.beyond_the_paper_model_on(machine)));
            }
            Application::Traces(traces) => {
                let programs = traces.iter().map(|traced| traced.workload.program());
                programs.for_each(|program| add(program.beyond_the_paper_model_on(machine)));
            }
        },
    }
    all
}

/// Returns the files of a traced kernel, which are not copied because they can be very large.
fn traces(kernel: &LoadedKernel) -> Vec<PathBuf> {
    match &kernel.workload.kind {
        WorkloadKind::Trace(_) => kernel.inputs.clone(),
        _ => Vec::new(),
    }
}

/// Returns whether the paths are those of traces, which are not in the pack.
fn is_traced(what: &Loaded) -> bool {
    match what {
        Loaded::Kernel(kernel) => matches!(kernel.workload.kind, WorkloadKind::Trace(_)),
        Loaded::Application(found) => matches!(found.application, Application::Traces(_)),
    }
}

/// Returns the words that name the kernel in the folder of a claim.
fn subject(what: &Loaded) -> Vec<String> {
    match what {
        Loaded::Kernel(kernel) => match &kernel.workload.kind {
            WorkloadKind::Micro(_) => vec!["kernel.warp".to_owned()],
            WorkloadKind::Launch { .. } => vec!["launch.ron".to_owned()],
            WorkloadKind::Step { step, .. } => {
                vec!["program.ron".to_owned(), "--launch".to_owned(), step.number.to_string()]
            }
            WorkloadKind::Trace(traced) => vec![base_name(Path::new(traced.file_name()))],
        },
        Loaded::Application(found) => match &found.application {
            Application::Program(_) => vec!["program.ron".to_owned()],
            Application::Traces(_) => vec![base_name(Path::new(&found.name_given))],
        },
    }
}

/// Returns the last part of a path: where a file was is not part of a pack.
fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Returns what a file of a claim is.
fn description(name: &str) -> &'static str {
    match name {
        MACHINE => "the machine as it was read, with all settings",
        SCHEDULE => "the schedule of the longest run",
        "kernel.warp" => "the kernel; it names the machine and the schedule beside it",
        "launch.ron" => "the launch",
        "program.ron" => "the program: its launches in order",
        _ if name.starts_with("kernel") => "the code of a kernel",
        _ => "the contents of a buffer",
    }
}
