// Changed answers of the other protocols.

import { testAnswers } from "./cases";

testAnswers(["openai-chat", "openai-responses", "anthropic"]);
