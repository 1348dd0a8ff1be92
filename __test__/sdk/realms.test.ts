import { setUp } from "../embedded/support";
import { runProgram } from "./programs";

// A stream that is cut also ends, if the SDK may not open it again. The live stream reports the reason first.
test.each([
  ["memory", ["end", "end"]],
  ["network", ["end", "global.disposed"]],
])("a plain Node process runs a turn through the SDK and ends by itself, %s", async (way, ends) => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." });
  const turn = ["prompt.admitted", "prompted", "step.started", "text.started", "text.ended", "step.ended"];
  const events = turn.map((type) => `session.next.${type}`);
  const liveEvents = events.toSpliced(4, 0, "session.next.text.delta").toSpliced(1, 0, "session.status");
  await expect(runProgram("turn.mjs", JSON.stringify(setup.options()), way)).resolves.toEqual({
    events,
    liveEvents: [...liveEvents, "session.status", "session.idle"],
    messages: ["user", "assistant"],
    failure: [true, true, ["_tag", "sessionID", "message"]],
    ends,
  });
});
