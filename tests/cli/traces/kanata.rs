//! A strict parser of Kanata logs.

use super::table::Row;

/// A stage: the lane, the name, the first cycle, and the cycle after the last.
type Stage = (u32, String, u64, u64);

#[derive(Debug, Default)]
pub struct Instruction {
    begun: u64,
    label: String,
    stages: Vec<Stage>,
    /// The stages that have not ended: lane, name, begin.
    open: Vec<(u32, String, u64)>,
    retired: Option<u64>,
}

impl Instruction {
    fn end(&mut self, lane: u32, now: u64) -> Option<String> {
        let at = self.open.iter().position(|(open, ..)| *open == lane)?;
        let (lane, name, from) = self.open.remove(at);
        self.stages.push((lane, name.clone(), from, now));
        Some(name)
    }

    /// Checks that the instruction and its stages agree with the table.
    pub fn is(&self, row: &Row) {
        let (block, warp, pc, unit) = (row.block, row.warp, row.pc, &row.unit);
        // in a table, text that begins like a formula is preceded by a quote
        let text = row.text.strip_prefix('\'').unwrap_or(&row.text);
        assert_eq!(self.label, format!("b{block} w{warp} @{pc} {unit}: {text}"));
        assert_eq!((self.begun, self.retired), (row.issue, Some(row.done)));
        let on_unit = self.stages.iter().find(|(lane, ..)| *lane == 1).expect("it was on a unit");
        let (_, name, from, to) = on_unit;
        assert_eq!((name, *from), (unit, row.start));
        let mut expected = Vec::new();
        if row.start > row.issue {
            expected.push((0, "Q".to_owned(), row.issue, row.start));
        }
        expected.push((0, "X".to_owned(), row.start, *to));
        if row.done > *to {
            expected.push((0, "L".to_owned(), *to, row.done));
        }
        let phases = self.stages.iter().filter(|(lane, ..)| *lane == 0).cloned().collect::<Vec<Stage>>();
        assert_eq!(phases, expected, "{row:?}");
        assert_eq!(self.stages.len(), phases.len() + 1);
    }
}

pub fn read(text: &str) -> Vec<Instruction> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Kanata\t0004"));
    assert_eq!(lines.next(), Some("C=\t0"));
    let (mut now, mut retired) = (0, 0);
    let mut all: Vec<Instruction> = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |field: &str| field.parse::<u64>().unwrap_or_else(|_| panic!("a number: {line}"));
        if let ["C", cycles] = fields[..] {
            assert!(number(cycles) > 0, "{line}");
            now += number(cycles);
            continue;
        }
        let id = number(fields[1]) as usize;
        if let ["I", _, index, slot] = fields[..] {
            assert_eq!(id, all.len(), "numbers ascend");
            number(index);
            number(slot);
            all.push(Instruction { begun: now, ..Instruction::default() });
            continue;
        }
        let of = all.get_mut(id).unwrap_or_else(|| panic!("not begun: {line}"));
        assert_eq!(of.retired, None, "{line}");
        match fields[..] {
            ["L", _, "0", label] => of.label.push_str(label),
            ["L", _, "1", more] => assert!(more.contains("unit"), "{line}"),
            ["S", _, lane, name] => {
                let lane = number(lane) as u32;
                of.end(lane, now);
                of.open.push((lane, name.to_owned(), now));
            }
            ["E", _, lane, name] => {
                assert_eq!(of.end(number(lane) as u32, now).as_deref(), Some(name), "{line}")
            }
            ["R", _, ordinal, "0"] => {
                assert_eq!(number(ordinal), retired);
                retired += 1;
                of.retired = Some(now);
                of.end(0, now).expect("it was in a stage");
                assert!(of.open.is_empty(), "{line}");
            }
            _ => panic!("no command: {line}"),
        }
    }
    assert_eq!(retired as usize, all.len());
    all
}
