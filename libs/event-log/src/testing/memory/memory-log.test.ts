import { describe, expect, it } from "vitest";
import { requestOf, writeOf } from "../../contract/harness.ts";
import { contractRoles, eventLogContract, type LogUnderTest } from "../../contract.ts";
import type { StoredEvent } from "../../port.ts";
import { createMemoryLog } from "./memory-log.ts";

async function create(): Promise<LogUnderTest> {
  const log = createMemoryLog({ roles: contractRoles });
  const { commits, events } = log.store;
  const change = (position: number, fields: Partial<StoredEvent>): void => {
    const index = events.findIndex((event) => event.position === position);
    const event = events[index];
    if (event !== undefined) events[index] = { ...event, ...fields };
  };
  return {
    as: (role) => log.as(role),
    tamper: {
      async editBody(position, body) {
        change(position, { body });
        for (const event of events.filter((one) => one.position === position)) {
          (log.store.stream(event.stream) as StoredEvent[])[event.version - 1] = event;
        }
      },
      async removeEvent(position) {
        events.splice(position - 1, 1);
      },
      async removeCommit(position) {
        commits.splice(
          commits.findIndex((commit) => commit.position === position),
          1,
        );
      },
      async exchange(first, second) {
        const [a, b] = [events[first - 1], events[second - 1]];
        if (a === undefined || b === undefined) return;
        change(first, { ...b, position: first });
        change(second, { ...a, position: second });
      },
      async editMeta(position, authid) {
        const index = commits.findIndex((commit) => commit.position >= position);
        const commit = commits[index];
        if (commit !== undefined) {
          commits[index] = {
            ...commit,
            meta: JSON.stringify({ ...(JSON.parse(commit.meta) as object), authid }),
          };
        }
      },
      async cut(position) {
        commits.splice(0, commits.length, ...commits.filter((one) => one.position < position));
        events.splice(0, events.length, ...events.filter((one) => one.position < position));
      },
      async shiftLease(lease, ms) {
        const held = log.store.leases.get(lease);
        if (held !== undefined) held.expiresAtMs += ms;
      },
      async shiftHeadTime(ms) {
        const last = commits.pop();
        if (last !== undefined) commits.push({ ...last, timeMs: last.timeMs + ms });
      },
    },
    async [Symbol.asyncDispose]() {},
  };
}

eventLogContract("memory", { create });

describe("memory log", () => {
  it("runs a hook that can fail a commit before it is written", async () => {
    const log = createMemoryLog({
      beforeCommit: () => {
        throw new Error("database away");
      },
    }).as("anyone");
    await expect(log.append(requestOf([writeOf("experiment-1", 0)]))).rejects.toThrow("away");
    expect(await log.head()).toBe(0);
  });

  it("runs a hook that can lose the answer of a written commit", async () => {
    let lose = true;
    const log = createMemoryLog({
      afterCommit: () => {
        if (lose) throw new Error("connection lost");
      },
    }).as("anyone");
    const request = requestOf([writeOf("experiment-1", 0)]);
    await expect(log.append(request)).rejects.toThrow("lost");
    lose = false;
    expect(await log.append(request)).toMatchObject({ kind: "committed", repeated: true });
    expect(await log.head()).toBe(1);
  });

  it("takes commit times from the clock and never lets them decrease", async () => {
    let nowMs = 1_000;
    const log = createMemoryLog({ clock: { nowMs: () => nowMs } }).as("anyone");
    await log.append(requestOf([writeOf("experiment-1", 0)]));
    nowMs = 500;
    await log.append(requestOf([writeOf("experiment-1", 1)]));
    nowMs = 2_000;
    await log.append(requestOf([writeOf("experiment-1", 2)]));
    const times = (await log.readAll(0, 10)).map(({ timeMs }) => timeMs);
    expect(times).toEqual([1_000, 1_000, 2_000]);
  });
});
