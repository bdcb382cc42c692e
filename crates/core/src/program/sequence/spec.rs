//! The format of program files.

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
    /// A description of the application.
    #[serde(default)]
    pub doc: String,
    /// The PTX file of launches that do not name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Named constants; a constant may use those before it.
    #[serde(rename = "let", default, deserialize_with = "unique_keys", serialize_with = "as_map")]
    pub constants: Vec<(String, Expr)>,
    /// The buffers in device memory.
    #[serde(default)]
    pub buffers: Vec<BufferSpec>,
    /// The contents of module variables that the host sets before the first launch.
    #[serde(default)]
    pub symbols: Vec<BufferSpec>,
    /// The textures before the first step; the fields are those of a launch file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<TextureSpec>,
    /// The surfaces before the first step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceSpec>,
    /// The steps in order.
    pub steps: Vec<StepSpec>,
}

/// A step of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum StepSpec {
    /// Runs a kernel to completion; the fields are those of
    /// [`LaunchSpec`](crate::program::launch::LaunchSpec).
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
    /// Repeats the steps a number of times.
    Repeat(Expr, Vec<StepSpec>),
    /// A loop like `for (var = from; while; var = next)` in C.
    For {
        /// The name of the counter, which `while`, `next` and the steps can use.
        var: String,
        /// The initial value.
        #[serde(default)]
        from: Expr,
        /// The loop continues as long as this is not 0.
        #[serde(rename = "while")]
        condition: Expr,
        /// The next value; by default the counter is incremented.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Expr>,
        /// The body of the loop.
        #[serde(rename = "do")]
        steps: Vec<StepSpec>,
    },
    /// Swaps the names of two buffers, like a host that swaps two pointers.
    Swap(String, String),
    /// Rebinds a texture: following launches use this buffer and these sampling parameters.
    Bind(Box<TextureSpec>),
    /// Rebinds a surface.
    BindSurface(Box<SurfaceSpec>),
    /// Copies bytes between buffers or variables.
    Copy {
        /// The source.
        from: ArgSpec,
        /// The destination.
        to: ArgSpec,
        /// The number of bytes.
        bytes: Expr,
    },
    /// Copies data from the host to a buffer or variable.
    Write {
        /// The destination.
        to: ArgSpec,
        /// The element type.
        elem: Elem,
        /// The number of elements.
        len: Expr,
        /// The contents.
        init: Init,
    },
}

impl SequenceSpec {
    /// Parses a program file.
    ///
    /// # Errors
    /// The text is not an application; the diagnostic has the location.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        from_ron(source)
    }

    /// Returns the paths of the modules that the file names.
    pub fn modules(&mut self) -> Vec<&mut String> {
        let of_steps = self.steps.iter_mut().flat_map(modules_of);
        self.module.iter_mut().chain(of_steps).collect()
    }

    /// Returns the paths of the data files that the file names.
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
