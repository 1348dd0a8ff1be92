//! Providers and their models, in the older form.

use super::document::MAX_FEW;
use super::models::{HEADERS, IDS, LIMIT, OPTIONS, TIER, VARIABLES, price};
use crate::vocabulary::{Default, Kind, Member, Named, Number, Object, member};

pub(super) static OLDER_PROVIDER: Object = Object::named(
    "OlderProviderConfig",
    "A provider in the older form.",
    &[
        member("id", Kind::Text, "It has no effect: the key under which a provider stands is its id.").unused(),
        name(),
        member("npm", Kind::Text, "The package that decides the protocol, as `ApiConfig.package`."),
        member("api", Kind::Text, "The address. It holds over `options.baseURL`."),
        member(
            "options",
            Kind::Object(&OLDER_PROVIDER_OPTIONS),
            "Address, key, headers, and options of every request.",
        ),
        member("env", VARIABLES, "Variables of the environment that may hold its key."),
        member("whitelist", IDS, "The only models of it that may be used.").without("all"),
        member("blacklist", IDS, "Models of it that may not be used.").without("none"),
        member("models", Kind::map(&Kind::Object(&OLDER_MODEL)), "Its models, by id."),
    ],
);

const fn name() -> Member {
    member("name", Kind::Text, "The name for people.").without("the id")
}

static OLDER_PROVIDER_OPTIONS: Object = Object::named(
    "OlderProviderOptionsConfig",
    "Options of a provider in the older form. Further ones are settings of its package.",
    &[
        member("baseURL", Kind::Text, "The address, such as `\"http://127.0.0.1:8080/v1\"`.")
            .without("the provider's own, if it is known"),
        member("apiKey", Kind::Text, "The key.").without("that of the provider's variable, such as `OPENAI_API_KEY`"),
        member("headers", HEADERS, "HTTP headers."),
        member("body", OPTIONS, "Options that go into the body of requests."),
    ],
)
.others(Kind::Json);

static OLDER_MODEL: Object = Object::named(
    "OlderModelConfig",
    "A model in the older form. Entries of the list of models have it too.",
    &[
        name(),
        member("family", Kind::Text, "The family that it belongs to."),
        member("id", Kind::Text, "The id that the provider knows it by.").without("the key under which it stands"),
        member(
            "provider",
            Kind::Object(&MODEL_API),
            "The interface of the model, if it differs from that of its provider.",
        ),
        member("tool_call", Kind::Boolean, "True if it calls tools.")
            .without("true, unless `modalities` are given without it"),
        member("modalities", Kind::Object(&MODALITIES), "Kinds of input and output.").without("unknown"),
        member("reasoning", Kind::Boolean, "True if it reasons.").default_is(false),
        member(
            "reasoning_options",
            Kind::list(&Kind::Named(&REASONING)),
            "Control of its reasoning: by words, or by a number of tokens.",
        ),
        member(
            "interleaved",
            Kind::OneOf(&[Kind::Boolean, Kind::Text, Kind::Object(&REASONING_FIELD)]),
            "The field of the wire that holds its reasoning, where it has one of its own.",
        ),
        member("cost", Kind::Object(&OLDER_COST), "Price of a million tokens, in US dollars.").without("unknown"),
        member(
            "status",
            Kind::Words(&["alpha", "beta", "deprecated", "active"]),
            "Release status. A deprecated model is not offered.",
        )
        .default(Default::Text("active")),
        member("limit", Kind::Object(&LIMIT), "Limits of input and output, in tokens."),
        member(
            "release_date",
            Kind::Text,
            "When it was released, such as `\"2025-04-14\"`. The newest model is the default one.",
        ),
        member("disabled", Kind::Boolean, "True if it may not be used.").default_is(false),
        member("headers", HEADERS, "HTTP headers of its requests."),
        member("options", OPTIONS, "Options of its requests."),
        member(
            "variants",
            Kind::Map { of: &Kind::map(&Kind::Json), most: Some(MAX_FEW) },
            "Its variants, by name: options, or `{ disabled: true }`.",
        ),
    ],
)
.extends(&[&LISTED_MODEL]);

static MODEL_API: Object = Object::unnamed(&[
    member("npm", Kind::Text, "The package that decides the protocol."),
    member("api", Kind::Text, "The address."),
]);

static MODALITIES: Object = Object::unnamed(&[
    member("input", Kind::list(&Kind::Text), "Kinds of input."),
    member("output", Kind::list(&Kind::Text), "Kinds of output."),
]);

static REASONING_FIELD: Object = Object::unnamed(&[member("field", Kind::Text, "The name of the field.")]);

static LISTED_MODEL: Object = Object::named(
    "ListedModelConfig",
    "Fields of the list of models that this version does not use.",
    &[
        member("attachment", Kind::Boolean, "True if it accepts files.").unused(),
        member("experimental", Kind::Json, "Further modes of it.").unused(),
        member("knowledge", Kind::Text, "Until when it knows the world, such as `\"2024-06\"`.").unused(),
        member("last_updated", Kind::Text, "When its description was changed.").unused(),
        member("open_weights", Kind::Boolean, "True if its weights are published.").unused(),
        member("structured_output", Kind::Boolean, "True if its output can be restricted to a schema."),
        member("temperature", Kind::Boolean, "True if its temperature can be set.").unused(),
    ],
);

static REASONING: Named = Named {
    name: "OlderReasoningConfig",
    doc: "A way in which reasoning can be steered.",
    kind: Kind::OneOf(&[
        Kind::Object(&Object::unnamed(&[
            member("type", Kind::Words(&["effort"]), "").required(),
            member(
                "values",
                Kind::List { of: &Kind::OneOf(&[Kind::Text, Kind::Null]), most: Some(MAX_FEW) },
                "The words; `null` stands for no reasoning.",
            ),
        ])),
        Kind::Object(&Object::unnamed(&[
            member("type", Kind::Words(&["budget_tokens"]), "").required(),
            member("min", Kind::Number(Number::of("tokens")), "The smallest budget."),
            member("max", Kind::Number(Number::of("tokens")), "The largest budget."),
        ])),
        Kind::Object(&Object::unnamed(&[member("type", Kind::Words(&["toggle"]), "").required()])),
    ]),
};

static OLDER_PRICE: Object = Object::named(
    "OlderModelPriceConfig",
    "Price of a million tokens, in US dollars.",
    &[
        price("input", "Tokens of input.").required(),
        price("output", "Tokens of output.").required(),
        price("cache_read", "Tokens that the provider has read before.").default(Default::Number(0)),
        price("cache_write", "Tokens that the provider keeps.").default(Default::Number(0)),
        price("reasoning", "Tokens of reasoning. This version does not use it.").unused(),
        price("input_audio", "Tokens of audio input. This version does not use it.").unused(),
        price("output_audio", "Tokens of audio output. This version does not use it.").unused(),
    ],
);

static OLDER_COST: Object = Object::named(
    "OlderModelCostConfig",
    "Prices, and others for large contexts.",
    &[
        member("tiers", Kind::list(&Kind::Object(&OLDER_TIER)), "Prices above a context size, in tokens."),
        member("context_over_200k", Kind::Object(&OLDER_PRICE), "Prices above 200,000 tokens of context."),
    ],
)
.extends(&[&OLDER_PRICE]);

static OLDER_TIER: Object =
    Object::unnamed(&[member("tier", Kind::Object(&TIER), "The size.").required()]).extends(&[&OLDER_PRICE]);
