//! The options of `schema`.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
pub struct Schema {
    #[command(subcommand)]
    pub action: SchemaAction,
}

#[derive(Debug, Subcommand)]
pub enum SchemaAction {
    /// List the schemas: one per command with --format json, and `errors`
    List,
    /// Print a schema
    Print {
        /// The name of a command, or `errors` for the output of a command that has no result
        #[arg(value_name = "NAME")]
        schema: String,
    },
    /// Check outputs of commands against the schemas of the commands
    ///
    /// For each mismatch the error names the path to the value and the reason.
    Check {
        /// Files with an output of --format json; `-` is stdin
        #[arg(required = true)]
        files: Vec<String>,
    },
}
