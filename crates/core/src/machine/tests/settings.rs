//! Tests of `--set PATH=VALUE`.

use super::{FIG2, machine};
use crate::base::Cycles;
use crate::machine::memory::{Jitter, LowerLevel, Split};
use crate::machine::{Hazards, MemorySpec, PolicyKind, Reconvergence};

#[test]
fn settings_reach_every_kind_of_value() {
    let m = machine(
        FIG2,
        &[
            "units.red.lat=7",
            "ops.int.lat=11",
            "ops.int.div.init=5",
            "policy=lrr",
            "hazards=Raw,Waw",
            "limits.blocks=3",
            "exit_issues=true",
            "sub_cores=3",
            "units.blue.shared=true",
        ],
    )
    .unwrap();
    assert_eq!(m.op("f0").unwrap().lat, Cycles::new(7));
    assert_eq!(m.op("int.add").unwrap().lat, Cycles::new(11));
    assert_eq!(m.op("int.div").unwrap().init, Cycles::new(5));
    assert_eq!(m.policy(), &PolicyKind::Lrr);
    assert_eq!(m.hazards(), Hazards::RAW | Hazards::WAW);
    assert_eq!(m.limits().blocks, 3);
    assert!(m.exit_issues());
    let unit = |class: &str| m.op(class).unwrap().unit;
    assert_eq!(m.sub_cores().count(), 3);
    assert!(m.sub_cores().is_shared(unit("int")) && !m.sub_cores().is_shared(unit("f0")));
    assert_ne!(m.digest(), machine(FIG2, &[]).unwrap().digest());
}

#[test]
fn switches_go_on_and_off_from_the_command_line() {
    let on = machine(FIG2, &["pipeline.issue.per_warp=2", "pipeline.front_end.fetches=3"]).unwrap();
    let pipeline = on.pipeline().unwrap();
    assert_eq!((pipeline.issue.per_warp, pipeline.front_end.unwrap().fetches), (2, 3));
    let off = ["pipeline.queue=4", "pipeline.front_end.fetches=3", "pipeline.front_end=none"];
    let off = machine(FIG2, &off).unwrap();
    assert_eq!((off.pipeline().unwrap().front_end, off.pipeline().unwrap().queue), (None, Some(4)));
    assert!(machine(FIG2, &["pipeline.issue.per_wrap=2"]).unwrap_err().to_string().contains("per_wrap"));
    assert!(machine(FIG2, &["pipeline.queue.x=2"]).is_err());
    assert!(machine(FIG2, &["pipeline.queue=4", "pipeline=none"]).unwrap().pipeline().is_none());
    let both = machine(FIG2, &["pipeline.queue=4", "pipeline=Pipeline(write_back: 1)"]).unwrap();
    assert_eq!((both.pipeline().unwrap().queue, both.pipeline().unwrap().write_back), (Some(4), 1));
}

/// Returns the memory of a machine with a load/store unit.
fn memory(settings: &[&str]) -> MemorySpec {
    let settings = [&["pipeline.load_store=LoadStore()"], settings].concat();
    let machine = machine(FIG2, &settings).unwrap_or_else(|problems| panic!("{problems}"));
    (**machine.memory()).clone()
}

#[test]
fn a_setting_can_have_every_value_that_a_file_can() {
    let pipeline = |setting: &str| machine(FIG2, &[setting]).unwrap().pipeline().unwrap().clone();
    for list in ["[red, memory]", "[\"red\", \"memory\"]", "[\"red\", \"memory\",] // in this order"] {
        assert_eq!(pipeline(&format!("pipeline.collect={list}")).collect, ["red", "memory"], "{list}");
    }
    assert_eq!(pipeline("pipeline.unscored=[]").unscored, [""; 0]);
    assert_eq!(memory(&["memory.partitions.dram.clock=(7001, 2264)"]).partitions.dram.clock, (7001, 2264));
    assert_eq!(memory(&["memory.partitions.dram.bank_bits=[7, 12]"]).partitions.dram.bank_bits, [7, 12]);
    let split = memory(&["memory.l1.split=Fit(total: 131072, shared: [0, 8192])"]).l1.unwrap().split;
    assert_eq!(split, Split::Fit { total: 131_072, shared: vec![0, 8192] });
    assert_eq!(memory(&["memory.jitter=Uniform(2, 9)"]).jitter, Jitter::Uniform(2, 9));
    assert_eq!(memory(&["memory.jitter=Geometric(4)", "memory.jitter=Off"]).jitter, Jitter::Off);
    // a part is replaced as a whole, and its neighbours are not
    let l1 = memory(&["memory.l1.banks=4", "memory.lower=Fixed", "memory.l1=L1(latency: 3)"]);
    assert_eq!((l1.l1.unwrap().banks, l1.lower), (1, LowerLevel::Fixed));
    let default = memory(&["memory.l1.banks=4", "memory.lower=Fixed", "memory=none"]);
    assert_eq!(default, MemorySpec::default());
}

#[test]
fn entries_and_words_without_quotes_can_be_set() {
    let m = machine(
        FIG2,
        &[
            "units.red=Unit(init: 7, lat: 8)",
            "units.red.source=A paper, by \"hand\"",
            "units={\"new\": Unit(init: 3, lat: 3)}",
            "ops.f0=new",
            "ops.int.div=Op(unit: \"blue\", init: 5)",
            "limits=Limits(warps: 3)",
            "policy=Random(5)",
            "hazards=[Raw, Waw]",
            "name=5",
            "reconvergence=PascalStack",
        ],
    )
    .unwrap();
    let red = m.units().iter().find(|unit| unit.name == "red").unwrap();
    assert_eq!((red.init.get(), red.source.as_str()), (7, "A paper, by \"hand\""));
    assert_eq!(m.op("f0").unwrap().init, Cycles::new(3));
    assert_eq!(m.op("int.div").unwrap().init, Cycles::new(5));
    assert_eq!(m.limits().warps, 3);
    assert_eq!((m.policy(), m.name()), (&PolicyKind::Random(5), "5"));
    assert_eq!(m.reconvergence(), Reconvergence::PascalStack);
}

#[test]
fn values_that_do_not_fit_are_refused_as_in_a_file() {
    for (setting, message) in [
        ("pipeline.collect=red", "a list `[...]` is expected"),
        ("pipeline.collect=[red", "expected"),
        ("pipeline.queue=[1]", "a whole number is expected"),
        ("pipeline.queue=", "ends too early"),
        ("pipeline.queue=1), sms: (2", "more text follows"),
        ("pipeline.issue=none", "expected"),
        ("memory.partitions.dram.clock=(1, 2, 3)", "a `)` is missing"),
        ("memory.partitions.dram.clock.0=1", "`0` is not the name"),
        ("memory.l1.split=Fit(total: 1, sharde: [0])", "`sharde`"),
        ("memory.l1.split=Fitt(total: 1)", "`Fitt`"),
        ("memory.l1.split.total=1", "expected"),
        ("memory.jitter=Uniform(-1, 2)", "too large or too small"),
        ("sms.x=1", "no parts"),
    ] {
        let error = machine(FIG2, &[setting]).unwrap_err();
        let shown = error.to_string();
        assert_eq!(error.list().len(), 1, "{shown}");
        let (problem, place) = (&error.list()[0], format!("--set {setting}"));
        assert!(problem.message.contains(message) && problem.file == place, "{setting}: {shown}");
        assert!(!problem.hint.is_empty(), "{setting}: {shown}");
    }
}

#[test]
fn messages_about_wrong_settings_list_the_valid_ones() {
    for bad in [
        "units.gren.lat=1",
        "unitz.red.lat=1",
        "units.red.late=3",
        "units.red.lat=x",
        "policy=fifo",
        "units=3",
        "limits.foo=1",
        "sub_cores=x",
    ] {
        let error = machine(FIG2, &[bad]).unwrap_err().to_string();
        assert!(error.contains(bad), "{bad}: {error}");
    }
}

#[test]
fn a_line_that_is_shorter_than_a_request_is_refused() {
    let with = |settings: &[&str]| machine(FIG2, settings).err().map(|error| error.to_string());
    let transaction = "pipeline.load_store.transaction=128";
    let (l1, l2) = ("memory.l1.cache.line=32", "memory.partitions.l2.line=64");
    let error = with(&[transaction, l1]).expect("the L1 has short lines");
    assert!(
        error.contains("memory.l1.cache.line is 32") && error.contains("requests of 128 bytes"),
        "{error}"
    );
    let error = with(&[transaction, l2, "memory.lower=Partitions"]).expect("the L2 has short lines");
    assert!(error.contains("memory.partitions.l2.line is 64"), "{error}");
    let error = with(&[
        "pipeline.load_store.transaction=32",
        "memory.l1.cache.line=128",
        l2,
        "memory.lower=Partitions",
    ]);
    assert!(
        error
            .expect("lines of the L1 are longer")
            .contains("memory.l1.cache.line sends requests of 128 bytes")
    );
    // the L2 is not reached
    assert_eq!(with(&[transaction, "memory.l1.cache.line=128", l2]), None);
    assert_eq!(with(&[transaction, "memory.l1.cache.line=128"]), None);
}
