//! A parser of the CSV trace, according to RFC 4180.

/// An instruction.
#[derive(Debug)]
pub struct Row {
    pub block: u64,
    pub warp: u64,
    pub index: u64,
    pub pc: u64,
    pub issue: u64,
    pub start: u64,
    pub done: u64,
    pub unit: String,
    pub line: u64,
    pub text: String,
}

impl Row {
    /// Returns the fields that the Perfetto trace contains, too.
    pub fn key(&self) -> [u64; 7] {
        [self.block, self.warp, self.index, self.pc, self.issue, self.start, self.done]
    }
}

pub fn read(text: &str) -> Vec<Row> {
    let mut records = records(text).into_iter();
    let header = records.next().expect("a header");
    assert_eq!(header.join(","), "block,warp,index,pc,issue,start,done,unit,line,text");
    records.map(|fields| row(&fields)).collect()
}

fn row(fields: &[String]) -> Row {
    let [block, warp, index, pc, issue, start, done, unit, line, text] = fields else {
        panic!("ten fields: {fields:?}");
    };
    let number = |field: &String| field.parse::<u64>().unwrap_or_else(|_| panic!("a number: {fields:?}"));
    let row = Row {
        block: number(block),
        warp: number(warp),
        index: number(index),
        pc: number(pc),
        issue: number(issue),
        start: number(start),
        done: number(done),
        unit: unit.clone(),
        line: number(line),
        text: text.clone(),
    };
    assert!(row.issue <= row.start && row.start <= row.done, "{row:?}");
    assert!(!row.unit.is_empty() && !row.text.is_empty() && row.line > 0, "{row:?}");
    row
}

fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                assert!(field.is_empty(), "a quote inside a plain field");
                loop {
                    match chars.next().expect("the end of a quoted field") {
                        '"' if chars.next_if_eq(&'"').is_some() => field.push('"'),
                        '"' => break,
                        c => field.push(c),
                    }
                }
                assert!(matches!(chars.peek(), Some(',' | '\n')), "text after a quoted field");
            }
            ',' => record.push(std::mem::take(&mut field)),
            '\n' => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            '\r' => panic!("a bare carriage return"),
            c => field.push(c),
        }
    }
    assert!(field.is_empty() && record.is_empty(), "the last line has no end");
    records
}
