//! Converts spans and events of `tracing` to entries.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::entry::{Entry, EntryLocation, Level};
use crate::filter::{Filter, target_of};
use crate::queue::Queue;

/// Maximum length of one text of an entry, in bytes. A longer text is cut.
const MAX_TEXT: usize = 8 * 1024;

/// The `tracing` layer that creates the entries of one log.
pub(crate) struct Collect {
    filter: Arc<Filter>,
    queue: Arc<Queue>,
}

/// The session and the Location that a span is about.
#[derive(Clone, Default)]
struct SpanSubject {
    session: Option<String>,
    directory: Option<String>,
}

impl Collect {
    pub(crate) fn new(filter: Arc<Filter>, queue: Arc<Queue>) -> Self {
        Self { filter, queue }
    }

    /// Accepts spans of every target, because they hold the session and the Location of the entries
    /// inside them. Spans have the level `ERROR`, so every level of the filter includes them.
    fn takes(&self, metadata: &Metadata<'_>) -> bool {
        target_of(metadata.target()).is_some_and(|target| {
            metadata.is_span() || self.filter.takes(target, (*metadata.level()).into())
        })
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collect {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match self.takes(metadata) {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.takes(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match self.filter.most() {
            None => LevelFilter::OFF,
            Some(Level::Error) => LevelFilter::ERROR,
            Some(Level::Warn) => LevelFilter::WARN,
            Some(Level::Info) => LevelFilter::INFO,
            Some(Level::Debug) => LevelFilter::DEBUG,
            Some(Level::Trace) => LevelFilter::TRACE,
        })
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let parent = span.parent();
        let inherited = parent.and_then(|it| it.extensions().get::<SpanSubject>().cloned());
        let mut seen = RecordedFields::default();
        attributes.record(&mut seen);
        let inherited = inherited.unwrap_or_default();
        span.extensions_mut().insert(SpanSubject {
            session: seen.session.or(inherited.session),
            directory: seen.directory.or(inherited.directory),
        });
    }

    /// A Session Drain records its Location after its span has begun.
    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let mut seen = RecordedFields::default();
        values.record(&mut seen);
        if let Some(about) = span.extensions_mut().get_mut::<SpanSubject>() {
            about.session = seen.session.or(about.session.take());
            about.directory = seen.directory.or(about.directory.take());
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let Some(target) = target_of(metadata.target()) else {
            return;
        };
        let mut seen = RecordedFields::default();
        event.record(&mut seen);
        let span = context.event_span(event);
        let about = span.and_then(|it| it.extensions().get::<SpanSubject>().cloned());
        let about = about.unwrap_or_default();
        let mut entry = Entry::new((*metadata.level()).into(), target, seen.message);
        entry.fields = seen.fields;
        entry.session_id = seen.session.or(about.session);
        let directory = seen.directory.or(about.directory);
        entry.location = directory.map(|directory| EntryLocation { directory });
        self.queue.push(entry);
    }
}

/// The fields of a span or an event.
#[derive(Default)]
struct RecordedFields {
    message: String,
    session: Option<String>,
    directory: Option<String>,
    fields: Map<String, Value>,
}

impl RecordedFields {
    fn text(&mut self, field: &Field, text: String) {
        match field.name() {
            "message" => self.message = text,
            "session_id" => self.session = Some(text),
            "location" => self.directory = Some(text),
            name => drop(self.fields.insert(name.to_owned(), text.into())),
        }
    }

    fn value(&mut self, field: &Field, value: impl Into<Value>) {
        self.fields.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for RecordedFields {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.value(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.value(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.value(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.value(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let mut text = Text::default();
        let _ = text.write_str(value);
        self.text(field, text.0);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = Text::default();
        // Fails when the text is full; the cut text is used.
        let _ = write!(text, "{value:?}");
        self.text(field, text.0);
    }
}

/// A text of up to [`MAX_TEXT`] bytes. A longer text is cut and ends with an ellipsis.
#[derive(Default)]
struct Text(String);

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = MAX_TEXT.saturating_sub(self.0.len());
        if more.len() <= room {
            self.0.push_str(more);
            return Ok(());
        }
        self.0.push_str(&more[..more.floor_char_boundary(room)]);
        self.0.push('…');
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests;
