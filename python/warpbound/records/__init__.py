"""The outputs of commands as classes, one module for each command. They are generated from the schemas."""
