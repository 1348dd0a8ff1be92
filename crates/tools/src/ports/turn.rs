//! The ports of a Provider Turn, and how a tool gets the one that it needs.

use std::sync::Arc;

use opencode_location::config::ImageLimits;

use crate::ports::question::Questions;
use crate::ports::shell::Shell;
use crate::ports::skill::Skills;
use crate::ports::task::Tasks;
use crate::ports::todo::Todos;

/// The ports of one Provider Turn. Most tools need none of them. A [`TypedTool`](crate::TypedTool) receives only the one
/// that it declares.
#[derive(Clone)]
pub struct TurnPorts {
    /// Limits on images for the model. The settlement of every call checks them as well.
    pub image_limits: ImageLimits,
    /// Asks the user the questions of calls.
    pub questions: Arc<dyn Questions>,
    /// The shell for commands.
    pub shell: Arc<Shell>,
    /// Provides the skills that the agent may load.
    pub skills: Arc<dyn Skills>,
    /// Runs the tasks that calls give to other agents.
    pub tasks: Arc<dyn Tasks>,
    /// Stores the todo list.
    pub todos: Arc<dyn Todos>,
}

/// The part of a Provider Turn that one tool needs, besides the context of its call.
pub trait Port: Send {
    /// Takes the port from those of the turn.
    fn of(ports: &TurnPorts) -> Self;
}

/// The tool needs no port.
impl Port for () {
    fn of(_: &TurnPorts) {}
}

impl Port for ImageLimits {
    fn of(ports: &TurnPorts) -> Self {
        ports.image_limits
    }
}

impl Port for Arc<dyn Questions> {
    fn of(ports: &TurnPorts) -> Self {
        Arc::clone(&ports.questions)
    }
}

impl Port for Arc<Shell> {
    fn of(ports: &TurnPorts) -> Self {
        Arc::clone(&ports.shell)
    }
}

impl Port for Arc<dyn Skills> {
    fn of(ports: &TurnPorts) -> Self {
        Arc::clone(&ports.skills)
    }
}

impl Port for Arc<dyn Tasks> {
    fn of(ports: &TurnPorts) -> Self {
        Arc::clone(&ports.tasks)
    }
}

impl Port for Arc<dyn Todos> {
    fn of(ports: &TurnPorts) -> Self {
        Arc::clone(&ports.todos)
    }
}
