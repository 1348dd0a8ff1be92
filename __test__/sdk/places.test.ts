import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run, setUp, type Setup } from "../embedded/support";
import { createSdk, transports } from "./support";

/** A folder beside the project, with its own models. */
function makeFolder({ root, model }: Setup, name: string) {
  const folder = path.join(root, name);
  mkdirSync(folder);
  const { provider } = model.config();
  const models = { [name]: { name: `Model of ${name}` } };
  const config = { provider: { [name]: { ...provider.mock, name, models } } };
  writeFileSync(path.join(folder, "opencode.json"), JSON.stringify(config));
  return folder;
}

describe.each(transports)("%s", (_, open) => {
  test("an SDK with a folder works in that folder", async () => {
    const setup = await setUp();
    const host = await setup.open();
    const folder = makeFolder(setup, "elsewhere");
    const transport = await open(host);
    const [here, there] = [createSdk(transport), createSdk(transport, folder)];
    const location = async (sdk: typeof here) => (await sdk.location.get()).data!.directory;
    expect([await location(here), await location(there)]).toEqual([setup.directory, folder]);

    const create = async (sdk: typeof here) => (await sdk.session.create({ agent: "build" })).data!.data;
    const [first, second] = [await create(here), await create(there)];
    expect([first.location, second.location]).toEqual([{ directory: setup.directory }, { directory: folder }]);
    // An SDK with a folder lists the sessions of that folder. An SDK without a folder lists all sessions.
    const list = async (sdk: typeof here) => (await sdk.session.list({ order: "asc" })).data!.data.map(({ id }) => id);
    expect([await list(here), await list(there)]).toEqual([[first.id, second.id], [second.id]]);
  });

  test("two folders have separate catalogues", async () => {
    const setup = await setUp();
    const host = await setup.open({ trust: true });
    const transport = await open(host);
    const models = async (directory: string) => {
      const { data } = await createSdk(transport).model.list({ location: { directory } });
      return [data!.location.directory, data!.data.map(({ id }) => id).sort()];
    };
    const [one, other] = [makeFolder(setup, "one"), makeFolder(setup, "other")];
    await expect(models(one)).resolves.toEqual([one, ["m1", "one"]]);
    await expect(models(other)).resolves.toEqual([other, ["m1", "other"]]);
    await expect(models(setup.directory)).resolves.toEqual([setup.directory, ["m1"]]);
  });

  test("a session with a removed folder can be read and prompted", async () => {
    const setup = await setUp();
    const host = await setup.open();
    const folder = makeFolder(setup, "gone");
    const v2 = createSdk(await open(host), folder);
    const sessionID = (await v2.session.create({ agent: "build" })).data!.data.id;
    await run(host, sessionID, "Hi");
    const read = async () => ({
      session: (await v2.session.get({ sessionID })).data,
      messages: (await v2.session.messages({ sessionID })).data,
      context: (await v2.session.context({ sessionID })).data,
      history: (await v2.session.history({ sessionID, limit: 6 })).data,
    });
    const before = await read();
    rmSync(folder, { recursive: true });
    await expect(read()).resolves.toEqual(before);
    const prompted = await v2.session.prompt({ sessionID, prompt: { text: "Still there?" }, resume: false });
    expect(prompted.data!.data.prompt).toEqual({ text: "Still there?" });
    await expect(v2.session.interrupt({ sessionID })).resolves.toMatchObject({ response: { status: 204 } });
  });
});
