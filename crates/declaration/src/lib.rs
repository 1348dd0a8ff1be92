//! The settings of programs and users, as data: the keys of `opencode.json` and the options of a host.
//!
//! Each name is declared once, with its type, its default, its bounds, its meaning, and its effect in files that the host
//! does not trust. The host reads and checks values with this declaration. `cargo xtask codegen` writes the TypeScript
//! types, the checks of options, the tables of the documents and the JSON Schema from it. So a name in one of them exists in all of them.

pub mod configuration;
pub mod options;
pub mod vocabulary;
