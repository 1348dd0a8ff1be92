import { Readable } from "node:stream";

/**
 * Imports sessions of many messages. Their lines repeat those of one real turn, with ids of their own.
 *
 * @param {import("../../index.mjs").OpenCodeHost} host
 * @param {string} sourceID A session with one prompt and one answer.
 */
export async function longSessions(host, sourceID) {
  const lines = [];
  for await (const line of host.sessions.export({ sessionID: sourceID })) lines.push(line);
  const [header, created, ...turn] = lines;
  const base = JSON.parse(created);
  const ids = [...new Set(turn.join("\n").match(/msg_\w+/g))];
  let count = 0;
  return async (messages) => {
    const id = `ses_long_${count++}`;
    const rename = (text) => text.replaceAll(sourceID, id);
    function* log() {
      yield rename(header);
      yield rename(JSON.stringify({ ...base, id: `evt_${id}` }));
      let seq = base.seq;
      for (let at = 0; at < messages / ids.length; at++) {
        for (const line of turn) {
          const text = ids.reduce((all, name, n) => all.replaceAll(name, `msg_${id}_${at}_${n}`), rename(line));
          seq += 1;
          yield JSON.stringify({ ...JSON.parse(text), id: `evt_${id}_${seq}`, seq });
        }
      }
    }
    await host.sessions.import(Readable.from(log()));
    return id;
  };
}
