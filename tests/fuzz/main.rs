//! Adversarial inputs for every format that is read: mutants of valid files, and the files of
//! `tests/data/fuzz` that once caused a failure. Every input gives an error with its position, or
//! can be run. No input causes a panic, an abort, an endless run or unlimited use of memory.
//!
//! An input is identified by a number: `input_of` creates it, always the same from the same
//! repository. `cargo test --test fuzz` tries some hundreds of each format; `scripts/fuzz.sh` tries
//! as many as the time allows, with this program's `campaign`.

#[path = "../support/shipped.rs"]
mod shipped;

mod formats;
mod guard;
mod mutate;
mod trial;

use std::time::{Duration, Instant};

use formats::Format;
use trial::{Tally, corpus, input_of, kept, try_input};

/// Tests the files that once caused a failure, and some hundred mutants.
fn is_survived(name: &str) {
    let format = formats::named(name);
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for (file, bytes) in corpus(&format) {
        if let Err(why) = tally.count(try_input(&format, &bytes)) {
            failures.push(format!("{file}: {why}"));
        }
    }
    let seeds = format.seeds();
    // the meaning of valid files is tested elsewhere; here they show that the trial itself does not
    // reject them
    for (index, seed) in seeds.iter().enumerate().take(4) {
        match tally.count(try_input(&format, seed)) {
            Ok(formats::Taken::Accepted) => {}
            Ok(formats::Taken::Refused) => failures.push(format!("seed {index} is refused")),
            Err(why) => failures.push(format!("seed {index}: {why}")),
        }
    }
    for number in 0..format.mutants {
        let input = input_of(&seeds, number);
        if let Err(why) = tally.count(try_input(&format, &input)) {
            let file = kept(format.name, number, &input);
            failures.push(format!("input {number} ({}): {why}", file.display()));
        }
    }
    println!("{name}: {tally}");
    assert!(failures.is_empty(), "{name}: {tally}\n{}", failures.join("\n"));
    // mutants that are all rejected, or all accepted, would test little
    assert!(tally.accepted * 20 > tally.inputs && tally.refused * 20 > tally.inputs, "{name}: {tally}");
}

macro_rules! formats_are_survived {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            is_survived(stringify!($name));
        })*

        #[test]
        fn every_format_has_its_test() {
            let names: Vec<&str> = formats::ALL.iter().map(|format| format.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

formats_are_survived! { ptx cubin trace list machine config launch program plan replay warp times results checkpoint }

/// The long run: the format of `WARPBOUND_FUZZ`, from input `WARPBOUND_FUZZ_FROM` on for
/// `WARPBOUND_FUZZ_SECONDS` or `WARPBOUND_FUZZ_COUNT` inputs. Its progress is written to the folder
/// `WARPBOUND_FUZZ_OUT`, so that the caller can tell which input ended the process.
#[test]
#[ignore = "for scripts/fuzz.sh"]
fn campaign() {
    let variable = |name: &str| std::env::var(format!("WARPBOUND_FUZZ{name}")).ok();
    let number = |name: &str| variable(name).map(|text| text.parse::<u64>().expect("a number"));
    let format: Format = formats::named(&variable("").expect("WARPBOUND_FUZZ names a format"));
    let out = std::path::PathBuf::from(variable("_OUT").expect("WARPBOUND_FUZZ_OUT is a folder"));
    let (mut next, began) = (number("_FROM").unwrap_or(0), Instant::now());
    let limit = Duration::from_secs(number("_SECONDS").unwrap_or(60));
    let most = number("_COUNT").unwrap_or(u64::MAX);
    let mut tally = Tally::default();
    let seeds = format.seeds();
    while tally.inputs < most && began.elapsed() < limit {
        let input = input_of(&seeds, next);
        std::fs::write(out.join(format!("{}.input", format.name)), &input).expect("the folder is there");
        let line = |tally: &Tally, next: u64| {
            std::fs::write(
                out.join(format!("{}.tally", format.name)),
                format!("{next} {}\n", tally.numbers()),
            )
        };
        line(&tally, next).expect("the folder is there");
        if let Err(why) = tally.count(try_input(&format, &input)) {
            let file = out.join(format!("{}-{next}", format.name));
            std::fs::write(&file, &input).expect("the folder is there");
            eprintln!("{} input {next} ({}): {why}", format.name, file.display());
        }
        next += 1;
        line(&tally, next).expect("the folder is there");
    }
}

/// Tries one file as a format, to investigate a failure: `WARPBOUND_FUZZ` and
/// `WARPBOUND_FUZZ_FILE`.
#[test]
#[ignore = "for scripts/fuzz.sh"]
fn one_file() {
    let format = formats::named(&std::env::var("WARPBOUND_FUZZ").expect("WARPBOUND_FUZZ names a format"));
    let file = std::env::var("WARPBOUND_FUZZ_FILE").expect("WARPBOUND_FUZZ_FILE is a file");
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    match try_input(&format, &bytes) {
        Ok(taken) => println!("{file}: {taken:?}"),
        Err(why) => panic!("{file}: {why}"),
    }
}
