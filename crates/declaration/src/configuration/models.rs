//! Providers and their models, in the newer form.

use super::document::{MAX_FEW, MAX_TEXTS};
use crate::vocabulary::{Default, Kind, Member, Named, Number, Object, member};

pub(super) static MODEL_SELECTION: Named = Named {
    name: "ModelSelection",
    doc: "A model by name, `provider/model` or `provider/model#variant`, or by its parts.",
    kind: Kind::OneOf(&[Kind::Text, Kind::Object(&MODEL_PARTS)]),
};

static MODEL_PARTS: Object = Object::unnamed(&[
    member("providerID", Kind::Text, "The provider's id.").required(),
    member("id", Kind::Text, "The model's id.").required(),
    member("variant", Kind::Text, "A variant of the model.").without("the model's own"),
]);

/// HTTP headers.
pub(super) const HEADERS: Kind = Kind::Map { of: &Kind::Text, most: Some(MAX_FEW) };

/// Options with any value.
pub(super) const OPTIONS: Kind = Kind::map(&Kind::Json);

/// Names of variables of the environment.
pub(super) const VARIABLES: Kind = Kind::List { of: &Kind::Text, most: Some(MAX_FEW) };

/// Ids of models.
pub(super) const IDS: Kind = Kind::List { of: &Kind::Text, most: Some(MAX_TEXTS) };

pub(super) static REQUEST: Object = Object::named(
    "RequestConfig",
    "Headers and options of every request. Options without a known meaning are copied into the body.",
    &[
        member("headers", HEADERS, "HTTP headers."),
        member("body", OPTIONS, "Options, such as `temperature`, `maxTokens` or `reasoningEffort`."),
    ],
);

static API: Object = Object::named(
    "ApiConfig",
    "The interface of a provider or a model.",
    &[
        member(
            "type",
            Kind::Words(&["aisdk", "native"]),
            "A package of the AI SDK, or a protocol by its name (`settings.protocol`).",
        )
        .default(Default::Text("aisdk")),
        member(
            "package",
            Kind::Text,
            "The package that decides the protocol: `\"@ai-sdk/openai-compatible\"` is OpenAI Chat Completions, \
             `\"@ai-sdk/openai\"` OpenAI Responses and `\"@ai-sdk/anthropic\"` Anthropic Messages. `docs/models.md` lists all.",
        )
        .without("that of the provider if it is known, else `\"@ai-sdk/openai-compatible\"`"),
        member(
            "url",
            Kind::Text,
            "The address, such as `\"http://127.0.0.1:8080/v1\"`.",
        )
        .without("the provider's own, if it is known"),
        member(
            "settings",
            OPTIONS,
            "Settings: `apiKey`; `includeUsage`; with type `\"native\"` the `protocol`.",
        ),
    ],
);

const fn name() -> Member {
    member("name", Kind::Text, "The name for people.").without("the id")
}

pub(super) static PROVIDER: Object = Object::named(
    "ProviderConfig",
    "A provider. A member that is left out keeps its value.",
    &[
        name(),
        member("api", Kind::Object(&API), "The interface of the provider."),
        member("request", Kind::Object(&REQUEST), "Headers and options of every request to it."),
        member("env", VARIABLES, "Variables of the environment that may hold its key."),
        member("whitelist", IDS, "The only models of it that may be used.").without("all"),
        member("blacklist", IDS, "Models of it that may not be used.").without("none"),
        member("models", Kind::map(&Kind::Object(&MODEL)), "Its models, by id."),
    ],
);

static MODEL_API: Object = Object::unnamed(&[member("id", Kind::Text, "The id that the provider uses for the model.")
    .without("the key under which the model stands")])
.extends(&[&API]);

static MODEL_REQUEST: Object =
    Object::unnamed(&[member("variant", Kind::Text, "The variant of sessions that choose none.")]).extends(&[&REQUEST]);

static MODEL: Object = Object::named(
    "ModelConfig",
    "A model. A member that is left out keeps its value.",
    &[
        name(),
        member("family", Kind::Text, "The family that it belongs to."),
        member(
            "api",
            Kind::Object(&MODEL_API),
            "The interface of the model, if it differs from that of its provider. `id` is its id at the provider.",
        ),
        member("capabilities", Kind::Object(&CAPABILITIES), "The capabilities of the model."),
        member(
            "request",
            Kind::Object(&MODEL_REQUEST),
            "Headers and options of every request, and the default variant.",
        ),
        member("variants", Kind::List { of: &Kind::Object(&VARIANT), most: Some(MAX_FEW) }, "Its variants."),
        member(
            "cost",
            Kind::OneOf(&[Kind::Object(&COST), Kind::list(&Kind::Object(&COST))]),
            "Its prices: one, or one for each size of context.",
        )
        .without("unknown"),
        member("disabled", Kind::Boolean, "True if it may not be used.").default_is(false),
        member("limit", Kind::Object(&LIMIT), "Limits of input and output, in tokens."),
    ],
);

static CAPABILITIES: Object = Object::named(
    "ModelCapabilitiesConfig",
    "The capabilities of a model.",
    &[
        member("tools", Kind::Boolean, "True if it calls tools.")
            .without("false if `capabilities` are given, else true"),
        member(
            "input",
            Kind::list(&Kind::Text),
            "Kinds of input: `\"text\"`, `\"image\"`, `\"audio\"`, `\"video\"`, `\"pdf\"`.",
        )
        .without("unknown"),
        member("output", Kind::list(&Kind::Text), "Kinds of output.").without("unknown"),
    ],
);

static VARIANT: Object = Object::named(
    "ModelVariantConfig",
    "A variant of a model: headers and options that its requests have beside those of the model.",
    &[member("id", Kind::Text, "Its name.").required()],
)
.extends(&[&REQUEST]);

pub(super) static TIER: Object = Object::named(
    "PriceTierConfig",
    "From which size of context on prices hold.",
    &[
        member("size", Kind::Number(Number::of("tokens")), "The size of the context.").required(),
        member("type", Kind::Words(&["context"]), "The subject of the size.")
            .default(Default::Text("context"))
            .unused(),
    ],
);

/// A price of a million tokens.
pub(super) const fn price(name: &'static str, doc: &'static str) -> Member {
    member(name, Kind::Number(Number::ANY), doc)
}

static COST: Object = Object::named(
    "ModelCostConfig",
    "Price of a million tokens, in US dollars.",
    &[
        member("tier", Kind::Object(&TIER), "The context size, in tokens, above which these prices hold.")
            .without("from the first token on"),
        price("input", "Tokens of input.").required(),
        price("output", "Tokens of output.").required(),
        member("cache", Kind::Object(&CACHE), "Tokens that the provider keeps for later requests."),
    ],
);

static CACHE: Object = Object::unnamed(&[
    price("read", "Tokens that the provider has read before.").default(Default::Number(0)),
    price("write", "Tokens that the provider keeps.").default(Default::Number(0)),
]);

pub(super) static LIMIT: Object = Object::named(
    "ModelLimitConfig",
    "Tokens that a model takes and gives.",
    &[
        member("context", Kind::Number(Number::of("tokens")), "The whole context window.").without("unknown"),
        member("input", Kind::Number(Number::of("tokens")), "The part of it that input may use.").without("all"),
        member("output", Kind::Number(Number::of("tokens")), "The longest answer.").without("unknown"),
    ],
);
