//! Helpers for the tests of this crate.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use opencode_location::config::ImageLimits;
use opencode_net::{DownloadError, HttpRequest, HttpResponse, Web};
use opencode_schema::{
    Record,
    clock::{Clock, SystemClock},
    id::{IdSource, MessageID, SessionID},
    message::{ErrorKind, ToolContent},
    permission::PermissionEffect,
    question::QuestionAnswer,
    skill::SkillInfo,
    todo::Todo,
};
use opencode_tools::{
    ActionRules, CallKind, Contributions, FileScope, ManagedOutput, OutputLimits, PermissionError,
    PermissionRequest, Permissions, Progress, QuestionError, QuestionRequest, Questions, Registry,
    SearchServices, SessionOutputs, Settlement, SharedFolders, Shell, Skills, TaskError,
    TaskOutcome, TaskRequest, Tasks, Todos, TodosError, Tool, ToolCall, ToolContext, ToolFailure,
    ToolOutput, TurnContext, TurnPorts,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Returns what the calls of a turn in this directory share.
pub(crate) fn context(directory: &Path) -> TurnContext {
    TurnContext {
        session_id: SessionID::parse("ses_1").expect("it has the prefix"),
        agent: "build".to_owned(),
        message_id: MessageID::parse("msg_1").expect("it has the prefix"),
        files: Arc::new(FileScope {
            directory: directory.into(),
            home: directory.with_file_name("home").into(),
            folders: folders(directory),
            guarded: Arc::default(),
        }),
        cancel: CancellationToken::new(),
        permissions: Recorder::new(|_| Ok(())),
        progress: Arc::new(NoProgressReports),
        ports: TurnPorts {
            image_limits: ImageLimits::default(),
            questions: Arc::new(NoProgressReports),
            shell: Arc::new(Shell::new(None, Arc::default())),
            skills: Arc::new(NoProgressReports),
            tasks: Arc::new(NoProgressReports),
            todos: Arc::new(NoProgressReports),
        },
        output_limits: OutputLimits::default(),
        secrets: opencode_location::secret::Redactor::default(),
    }
}

/// The built-in tools, with a web that reaches no server.
pub(crate) fn built_in_tools() -> Vec<(String, Arc<dyn Tool>)> {
    built_in_tools_at(&SystemClock)
}

/// The same tools, built at the time of this clock.
pub(crate) fn built_in_tools_at(clock: &dyn Clock) -> Vec<(String, Arc<dyn Tool>)> {
    let web: Arc<dyn Web> = Arc::new(NoProgressReports);
    let search = SearchServices::from_variables(|_| None);
    opencode_tools::built_in_tools(clock, &web, search)
}

/// The shared folders of a Location, beside it.
pub(crate) fn folders(directory: &Path) -> SharedFolders {
    let data = directory.with_file_name("data");
    SharedFolders {
        outputs: SessionOutputs {
            directory: data.join("tool-output").into(),
            root: SessionID::parse("ses_1").expect("it has the prefix"),
        },
        copies: [data.join("repos")].into(),
        references: Arc::default(),
    }
}

/// Answers no question, has no skill, accepts no task, stores no todos, and reaches no server.
struct NoProgressReports;

impl Questions for NoProgressReports {
    fn ask(&self, _: QuestionRequest) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, QuestionError>> {
        Box::pin(std::future::ready(Err(QuestionError::Unanswered)))
    }
}

impl Progress for NoProgressReports {
    fn report(&self, _: &str, _: Record, _: Vec<ToolContent>) {}
}

impl Todos for NoProgressReports {
    fn replace<'a>(
        &'a self,
        _: &'a SessionID,
        _: Vec<Todo>,
    ) -> BoxFuture<'a, Result<(), TodosError>> {
        Box::pin(std::future::ready(Err(TodosError("nobody".to_owned()))))
    }
}

impl Web for NoProgressReports {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, DownloadError>> {
        Box::pin(std::future::ready(Err(DownloadError("no web".to_owned()))))
    }
}

impl Skills for NoProgressReports {
    fn find<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<SkillInfo>> {
        Box::pin(std::future::ready(None))
    }

    fn names(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

impl Tasks for NoProgressReports {
    fn accepts(&self, _: &str) -> bool {
        false
    }

    fn agents(&self) -> Vec<String> {
        Vec::new()
    }

    fn run(&self, _: TaskRequest) -> BoxFuture<'_, Result<TaskOutcome, TaskError>> {
        Box::pin(std::future::ready(Err(TaskError::Interrupted)))
    }
}

pub(crate) fn registry(host: &Contributions, data: &Path) -> Registry {
    let output = ManagedOutput::new(
        data.join("tool-output"),
        Arc::new(IdSource::new(Arc::new(SystemClock))),
    );
    Registry::new(host.clone(), Arc::new(output))
}

pub(crate) fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "call_1".to_owned(),
        name: name.to_owned(),
        input,
        kind: CallKind::New,
        problem: None,
    }
}

pub(crate) fn failed(message: impl Into<String>) -> Settlement {
    Settlement::Failed {
        message: message.into(),
        kind: ErrorKind::Tool,
    }
}

/// Returns the settlement of a call that a rule denies.
pub(crate) fn denied(refused: impl std::fmt::Display) -> Settlement {
    Settlement::Failed {
        message: format!("{refused}: {NOT_ALLOWED}"),
        kind: ErrorKind::Permission,
    }
}

/// The reason that a model reads for a call that a rule denies.
pub(crate) const NOT_ALLOWED: &str =
    "it is not allowed. A permission rule denies it, or no user is there to decide";

/// Returns the reason behind the generic text of a failed call.
pub(crate) fn reason(settled: &Settlement, refused: impl std::fmt::Display) -> String {
    let Settlement::Failed {
        message,
        kind: ErrorKind::Tool,
    } = settled
    else {
        panic!("{settled:?}");
    };
    let reason = message.strip_prefix(&format!("{refused}: "));
    reason.unwrap_or_else(|| panic!("{message}")).to_owned()
}

pub(crate) fn success(structured: Value, content: Vec<ToolContent>) -> Settlement {
    let Value::Object(structured) = structured else {
        panic!("structured values are objects");
    };
    Settlement::Success {
        structured,
        content,
        output_paths: vec![],
        explored: vec![],
    }
}

pub(crate) fn text(text: &str) -> ToolContent {
    ToolContent::Text {
        text: text.to_owned(),
    }
}

type Run =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolFailure>> + Send + Sync;

/// A tool that runs a closure.
pub(crate) struct Scripted {
    description: &'static str,
    permission: Option<&'static str>,
    run: Box<Run>,
}

impl Scripted {
    pub(crate) fn new<F>(run: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolFailure>> + Send + 'static,
    {
        Self {
            description: "",
            permission: None,
            run: Box::new(move |input, context| Box::pin(run(input, context))),
        }
    }

    /// Answers every call with its own description.
    pub(crate) fn named(description: &'static str) -> Self {
        let mut tool = Self::new(move |_, _| async move { answer(json!({"from": description})) });
        tool.description = description;
        tool
    }

    pub(crate) fn with_permission(mut self, permission: &'static str) -> Self {
        self.permission = Some(permission);
        self
    }
}

impl Tool for Scripted {
    fn description(&self) -> String {
        self.description.to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn permission(&self) -> Option<&str> {
        self.permission
    }

    fn run(
        &self,
        input: Value,
        context: ToolContext,
        _: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        (self.run)(input, context)
    }
}

pub(crate) fn answer(structured: Value) -> Result<ToolOutput, ToolFailure> {
    Ok(ToolOutput {
        structured,
        ..ToolOutput::default()
    })
}

pub(crate) fn tools(tools: Vec<(&str, Scripted)>) -> Vec<(String, Arc<dyn Tool>)> {
    let tools = tools.into_iter();
    tools
        .map(|(name, tool)| (name.to_owned(), Arc::new(tool) as Arc<dyn Tool>))
        .collect()
}

type Answer = dyn Fn(&PermissionRequest) -> Result<(), PermissionError> + Send + Sync;

/// Records all requests and answers them with a closure.
pub(crate) struct Recorder {
    pub(crate) asked: Mutex<Vec<PermissionRequest>>,
    denied: Vec<(&'static str, &'static str)>,
    answer: Box<Answer>,
}

impl Recorder {
    pub(crate) fn new(
        answer: impl Fn(&PermissionRequest) -> Result<(), PermissionError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            denied: Vec::new(),
            answer: Box::new(answer),
        })
    }

    /// Denies these resources of these actions, as rules do, and allows all others.
    pub(crate) fn denying(denied: &[(&'static str, &'static str)]) -> Arc<Self> {
        let rules = denied.to_vec();
        Arc::new(Self {
            asked: Mutex::default(),
            denied: rules.clone(),
            answer: Box::new(move |request| {
                if rules.iter().any(|rule| is_about(rule, request)) {
                    Err(PermissionError::Blocked)
                } else {
                    Ok(())
                }
            }),
        })
    }

    /// Returns action, resources and save list of every request.
    pub(crate) fn asked(&self) -> Vec<(String, Vec<String>, Vec<String>)> {
        let asked = self
            .asked
            .lock()
            .expect("no test panics while it holds this");
        let asked = asked.iter().cloned();
        asked
            .map(|request| (request.action, request.resources, request.save))
            .collect()
    }
}

impl Permissions for Recorder {
    fn assert(&self, request: PermissionRequest) -> BoxFuture<'_, Result<(), PermissionError>> {
        let answer = (self.answer)(&request);
        let mut asked = self
            .asked
            .lock()
            .expect("no test panics while it holds this");
        asked.push(request);
        Box::pin(std::future::ready(answer))
    }

    fn denies(&self, request: PermissionRequest) -> BoxFuture<'_, bool> {
        let mut rules = self.denied.iter();
        let is_denied = rules.any(|rule| is_about(rule, &request));
        Box::pin(std::future::ready(is_denied))
    }

    fn rules(&self, request: PermissionRequest) -> BoxFuture<'_, Arc<dyn ActionRules>> {
        let rules: Arc<dyn ActionRules> = Arc::new(RecordedRules {
            request,
            denied: self.denied.clone(),
        });
        Box::pin(std::future::ready(rules))
    }
}

/// The rules of a recorder for one action.
struct RecordedRules {
    request: PermissionRequest,
    denied: Vec<(&'static str, &'static str)>,
}

impl ActionRules for RecordedRules {
    fn effect(&self, resource: &str, others: &[String]) -> PermissionEffect {
        let request = PermissionRequest {
            resources: vec![resource.to_owned()],
            other_names: [(resource.to_owned(), others.to_vec())].into(),
            ..self.request.clone()
        };
        let mut rules = self.denied.iter();
        if rules.any(|rule| is_about(rule, &request)) {
            PermissionEffect::Deny
        } else {
            PermissionEffect::Allow
        }
    }
}

/// True if the action and any name of a resource are those of the rule.
fn is_about((action, resource): &(&str, &str), request: &PermissionRequest) -> bool {
    let others = request.other_names.values().flatten();
    let mut names = request.resources.iter().chain(others);
    request.action == *action && names.any(|name| name == resource)
}
