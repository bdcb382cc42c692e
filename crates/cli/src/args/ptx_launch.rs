//! The options that describe the launch of a module's kernel, or override a launch file.

use warpbound_judge::load::{LaunchOptions, OptionNames};

/// The options of a launch: a bare .ptx file needs them all; otherwise they override the launch
/// file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Launch (a .ptx file needs these options; they override a launch file)")]
pub struct PtxLaunch {
    /// Kernel: its name or a part of it, mangled or not
    ///
    /// It may be left out if the file has a single kernel.
    #[arg(long)]
    pub entry: Option<String>,
    /// Number of blocks: X or X,Y or X,Y,Z
    #[arg(long, value_parser = parse_shape, value_name = "X,Y,Z")]
    pub grid: Option<Shape>,
    /// Threads per block: X or X,Y or X,Y,Z
    #[arg(long, value_parser = parse_shape, value_name = "X,Y,Z")]
    pub block: Option<Shape>,
    /// An argument of the kernel, as in a launch file, or a number (repeatable)
    ///
    /// Examples are U32(1000) and Buffer(name: "a", elem: F32, len: 64, init: Iota). Without WHICH,
    /// the arguments given are the whole list, in order. WHICH=ARG replaces one argument: WHICH is
    /// its position from 0, or the name of its buffer or parameter.
    #[arg(long, value_name = "[WHICH=]ARG", allow_hyphen_values = true)]
    pub arg: Vec<String>,
    /// Dynamic shared memory per block, in bytes
    #[arg(long, value_name = "BYTES")]
    pub dynamic_shared: Option<u32>,
    /// Registers per thread, if they are to limit occupancy
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub registers: Option<u32>,
    /// Use the code of another compiler: MODULE.NAME.ptx instead of MODULE.ptx
    ///
    /// MODULE.ptx is the file that the launch or program names. If NAME is an architecture, such as
    /// sm_86, the machine code MODULE.NAME.cubin is used. Nearly all embedded modules have `nvrtc`
    /// and `sm_61`. Some have `sm_86`; `vecadd` and `reduction` also have `sm_75`, `sm_90` and
    /// `sm_120`.
    #[arg(long, value_name = "NAME")]
    pub compiler: Option<String>,
    /// Run only launch N of a program, or kernel N of a kernelslist.g, from 0
    ///
    /// Memory has the contents that the earlier launches of the program leave.
    #[arg(long, value_name = "N")]
    pub launch: Option<u64>,
    /// Change the value of a number that the `let` of a program file defines (repeatable)
    #[arg(long = "let", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub constant: Vec<String>,
    /// With traces: assume that a predicate is read wherever one may be read
    ///
    /// Traces leave out predicates. With this option, an instruction that may read a predicate
    /// depends on the last instruction that set one.
    #[arg(long)]
    pub conservative_predicates: bool,
    /// With traces: the op class of unknown opcodes [default: alu.misc]
    #[arg(long, value_name = "CLASS")]
    pub unknown_op: Option<String>,
}

impl PtxLaunch {
    /// Returns these options with a seed, for the loader.
    pub fn options(&self, seed: u64) -> LaunchOptions {
        let extents = |Shape(x, y, z): Shape| [x, y, z];
        LaunchOptions {
            entry: self.entry.clone(),
            grid: self.grid.map(extents),
            block: self.block.map(extents),
            args: self.arg.clone(),
            dynamic_shared: self.dynamic_shared,
            registers: self.registers,
            compiler: self.compiler.clone(),
            assemble: None,
            launch: self.launch,
            constants: self.constant.clone(),
            conservative_predicates: self.conservative_predicates,
            unknown_op: self.unknown_op.clone(),
            seed,
            names: OptionNames { prefix: "--", together: "command line" },
        }
    }

    /// Sets an option by its name in plans: `block`, `let n` or `arg n`, for example.
    ///
    /// # Errors
    /// If the name or the value is invalid: the message and a hint.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), (String, String)> {
        let wrong = |why: String| (format!("`{option}`: `{value}`: {why}"), String::new());
        let shape = || parse_shape(value).map(Some).map_err(wrong);
        let count = || value.parse::<u32>().map(Some).map_err(|error| wrong(error.to_string()));
        match option.split_once(' ').map_or((option, ""), |(option, name)| (option, name.trim())) {
            ("entry", "") => self.entry = Some(value.to_owned()),
            ("grid", "") => self.grid = shape()?,
            ("block", "") => self.block = shape()?,
            ("dynamic-shared", "") => self.dynamic_shared = count()?,
            ("registers", "") => self.registers = count()?,
            ("compiler", "") => self.compiler = Some(value.to_owned()),
            ("conservative-predicates", "") => {
                self.conservative_predicates =
                    value.parse().map_err(|_| wrong("true or false".to_owned()))?;
            }
            ("unknown-op", "") => self.unknown_op = Some(value.to_owned()),
            // in a plan, `all` stands for the whole application, which is a point of its own
            ("launch", "") if value == "all" => self.launch = None,
            ("launch", "") => {
                self.launch =
                    Some(value.parse().map_err(|error: std::num::ParseIntError| wrong(error.to_string()))?);
            }
            ("let", name) if !name.is_empty() => self.constant.push(format!("{name}={value}")),
            ("arg", which) if !which.is_empty() => self.arg.push(format!("{which}={value}")),
            _ => {
                let message = format!("`{option}` is no launch option");
                let hint = "block, grid, entry, dynamic-shared, registers, compiler, launch, conservative-predicates, unknown-op, `let NAME`, \
                     `arg WHICH`";
                return Err((message, hint.to_owned()));
            }
        }
        Ok(())
    }

    /// Returns these options as arguments, for a printed command that repeats a run.
    pub fn words(&self) -> Vec<String> {
        let Self { entry, grid, block, arg, dynamic_shared, registers, compiler, launch, constant, .. } =
            self;
        let mut words = Vec::new();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        let shape = |s: &Shape| format!("{},{},{}", s.0, s.1, s.2);
        entry.iter().for_each(|e| option("--entry", e.clone()));
        grid.iter().for_each(|s| option("--grid", shape(s)));
        block.iter().for_each(|s| option("--block", shape(s)));
        arg.iter().for_each(|a| option("--arg", a.clone()));
        dynamic_shared.iter().for_each(|n| option("--dynamic-shared", n.to_string()));
        registers.iter().for_each(|n| option("--registers", n.to_string()));
        compiler.iter().for_each(|c| option("--compiler", c.clone()));
        launch.iter().for_each(|n| option("--launch", n.to_string()));
        constant.iter().for_each(|c| option("--let", c.clone()));
        self.unknown_op.iter().for_each(|class| option("--unknown-op", class.clone()));
        if self.conservative_predicates {
            words.push("--conservative-predicates".to_owned());
        }
        words
    }
}

/// The extents along x, y and z.
#[derive(Clone, Copy, Debug)]
pub struct Shape(pub u32, pub u32, pub u32);

pub(super) fn parse_shape(text: &str) -> Result<Shape, String> {
    let parts: Result<Vec<u32>, _> =
        text.trim_matches(['(', ')']).split([',', 'x']).map(|part| part.trim().parse::<u32>()).collect();
    match parts.as_deref() {
        Ok([x]) => Ok(Shape(*x, 1, 1)),
        Ok([x, y]) => Ok(Shape(*x, *y, 1)),
        Ok([x, y, z]) => Ok(Shape(*x, *y, *z)),
        _ => Err("expected X or X,Y or X,Y,Z".to_owned()),
    }
}
