//! The tools that exist at this moment.
//!
//! Tools are added and removed in contributions: all tools of one registration stay until its
//! [`Registration`] is dropped. Contributions with the same name form a stack, so dropping the latest
//! one makes the one before it current again.

mod choices;
pub(crate) mod materialized;

use std::{
    collections::{BTreeSet, HashMap},
    io,
    path::Path,
    sync::{Arc, Weak},
};

use opencode_llm::InputSchema;
use opencode_schema::id::SessionID;
use parking_lot::Mutex;

use crate::contract::hooks::{CallHooks, NoCallHooks};
use crate::contract::tool::Tool;
use crate::output::managed_output::ManagedOutput;
use crate::registry::materialized::Materialized;

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// The name for calls.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: InputSchema,
    /// True if the list of agents that accept tasks is appended to the description. The list differs
    /// between Locations and between agents.
    pub lists_subagents: bool,
}

/// A name that no provider would accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid tool name: {name}")]
pub struct RegistrationError {
    /// The refused name.
    pub name: String,
}

/// The tools of one scope: of one Location, or of all Locations of a host. A clone is another handle to the same
/// tools.
#[derive(Clone, Default)]
pub struct Contributions {
    slots: Arc<Mutex<Slots>>,
}

/// In the order in which the names were first registered. No stack is empty.
type Slots = Vec<Slot>;

struct Slot {
    name: String,
    stack: Vec<Arc<Entry>>,
}

/// One tool of one registration. Its address is the identity of that registration.
pub(crate) struct Entry {
    pub(crate) definition: Arc<ToolDefinition>,
    pub(crate) permission: String,
    pub(crate) recovers: bool,
    pub(crate) tool: Arc<dyn Tool>,
}

impl Contributions {
    /// Adds tools with their names until the result is dropped. Adds none if a name is refused.
    pub fn register(
        &self,
        tools: Vec<(String, Arc<dyn Tool>)>,
    ) -> Result<Registration, RegistrationError> {
        Ok(self.insert(entries(tools)?))
    }

    fn insert(&self, entries: Vec<Arc<Entry>>) -> Registration {
        let mut slots = self.slots.lock();
        for entry in &entries {
            let name = &entry.definition.name;
            let position = slots.iter().position(|slot| slot.name == *name);
            let position = position.unwrap_or_else(|| {
                slots.push(Slot {
                    name: name.clone(),
                    stack: Vec::new(),
                });
                slots.len() - 1
            });
            slots[position].stack.push(Arc::clone(entry));
        }
        drop(slots);
        Registration {
            slots: Arc::downgrade(&self.slots),
            entries,
        }
    }

    /// Returns the current tool of a name.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Entry>> {
        let slots = self.slots.lock();
        let slot = slots.iter().find(|slot| slot.name == name)?;
        slot.stack.last().map(Arc::clone)
    }

    fn current(&self) -> Vec<Arc<Entry>> {
        let slots = self.slots.lock();
        let current = slots.iter().filter_map(|slot| slot.stack.last());
        current.map(Arc::clone).collect()
    }
}

/// Returns the entries of new tools. It calls the tools, which are foreign code, so the caller must hold no lock.
fn entries(tools: Vec<(String, Arc<dyn Tool>)>) -> Result<Vec<Arc<Entry>>, RegistrationError> {
    if let Some((name, _)) = tools.iter().find(|(name, _)| !is_tool_name(name)) {
        return Err(RegistrationError { name: name.clone() });
    }
    Ok(tools.into_iter().map(Entry::new).collect())
}

impl Entry {
    fn new((name, tool): (String, Arc<dyn Tool>)) -> Arc<Self> {
        Arc::new(Self {
            permission: tool.permission().unwrap_or(&name).to_owned(),
            recovers: tool.recovers(),
            definition: Arc::new(ToolDefinition {
                description: tool.description(),
                input_schema: tool.input_schema().into(),
                lists_subagents: tool.lists_subagents(),
                name,
            }),
            tool,
        })
    }
}

/// Keeps one contribution alive; dropping it removes exactly that contribution.
#[must_use = "the tools are removed when this is dropped"]
pub struct Registration {
    /// Weak, so that a registration does not keep the tools of a closed host alive.
    slots: Weak<Mutex<Slots>>,
    entries: Vec<Arc<Entry>>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some(slots) = self.slots.upgrade() else {
            return;
        };
        // The tools are dropped with `entries`, after the lock is released, because their `drop` is
        // foreign code.
        let mut slots = slots.lock();
        for slot in slots.iter_mut() {
            slot.stack
                .retain(|entry| !self.entries.iter().any(|mine| Arc::ptr_eq(mine, entry)));
        }
        slots.retain(|slot| !slot.stack.is_empty());
    }
}

/// The tools of a host: those of all its Locations, and those of single Locations. A tool of a Location shadows the tool
/// of all Locations with the same name.
pub struct Registry {
    scopes: Arc<Scopes>,
    output: Arc<ManagedOutput>,
    hooks: Arc<dyn CallHooks>,
}

/// The registered tools of a host.
pub(crate) struct Scopes {
    host: Contributions,
    /// The tools of single Locations, by directory. A Location without tools may be absent.
    locations: Mutex<HashMap<String, Contributions>>,
}

impl Scopes {
    /// Returns the current tool of a name in a Location.
    pub(crate) fn get(&self, directory: &str, name: &str) -> Option<Arc<Entry>> {
        let location = self.locations.lock().get(directory).cloned();
        let found = location.and_then(|location| location.get(name));
        found.or_else(|| self.host.get(name))
    }

    /// Returns the current tools of a Location, the tools of all Locations first. A tool that shadows another one takes
    /// its position.
    fn current(&self, directory: &str) -> Vec<Arc<Entry>> {
        let location = self.locations.lock().get(directory).cloned();
        let mut entries = self.host.current();
        for entry in location.iter().flat_map(Contributions::current) {
            let name = &entry.definition.name;
            match entries
                .iter_mut()
                .find(|other| other.definition.name == *name)
            {
                Some(shadowed) => *shadowed = entry,
                None => entries.push(entry),
            }
        }
        entries
    }
}

impl Registry {
    /// Creates a registry with these tools of all Locations.
    #[must_use]
    pub fn new(host: Contributions, output: Arc<ManagedOutput>) -> Self {
        let scopes = Arc::new(Scopes {
            host,
            locations: Mutex::default(),
        });
        Self {
            scopes,
            output,
            hooks: Arc::new(NoCallHooks),
        }
    }

    /// Returns the same registry with functions that change calls.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn CallHooks>) -> Self {
        Self { hooks, ..self }
    }

    /// Returns the tools of all Locations.
    #[must_use]
    pub fn host(&self) -> &Contributions {
        &self.scopes.host
    }

    /// Adds tools of one Location with their names until the result is dropped. Adds none if a name is refused.
    pub fn register_in(
        &self,
        directory: &str,
        tools: Vec<(String, Arc<dyn Tool>)>,
    ) -> Result<Registration, RegistrationError> {
        let entries = entries(tools)?;
        let mut locations = self.scopes.locations.lock();
        locations.retain(|_, tools| !tools.slots.lock().is_empty());
        let location = locations.entry(directory.to_owned()).or_default();
        Ok(location.insert(entries))
    }

    /// Returns the directory of Managed Tool Output Files. It is created with the first file.
    #[must_use]
    pub fn managed_output(&self) -> Arc<Path> {
        Arc::clone(self.output.directory())
    }

    /// Stores a file that a provider made for a session tree as a Managed Tool Output File, and returns its path.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn store_file(
        &self,
        content: Vec<u8>,
        extension: &str,
        root: &SessionID,
    ) -> io::Result<String> {
        self.output.store(content, extension, root).await
    }

    /// True if the current tool of a name in a Location can find out the effect of an abandoned call.
    #[must_use]
    pub fn recovers(&self, directory: &str, name: &str) -> bool {
        let entry = self.scopes.get(directory, name);
        entry.is_some_and(|entry| entry.recovers)
    }

    /// Returns the names of the tools of a Location, and the actions for which they ask.
    pub fn names(&self, directory: &str) -> BTreeSet<String> {
        let entries = self.scopes.current(directory).into_iter();
        let names = |entry: Arc<Entry>| [entry.definition.name.clone(), entry.permission.clone()];
        entries.flat_map(names).collect()
    }

    /// Fixes the tools of one Provider Turn in a Location: those with a permission action that `visible` accepts.
    pub fn materialize(&self, directory: &str, visible: impl Fn(&str) -> bool) -> Materialized {
        let mut entries = self.scopes.current(directory);
        entries.retain(|entry| visible(&entry.permission));
        Materialized::new(
            entries,
            Arc::clone(&self.scopes),
            directory.to_owned(),
            Arc::clone(&self.output),
            Arc::clone(&self.hooks),
        )
    }
}

fn is_tool_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && name.len() <= 64
}
