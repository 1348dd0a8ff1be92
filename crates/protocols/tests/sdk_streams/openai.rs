//! The streams of `openai-python`.

use opencode_llm::ProtocolId;

use super::{Row, check};

const LISTED: &[&str] = &[
    "call call_other other {}",
    r#"call call_files list_files {"path":"."}"#,
    "tool-calls no counts",
];

#[test]
fn chat() {
    let rows: &[Row] = &[
        ("length", &["text {\"", "length 79 1 0 0 0"]),
        ("log-probabilities", &["text Foo!", "stop 9 2 0 0 0"]),
        (
            "refusal",
            &[
                "text I'm very sorry, but I can't assist with that.",
                "stop 79 12 0 0 0",
            ],
        ),
        (
            "call-in-first-chunk",
            &[
                r#"call call_CTf1nWJLqSeRgDqaCG27xZ74 get_weather {"city":"San Francisco","state":"CA"}"#,
                "tool-calls 48 19 0 0 0",
            ],
        ),
        (
            "two-calls",
            &[
                r#"call call_JMW1whyEaYG438VE1OIflxA2 GetWeatherArgs {"city":"Edinburgh","country":"GB","units":"c"}"#,
                r#"call call_DNYTawLBoN8fj3KN6qU9N1Ou get_stock_price {"ticker":"AAPL","exchange":"NASDAQ"}"#,
                "tool-calls 149 60 0 0 0",
            ],
        ),
        ("entries-in-first-chunk", LISTED),
        ("entries-of-one-call", LISTED),
    ];
    check("openai-chat", ProtocolId::OpenAiChat, rows);
}

const RESPONSE: &str = r#"about {"responseId":"resp_test"}"#;

/// Texts of two phases, and a call between them.
const COMMENTARY: &[&str] = &[
    "text Preparing. + phase",
    "call call_test lookup {}",
    "text Done. + phase",
    "tool-calls no counts",
    RESPONSE,
];

#[test]
fn responses() {
    let rows: &[Row] = &[
        ("commentary", COMMENTARY),
        ("commentary-null-output", COMMENTARY),
        ("compaction-progress", &["stop no counts", RESPONSE]),
        (
            "deferred-tool",
            &[
                r#"call call_test lookup_item {"item_id":"A123"}"#,
                "tool-calls no counts",
                RESPONSE,
            ],
        ),
    ];
    check("openai-responses", ProtocolId::OpenAiResponses, rows);
}
