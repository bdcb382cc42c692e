//! Options that say what a kernel of a module is launched with, or replace what a launch file says.

/// What options say of a launch: all of it for a bare .ptx file, else what they replace.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Launch: needed for a .ptx file, replacing what a launch file says")]
pub struct PtxLaunch {
    /// Kernel: its name or a part of it, mangled or not; may be left out if the file has only one
    #[arg(long)]
    pub entry: Option<String>,
    /// Blocks: X or X,Y or X,Y,Z
    #[arg(long, value_parser = parse_shape, value_name = "X,Y,Z")]
    pub grid: Option<Shape>,
    /// Threads per block: X or X,Y or X,Y,Z
    #[arg(long, value_parser = parse_shape, value_name = "X,Y,Z")]
    pub block: Option<Shape>,
    /// An argument as in a launch file, U32(1000) or Buffer(name: "a", elem: F32, len: 64, init: Iota), or a number. In
    /// order they are the whole list; WHICH=ARG replaces one, by position from 0, or name of the buffer or parameter
    #[arg(long, value_name = "[WHICH=]ARG", allow_hyphen_values = true)]
    pub arg: Vec<String>,
    /// Dynamic shared memory, bytes
    #[arg(long, value_name = "BYTES")]
    pub dynamic_shared: Option<u32>,
    /// Registers per thread, if they are to limit occupancy
    #[arg(long, value_name = "N")]
    pub registers: Option<u32>,
    /// Other code: MODULE.NAME.ptx beside the MODULE.ptx that the launch or program names, or, if NAME is an
    /// architecture, the machine code MODULE.NAME.cubin; the embedded kernels have `nvrtc` and `sm_61`
    #[arg(long, value_name = "NAME")]
    pub compiler: Option<String>,
    /// Of a program file: this launch alone, from 0, in the memory that those before it leave; of a kernelslist.g this kernel
    #[arg(long, value_name = "N")]
    pub launch: Option<u64>,
    /// Of a program file: another value for a number that its `let` names
    #[arg(long = "let", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub constant: Vec<String>,
    /// Of traces, which leave out predicates: whatever may read one waits for the last instruction that set one
    #[arg(long)]
    pub conservative_predicates: bool,
    /// Of traces: the op class of opcodes that are not known [default: alu.misc]
    #[arg(long, value_name = "CLASS")]
    pub unknown_op: Option<String>,
}

impl PtxLaunch {
    /// Whether any of it was given.
    pub fn is_given(&self) -> bool {
        self.says_a_launch() || self.launch.is_some() || !self.constant.is_empty() || self.compiler.is_some()
    }

    /// Whether something was given that a launch file says.
    pub fn says_a_launch(&self) -> bool {
        self.entry.is_some()
            || self.grid.is_some()
            || self.block.is_some()
            || !self.arg.is_empty()
            || self.dynamic_shared.is_some()
            || self.registers.is_some()
    }

    /// An option by its name in plans, `block`, `let n` or `arg n`, and its value.
    ///
    /// # Errors
    /// What is wrong with the name or the value, and what to do about it.
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
            // what a plan says where the whole application is a point beside its kernels
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

    /// The file of a module that a launch or program names: the one of the chosen compiler.
    pub fn module(&self, file: &str) -> String {
        match &self.compiler {
            // an architecture stands for machine code
            Some(name) => {
                let ending = if name.starts_with("sm_") { "cubin" } else { "ptx" };
                format!("{}.{name}.{ending}", file.strip_suffix(".ptx").unwrap_or(file))
            }
            None => file.to_owned(),
        }
    }

    /// What reports call a launch or program of this name.
    pub fn name_of(&self, stem: &str) -> String {
        self.compiler.as_ref().map_or_else(|| stem.to_owned(), |compiler| format!("{stem}@{compiler}"))
    }

    /// The options again, for a command that repeats a run.
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

/// Extent per axis.
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
