import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { rejection } from "../client/support";
import { setUp } from "./support";

/** A host with a few files, and a file outside of its directory. */
async function openFiles() {
  const setup = await setUp();
  mkdirSync(path.join(setup.directory, "src"));
  setup.write("notes.txt", "Grüße\n");
  setup.write("src/main.ts", "export {};\n");
  setup.write("src/bytes.bin", Uint8Array.of(0, 255, 254, 10));
  setup.write("../outside.txt", "secret");
  const host = await setup.open();
  const location = { directory: setup.directory, project: { id: "global", directory: "/" } };
  return { setup, host, location };
}

test("returns the bytes of a file unchanged", async () => {
  const { setup, host } = await openFiles();
  const bytes = await host.files.read({ path: "src/bytes.bin" });
  expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
  expect([...bytes]).toEqual([0, 255, 254, 10]);
  expect(new TextDecoder().decode(await host.files.read({ path: "notes.txt" }))).toBe("Grüße\n");
  const name = "50% of ä?#&+ 'x'.txt";
  setup.write(name, "odd");
  expect(Buffer.from(await host.files.read({ path: name })).toString()).toBe("odd");
  const location = { directory: path.join(setup.directory, "src") };
  expect(Buffer.from(await host.files.read({ path: "main.ts", location })).toString()).toBe("export {};\n");
});

test("returns a large file completely, in memory and over a socket", async () => {
  const { setup, host } = await openFiles();
  const content = Buffer.alloc(5_000_000, "0123456789\0");
  setup.write("large.bin", content);
  const bytes = await host.files.read({ path: "large.bin" });
  expect(Buffer.compare(bytes, content)).toBe(0);
  const listener = await host.listen();
  const response = await fetch(`${listener.url}/api/fs/read/large.bin`, { headers: listener.headers });
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  expect(Buffer.compare(new Uint8Array(await response.arrayBuffer()), content)).toBe(0);
});

test("lists directories and finds paths", async () => {
  const { host, location } = await openFiles();
  const main = { path: "src/main.ts", type: "file" };
  const bytes = { path: "src/bytes.bin", type: "file" };
  await expect(host.files.list()).resolves.toEqual({
    location,
    data: [
      { path: "src/", type: "directory" },
      { path: "notes.txt", type: "file" },
    ],
  });
  await expect(host.files.list({ path: "src" })).resolves.toEqual({ location, data: [bytes, main] });
  await expect(host.files.find({ query: "main" })).resolves.toEqual({ location, data: [main] });
  await expect(host.files.find({ query: "", type: "file", limit: 2 })).resolves.toEqual({
    location,
    data: [{ path: "notes.txt", type: "file" }, main],
  });
});

test("shows no file outside of the directory", async () => {
  const { setup, host } = await openFiles();
  symlinkSync(path.join(setup.root, "outside.txt"), path.join(setup.directory, "link"));
  for (const given of ["../outside.txt", "link", path.join(setup.root, "outside.txt"), "missing", "src"]) {
    const error = await rejection(host.files.read({ path: given }));
    expect(error).toMatchObject({ _tag: "InvalidRequestError", field: "path" });
  }
  const error = await rejection(host.files.list({ path: ".." }));
  expect(error).toMatchObject({ _tag: "InvalidRequestError", field: "path" });
  await expect(host.files.find({ query: "outside" })).resolves.toMatchObject({ data: [] });
});
