//! PTX: what compilers write, what files may hold, and what must not make it fall over.

mod compilers;
mod files;
mod robustness;
