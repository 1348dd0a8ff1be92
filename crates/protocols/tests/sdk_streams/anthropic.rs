//! The streams of `anthropic-sdk-python`.

use opencode_llm::ProtocolId;

use super::{Row, check};

const HELLO: &str = "text Hello there!";

const WEATHER: &str = "text I'll check the current weather in Paris for you.";

#[test]
fn messages() {
    let rows: &[Row] = &[
        ("basic", &[HELLO, "stop 11 6 0 0 0"]),
        // Events before the message and after it, and types of the future.
        ("unknown-events", &[HELLO, "stop 11 6 0 0 0"]),
        ("compaction", &[HELLO, "stop 30 8 0 0 0"]),
        ("context-management", &[HELLO, "stop 25 8 0 0 0"]),
        ("fallback", &[HELLO, "stop 25 8 0 0 0"]),
        ("fallback-credit", &[HELLO, "stop 25 8 0 0 0"]),
        ("input-transformations-delta", &[HELLO, "stop 25 8 0 0 0"]),
        (
            "input-transformations-empty-delta",
            &[HELLO, "stop 25 8 0 0 0"],
        ),
        (
            "input-transformations-start-only",
            &[HELLO, "stop 25 8 0 0 0"],
        ),
        ("message-delta-fields", &[HELLO, "stop 40 5 3 7 12"]),
        ("message-delta-omitted-usage", &[HELLO, "stop 25 8 0 5 10"]),
        (
            "tool-use",
            &[
                WEATHER,
                r#"call toolu_01NRLabsLyVHZPKxbKvkfSMn get_weather {"location":"Paris"}"#,
                "tool-calls 377 65 0 0 0",
            ],
        ),
        (
            "tool-use-invalid-json",
            &[
                WEATHER,
                "invalid call toolu_01NRLabsLyVHZPKxbKvkfSMn get_weather: expected value at line 1 column 31",
                "tool-calls 377 65 0 0 0",
            ],
        ),
        (
            "incomplete-partial-json",
            &[
                "text I'll create a comprehensive tax guide for someone with multiple W2s and save it in a file called \
                 taxes.txt. Let me do that for you now.",
                "invalid call toolu_01EKqbqmZrGRXy18eN7m9kvY make_file: EOF while parsing a string at line 6 \
                 column 13; the answer reached its limit of output tokens",
                "length 450 124 0 0 0",
            ],
        ),
        (
            "server-tool-use",
            &[
                r#"hosted call srvtoolu_01Uz7MGoWkFSzxwLydECtuz5 web_search {"query":"anthropic claude release notes"}"#,
                "result srvtoolu_01Uz7MGoWkFSzxwLydECtuz5 web_search json of 2",
                r#"source {"type":"url","url":"https://support.claude.com/en/articles/12138966-release-notes","title":"Release notes | Claude Help Center"}"#,
                "text Claude Opus 4.7 is now generally available with improvements in software engineering and vision \
                 capabilities. + citations",
                "stop 9281 97 0 0 0",
            ],
        ),
        (
            "refusal",
            &[
                "content-filter 20 0 0 0 0",
                r#"about {"refusal":{"category":"cyber","explanation":"This request was refused due to policy."}}"#,
            ],
        ),
        (
            "stream-a-refusal",
            &[
                "reasoning Simple educational question about what a solar eclipse is. This is benign general knowledge \
                 — definitions are fine. Also the user called me \"claudius\" — I'm Claude. Minor correction or just \
                 roll with it politely. + signature",
                "text Hi",
                "content-filter 28 39 67 0 0",
            ],
        ),
        (
            "stream-a-toolrefusal",
            &[
                r#"hosted call srvtoolu_fixture_a_0001 web_search {"query":"solar eclipse viewing safety news 2026"}"#,
                "result srvtoolu_fixture_a_0001 web_search json of 2",
                "text Here's a summary of this year's solar eclipses and how",
                "content-filter 28 39 67 0 0",
            ],
        ),
    ];
    check("anthropic", ProtocolId::AnthropicMessages, rows);
}
