//! A parser with the options of one command only: building the options of all commands takes longer
//! than simulating a small kernel.

use std::ffi::OsString;

use clap::{ArgMatches, Args as _, Command};

use super::*;

type Options = fn(Command) -> Command;

/// Parses a command line with the options of its command alone. Returns `None` if it is invalid or
/// asks for help; the caller then parses it again with all commands, which yields the message.
pub fn matches(words: &[OsString]) -> Option<ArgMatches> {
    let name = words.iter().skip(1).find_map(|word| word.to_str().filter(|word| !word.starts_with('-')))?;
    general().subcommand(with_options(name)?).try_get_matches_from(words).ok()
}

/// Returns the name if it is that of a command.
pub fn command_name(name: &str) -> Option<&'static str> {
    COMMANDS.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// Returns the name of the command in `matches`.
pub fn name(matches: &ArgMatches) -> &'static str {
    matches.subcommand_name().and_then(command_name).unwrap_or("")
}

fn general() -> Command {
    General::augment_args(Command::new("warpbound").subcommand_required(true))
}

fn with_options(name: &str) -> Option<Command> {
    let (name, options) = COMMANDS.iter().find(|(known, _)| *known == name)?;
    Some(options(Command::new(*name)))
}

const COMMANDS: [(&str, Options); 37] = [
    ("check", Check::augment_args),
    ("run", Run::augment_args),
    ("diff", Diff::augment_args),
    ("why", Diff::augment_args),
    ("phases", Phases::augment_args),
    ("explore", Explore::augment_args),
    ("compare", Compare::augment_args),
    ("worst", Worst::augment_args),
    ("hunt", Hunt::augment_args),
    ("compile", Compile::augment_args),
    ("headers", Headers::augment_args),
    ("export", Export::augment_args),
    ("bundle", Bundle::augment_args),
    ("synthetic", Synthetic::augment_args),
    ("family", Family::augment_args),
    ("anomaly", Anomaly::augment_args),
    ("fermi", Fermi::augment_args),
    ("ablate", Ablate::augment_args),
    ("evidence", Evidence::augment_args),
    ("evidence-pack", EvidencePack::augment_args),
    ("sweep", Sweep::augment_args),
    ("merge", Merge::augment_args),
    ("report", Report::augment_args),
    ("reproduce", Reproduce::augment_args),
    ("cfg", Cfg::augment_args),
    ("static", Static::augment_args),
    ("wcet", Wcet::augment_args),
    ("pwcet", Pwcet::augment_args),
    ("hybrid", Hybrid::augment_args),
    ("validate", Validate::augment_args),
    ("inspect", Inspect::augment_args),
    ("import-config", ImportConfig::augment_args),
    ("list", List::augment_args),
    ("explain", Explain::augment_args),
    ("schema", Schema::augment_args),
    ("completions", Completions::augment_args),
    ("man", Man::augment_args),
];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn its_options_are_those_of_the_full_parser() {
        let all = Args::command();
        let options = |command: &Command| format!("{:?}", command.get_arguments().collect::<Vec<_>>());
        let names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names, COMMANDS.map(|(name, _)| name));
        for command in all.get_subcommands() {
            assert!(command.get_all_aliases().next().is_none(), "{}", command.get_name());
            assert_eq!(options(&with_options(command.get_name()).unwrap()), options(command));
        }
        // the headings of these options in `--help` differ, so only their ids are compared
        let ids =
            |command: &Command| command.get_arguments().map(|arg| arg.get_id().clone()).collect::<Vec<_>>();
        assert_eq!(ids(&general()), ids(&all));
    }

    #[test]
    fn valid_lines_are_parsed_and_others_are_rejected() {
        let parsed = |line: &str| matches(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for valid in ["w check -v a b", "w -q run a --color=never", "w list"] {
            let (one, all) = (parsed(valid).unwrap(), Args::command().get_matches_from(valid.split(' ')));
            assert_eq!(format!("{one:?}"), format!("{all:?}"), "{valid}");
        }
        for other in [
            "w",
            "w run",
            "w help run",
            "w chek a",
            "w check --help",
            "w --version",
            "w -V check",
            "w check --nosuch",
            "w --color run check a",
            "w --time-limit 3 run a",
        ] {
            assert!(parsed(other).is_none(), "{other}");
        }
    }
}
