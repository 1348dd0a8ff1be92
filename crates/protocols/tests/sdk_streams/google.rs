//! The streams of `js-genai` and `python-genai`.

use opencode_llm::ProtocolId;

use super::{Row, check};

#[test]
fn content() {
    let rows: &[Row] = &[
        ("text", &["text low\n", "stop 8 2 0 0 0"]),
        (
            "malformed-call",
            &[
                "InvalidOutput The provider ended its answer with \"MALFORMED_FUNCTION_CALL\": Malformed function call: ` tags.",
            ],
        ),
        // The recorded request asked for the pieces.
        (
            "streamed-arguments",
            &[
                "error Gemini sends the arguments of calls in pieces, which are not supported. Remove \
                 `streamFunctionCallArguments` from the options of the model",
            ],
        ),
        (
            "continuation",
            &["text Stream 1 ", "length 150 64000 0 0 0"],
        ),
    ];
    check("google", ProtocolId::Gemini, rows);
}
