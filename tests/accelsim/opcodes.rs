//! Tables of opcodes: the machines support the op classes that the tables name.

use std::collections::BTreeSet;

use warpbound::accelsim::OpcodeEffect;
use warpbound::isa::Space;

use super::{VECADD, read, shipped, tables};

#[test]
fn machines_support_every_class_of_the_tables() {
    for name in ["ecrts25-orin", "accelsim-sm1", "jetson-tx2", "turing-tu102", "rtx3070"] {
        let machine = shipped::machine(name);
        for table in tables() {
            for (class, does) in table.classes() {
                let class = match does {
                    OpcodeEffect::Load(Space::Generic)
                    | OpcodeEffect::Store(Space::Generic)
                    | OpcodeEffect::Atomic(Space::Generic) => {
                        format!("{class}.global")
                    }
                    _ => class.to_owned(),
                };
                let tensor = class.starts_with("tensor");
                assert!(machine.op(&class).is_some() || tensor && name == "jetson-tx2", "{name}: {class}");
            }
        }
    }
}

/// Returns the opcodes of isa/pascal.ron, with their op classes there.
fn encoded() -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(shipped::root().join("isa/pascal.ron")).unwrap();
    let field = |line: &str, key: &str| Some(line.split_once(key)?.1.split('"').next()?.to_owned());
    let ops = text.lines().filter(|line| line.trim_start().starts_with("Op(name"));
    ops.filter_map(|line| Some((field(line, "name: \"")?, field(line, "class: \"")?))).collect()
}

#[test]
fn pascal_opcodes_have_the_classes_of_their_machine_code() {
    let tables = tables();
    let pascal = tables.iter().find(|table| table.targets.contains(&61)).unwrap();
    let ops = encoded();
    assert!(ops.len() > 80);
    for (name, class) in ops {
        let rule = pascal.find(&name).unwrap_or_else(|| panic!("{name} is not known"));
        assert_eq!(rule.class, class.trim_end_matches(".*"), "{name}");
    }
}

#[test]
fn tables_of_generations_differ() {
    let tables = tables();
    let of = |target: u32, opcode: &str| {
        let table = tables.iter().find(|table| table.targets.contains(&target)).unwrap();
        table.find(opcode).map(|rule| (rule.class.clone(), rule.does))
    };
    assert_eq!(of(61, "DEPBAR.LE").unwrap().1, OpcodeEffect::Nothing);
    assert_eq!(of(86, "DEPBAR.LE").unwrap().1, OpcodeEffect::Wait);
    assert_eq!(of(70, "LDGSTS.E"), None);
    assert_eq!(of(86, "LDGSTS.E.BYPASS.128").unwrap().1, OpcodeEffect::Copy);
    assert_eq!(of(80, "HMMA.16816.F32").unwrap().0, "tensor.f16.m16n8k16");
    assert_eq!(of(35, "SUCLAMP").unwrap().0, "int.add");
    assert_eq!(of(75, "UIADD3").unwrap().0, "int.add.uniform");
    assert_eq!(of(61, "RED.E.ADD").unwrap().1, OpcodeEffect::Atomic(Space::Generic));
    assert_eq!(of(86, "RED.E.ADD").unwrap().1, OpcodeEffect::Atomic(Space::Global));
}

/// Opcodes that sm_90 to sm_120 add belong to the tables of their generation, and others count as
/// before.
#[test]
fn opcodes_of_new_generations() {
    let tables = tables();
    let class = |target: u32, opcode: &str| {
        let table = tables.iter().find(|table| table.targets.contains(&target)).unwrap();
        table.find(opcode).map(|rule| rule.class.clone())
    };
    for opcode in [
        "VIADD",
        "VIADDMNMX",
        "VIMNMX3",
        "UTMALDG.3D.MULTICAST",
        "HGMMA.64x128x16.F32.BF16",
        "UBLKCP.S.G",
        "SYNCS.EXCH.64",
        "ELECT",
        "ACQBULK",
        "STSM.16.MT88.4",
        "WARPGROUP.ARRIVE",
        "UCGABAR_WAIT",
        "REDG.E.ADD",
        "LDGSTS.E",
        "DEPBAR.LE",
        "IMAD.MOV.U32",
    ] {
        for target in [90, 100, 103, 120, 121] {
            assert!(class(target, opcode).is_some(), "{opcode} of sm_{target}");
        }
    }
    for opcode in
        ["QMMA.16832.F32.E4M3.E4M3", "OMMA.SF.16864.F32", "UTCHMMA", "LDTM.x32", "FFMA2", "LDCU.64", "UFADD"]
    {
        assert!(class(120, opcode).is_some() && class(90, opcode).is_none(), "{opcode}");
    }
    assert_eq!(class(120, "FROB"), None);
    assert_eq!(class(86, "VIADD"), None);
    // without a table, the newest one that is not newer
    let next = read(&VECADD.replace("binary version = 86", "binary version = 95")).unwrap();
    assert_eq!(next.summary.opcodes, "hopper");
    assert_eq!(next.summary.unknown.keys().collect::<Vec<_>>(), ["FROB.X"]);
}
