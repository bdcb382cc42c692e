//! Section V of Adalbert et al., ERTS 2022: products of matrices and a network, from machine code
//! and from PTX.

use super::Done;
use crate::applications;
use crate::args::{Common, PtxLaunch};
use crate::load;
use crate::session::Session;
use warpbound_bound as bound;
use warpbound_core::base::Pc;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::PolicyKind;
use warpbound_core::program::{Area, MemoryOp};
use warpbound_judge::check::{JudgedApplication, Plan, judge_from, observe, only_run};
use warpbound_judge::load::{DEFAULT_MACHINE, Loaded, LoadedApplication, read};
use warpbound_report::output::{Batch, Origin};
use warpbound_report::reproduce::Reproduced;
use warpbound_report::reproduce::pastis::published::{NETWORK, PRODUCTS};
use warpbound_report::reproduce::pastis::{
    Counted, Images, MACHINE, Network, NetworkRun, PastisResult, ProductRow,
};
use warpbound_trace::trace::BankProfile;

/// The kinds of code of each launch: the name in reports, and the suffix of the launch's name.
const CODES: [(&str, &str); 2] = [("sm_61", "@sm_61"), ("ptx", "")];

/// The buffer with the outputs of a network.
const OUTPUTS: &str = "out";

pub fn section(session: &Session) -> Result<Done, Diagnostics> {
    let common = Common::on(MACHINE);
    let to_barriers = Common { policy: Some(PolicyKind::RunToBarrier.to_string()), ..Common::on(MACHINE) };
    let machine = load::machine_of_application(&common)?.0;
    let launch = machine.pipeline().map_or(0, |pipeline| pipeline.launch.end);
    let origin = Origin::new(&machine);
    let mut products = Vec::new();
    let mut left = Vec::new();
    for product in &PRODUCTS {
        for (code, suffix) in CODES {
            let name = format!("{}{suffix}", product.launch);
            let counted = measured(&name, &common, session)?.zip(measured(&name, &to_barriers, session)?);
            match counted {
                Some((counted, own)) => {
                    let counted = Counted { cycles_run_to_barrier: own.cycles, ..counted };
                    products.push(ProductRow::new(product, (name, code), counted));
                }
                None => left.push(name),
            }
        }
    }
    let network = network(&common, &to_barriers, session)?;
    if network.is_none() {
        left.push(NETWORK.to_owned());
    }
    let batch = match left.is_empty() {
        true => Batch::default(),
        false => Batch { not_reached: left, ..Batch::stopped(session.stopped()) },
    };
    let policy = machine.policy().to_string();
    let result = PastisResult::new(origin, policy, products, launch, network);
    let violated = result.violated();
    Ok(Done { batch, violated, ..Done::new(Reproduced::Section(Box::new(result))) })
}

/// Returns the accesses and cycles of a product, or `None` if the command was stopped.
fn measured(name: &str, common: &Common, session: &Session) -> Result<Option<Counted>, Diagnostics> {
    let kernel = load::kernel(name, &PtxLaunch::default(), common.seed, &session.monitor)?;
    let (machine, _) = load::machine(common, &kernel)?;
    let policy = load::policy(common, &kernel, &machine)?;
    let policies = std::slice::from_ref(&policy);
    let options = common.run_options(&session.monitor).ahead(false).race_memory(None);
    let plan = Plan { workload: &kernel.workload, machine: &machine, policies, options };
    let table = load::timing(&kernel, &machine)?;
    let mut banks = BankProfile::new(&table);
    let checked = observe(&plan, &mut banks).map_err(|failed| kernel.with_excerpts(failed.problems))?;
    if !checked.is_complete() {
        return Ok(None);
    }
    let memory = |pc: Pc| kernel.workload.program().instr(pc).memory;
    let transactions = |wanted: MemoryOp| {
        let of_kind = banks.by_pc().filter(|(pc, _)| memory(*pc) == Some(wanted));
        of_kind.map(|(_, used)| used.transactions).sum()
    };
    Ok(Some(Counted {
        reads: transactions(MemoryOp::Load(Area::Shared)),
        writes: transactions(MemoryOp::Store(Area::Shared)),
        cycles: checked.makespan.get(),
        cycles_run_to_barrier: 0,
    }))
}

/// Returns the results of the network for each kind of code, or `None` if the command was stopped.
fn network(common: &Common, to_barriers: &Common, session: &Session) -> Result<Option<Network>, Diagnostics> {
    let judging = Common::on(DEFAULT_MACHINE);
    let mut images = Images::default();
    let mut left: Vec<Vec<u8>> = Vec::new();
    let mut runs = Vec::new();
    for (code, suffix) in CODES {
        let program = match load::any(
            &format!("{NETWORK}{suffix}"),
            &PtxLaunch::default(),
            common.seed,
            &session.monitor,
        )? {
            Loaded::Application(program) => program,
            Loaded::Kernel(_) => return Err(Diagnostic::general(NETWORK, "this is no program").into()),
        };
        images = known(&program)?;
        let Some((figures, outputs)) = simulated(&program, common, false, session)? else { return Ok(None) };
        let Some((own, _)) = simulated(&program, to_barriers, false, session)? else { return Ok(None) };
        let Some((judged, _)) = simulated(&program, &judging, true, session)? else { return Ok(None) };
        runs.push(NetworkRun::new(code, &doubles(&outputs), &images, &figures, &own, &judged));
        left.push(outputs);
    }
    let same_bytes = left.windows(2).all(|pair| pair[0] == pair[1]);
    Ok(Some(Network::new(DEFAULT_MACHINE.to_owned(), &images, same_bytes, runs)))
}

/// Reads the labels and the outputs of the reference from files beside the program.
fn known(program: &LoadedApplication) -> Result<Images, Diagnostic> {
    let bytes = |name: &str| program.location.beside(name).bytes(read::DATA_BYTES);
    Ok(Images {
        labels: bytes("digits.labels.bin")?.into_iter().map(usize::from).collect(),
        outputs: doubles(&bytes("digits.outputs.bin")?),
    })
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

/// Runs the program, with every bound or none, and returns the run and its outputs.
fn simulated(
    program: &LoadedApplication,
    common: &Common,
    judged: bool,
    session: &Session,
) -> Result<Option<(JudgedApplication, Vec<u8>)>, Diagnostics> {
    let (machine, _) = load::machine_of_application(common)?;
    let policy = applications::policy(program, &machine)?;
    let bounds = if judged { bound::all() } else { Vec::new() };
    let options = common.run_options(&session.monitor).judged_by(&bounds, &[]);
    let on = [(&machine, std::slice::from_ref(&policy))];
    session.progress.begin(format!("{} on {}", program.name, machine.name()), None, "blocks");
    let (runs, device) = judge_from(program.subject(), &on, &options, &mut (), None, &mut |_, ()| {});
    let checked = only_run(runs).map_err(|problems| program.with_excerpts(problems))?;
    if !checked.total.is_complete() {
        return Ok(None);
    }
    let named = program.program()?.buffers_at(None);
    let outputs = named.iter().find(|(name, _)| name == OUTPUTS);
    let (_, index) =
        outputs.ok_or_else(|| Diagnostic::general(NETWORK, format!("it has no buffer `{OUTPUTS}`")))?;
    Ok(device.map(|device| (checked, device.buffer(*index).to_vec())))
}
