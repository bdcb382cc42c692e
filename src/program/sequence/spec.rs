//! A program file as people write it.

use serde::{Deserialize, Serialize, Serializer};

use crate::diag::{Diagnostics, SourceText, from_ron, unique_keys};
use crate::program::expr::Expr;
use crate::program::launch::{
    ArgSpec, BufferSpec, Elem, Init, ShapeSpec, SurfaceSpec, TextureSpec, data_file,
};

/// A program file: launches over shared buffers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename = "Program", deny_unknown_fields)]
pub struct SequenceSpec {
    /// What the program shows.
    #[serde(default)]
    pub doc: String,
    /// PTX file of launches that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Names for numbers; later ones may use those before.
    #[serde(rename = "let", default, deserialize_with = "unique_keys", serialize_with = "as_map")]
    pub constants: Vec<(String, Expr)>,
    /// Device memory.
    #[serde(default)]
    pub buffers: Vec<BufferSpec>,
    /// Contents of module variables, set before the first launch.
    #[serde(default)]
    pub symbols: Vec<BufferSpec>,
    /// Textures before the first step; fields as in a launch file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<TextureSpec>,
    /// Surfaces before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceSpec>,
    /// What happens, in order.
    pub steps: Vec<StepSpec>,
}

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum StepSpec {
    /// Runs a kernel to its end; fields as in [`LaunchSpec`](crate::program::launch::LaunchSpec).
    #[allow(missing_docs, reason = "as in LaunchSpec")]
    Launch {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        module: Option<String>,
        entry: String,
        grid: ShapeSpec,
        block: ShapeSpec,
        #[serde(default)]
        dynamic_shared: Expr,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        registers: Option<u32>,
        #[serde(default)]
        args: Vec<ArgSpec>,
    },
    /// The steps, so many times.
    Repeat(Expr, Vec<StepSpec>),
    /// As `for (var = from; while; var = next)` in C.
    For {
        /// The name of the counter; it has a value in `while`, `next` and the steps.
        var: String,
        /// Its first value.
        #[serde(default)]
        from: Expr,
        /// The steps are done as long as this is not 0.
        #[serde(rename = "while")]
        condition: Expr,
        /// The next value; one more if nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Expr>,
        /// The steps.
        #[serde(rename = "do")]
        steps: Vec<StepSpec>,
    },
    /// The names of two buffers are exchanged, as a host swaps pointers.
    Swap(String, String),
    /// From here on, a texture of this name is this one: another buffer, or read in another way.
    Bind(Box<TextureSpec>),
    /// Likewise a surface.
    BindSurface(Box<SurfaceSpec>),
    /// Copies bytes between buffers or variables.
    Copy {
        /// From here.
        from: ArgSpec,
        /// To here.
        to: ArgSpec,
        /// So many.
        bytes: Expr,
    },
    /// Writes to a buffer or variable what the host has.
    Write {
        /// To here.
        to: ArgSpec,
        /// Type of the elements.
        elem: Elem,
        /// Elements.
        len: Expr,
        /// What they are.
        init: Init,
    },
}

impl SequenceSpec {
    /// Reads a program file.
    ///
    /// # Errors
    /// Where the text stops being a program.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        from_ron(source)
    }

    /// The modules that it names.
    pub fn modules(&mut self) -> Vec<&mut String> {
        let of_steps = self.steps.iter_mut().flat_map(modules_of);
        self.module.iter_mut().chain(of_steps).collect()
    }

    /// The files of data that it names.
    pub fn data_files(&mut self) -> Vec<&mut String> {
        let buffers = self.buffers.iter_mut().chain(&mut self.symbols);
        let of_buffers = buffers.filter_map(|buffer| data_file(&mut buffer.init));
        of_buffers.chain(self.steps.iter_mut().flat_map(data_of)).collect()
    }
}

fn modules_of(step: &mut StepSpec) -> Vec<&mut String> {
    match step {
        StepSpec::Launch { module, .. } => module.iter_mut().collect(),
        StepSpec::Repeat(_, steps) | StepSpec::For { steps, .. } => {
            steps.iter_mut().flat_map(modules_of).collect()
        }
        _ => Vec::new(),
    }
}

fn data_of(step: &mut StepSpec) -> Vec<&mut String> {
    match step {
        StepSpec::Write { init, .. } => data_file(init).into_iter().collect(),
        StepSpec::Repeat(_, steps) | StepSpec::For { steps, .. } => {
            steps.iter_mut().flat_map(data_of).collect()
        }
        _ => Vec::new(),
    }
}

fn as_map<S: Serializer>(constants: &[(String, Expr)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(constants.iter().map(|(name, value)| (name, value)))
}
