import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { limits } from "../limits.ts";
import type { ServerUse } from "../servers/server-use.ts";
import { readUse, writeUse } from "./idle-record.ts";
import { stateAfter, idleMsOf, observationOf, type UseState } from "./use-rule.ts";

const folder = mkdtempSync(join(tmpdir(), "trainyard-idle-"));
afterAll(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const hourMs = 3_600_000;
const steps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 1, max: hourMs }),
    // A look ends each step: without further steps of another kind, the agent is away until the next one.
    kind: fc.constantFrom("use", "restart", "date", "look", "look", "away", "silent"),
  }),
  { minLength: 1, maxLength: 40 },
);

/** Plays a history of a task whose sources say how long ago it was used. Returns the idle times and the true ones. */
function played(history: readonly { afterMs: number; kind: string }[], withoutRestarts: boolean) {
  vi.useFakeTimers({ toFake: ["Date"] });
  let state: UseState = stateAfter(null, { held: false, agoMs: null }, 0);
  let [upMs, usedMs] = [0, 0];
  const looks: { idleMs: number; trueMs: number }[] = [];
  for (const { afterMs, kind } of history) {
    upMs += afterMs;
    if (kind === "use") usedMs = upMs;
    if (kind === "date") vi.setSystemTime((upMs * 7_919) % 2 ** 41);
    if (kind === "restart" && !withoutRestarts) {
      writeUse(folder, state);
      state = readUse(folder) ?? expect.unreachable("the record is lost");
    }
    if (kind === "silent") state = stateAfter(state, "silent", upMs);
    if (kind === "look") {
      state = stateAfter(state, { held: false, agoMs: upMs - usedMs }, upMs);
      looks.push({ idleMs: idleMsOf(state, upMs), trueMs: upMs - usedMs });
    }
  }
  return looks;
}

describe("the idle time of a task whose sources say how long ago it was used", () => {
  test("is the time since the last use at every look, whatever the agent's restarts, absences and dates were", () => {
    fc.assert(
      fc.property(steps, (drawn) => {
        const history = drawn.filter(({ kind }) => kind !== "silent");
        for (const { idleMs, trueMs } of played(history, false)) expect(idleMs).toBe(trueMs);
      }),
    );
  });

  test("is never longer than the time since the last use, and no restart changes it, with silences too", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const looks = played(history, false);
        for (const { idleMs, trueMs } of looks) expect(idleMs).toBeLessThanOrEqual(trueMs);
        expect(looks).toEqual(played(history, true));
      }),
    );
  });
});

test("a use that lasts ends at the look that sees its end, so that no idle time is longer than the true one", () => {
  const presences = fc.array(
    fc.record({ afterMs: fc.integer({ min: 1, max: hourMs }), exists: fc.boolean() }),
  );
  fc.assert(
    fc.property(presences, (history) => {
      let state: UseState | null = null;
      let [upMs, heldMs, didExist] = [0, 0, false];
      for (const { afterMs, exists } of history) {
        upMs += afterMs;
        state = stateAfter(state, { held: exists, agoMs: null }, upMs);
        if (exists || didExist || heldMs === 0) heldMs = upMs;
        didExist = exists;
        expect(idleMsOf(state, upMs)).toBe(upMs - heldMs);
      }
    }),
  );
});

describe("a task that does not answer", () => {
  const idle = stateAfter(null, { held: false, agoMs: null }, 0);

  test("is in use, and its idle time begins again after a long silence only", () => {
    const [startMs, endMs] = [hourMs, hourMs + limits.useSilenceMs];
    const silent = stateAfter(idle, "silent", startMs);
    expect(idleMsOf(silent, startMs)).toBe(0);
    const busy = stateAfter(silent, { held: false, agoMs: null }, endMs - 1);
    expect(idleMsOf(busy, endMs - 1)).toBe(endMs - 1);
    const long = stateAfter(silent, "silent", endMs);
    const back = stateAfter(long, { held: false, agoMs: endMs + 1_000 }, endMs + 1_000);
    expect(idleMsOf(back, endMs + 1_000)).toBe(1_000);
  });

  test("remembers since when across silent looks", () => {
    const silent = stateAfter(stateAfter(idle, "silent", 5_000), "silent", 9_000);
    expect(silent.silentMs).toBe(5_000);
  });
});

const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });
const maybe = fc.option(seconds);
const kernel = fc.record({
  busy: fc.boolean(),
  idle_seconds: seconds,
  connections: fc.nat(3),
  ever_connected: fc.boolean(),
});
const use: fc.Arbitrary<ServerUse> = fc.record({
  kernels: fc.array(kernel, { maxLength: 4 }),
  terminals: fc.array(fc.record({ idle_seconds: seconds }), { maxLength: 3 }),
  write_seconds: maybe,
  request_seconds: maybe,
});
const seen = (page: ServerUse) => ({ typedAgoMs: null, portsAgoMs: null, page });

describe("the activity of a notebook", () => {
  const look = (page: ServerUse) => observationOf("notebook", "activity", seen(page));

  test("has no part in readers, in tabs that reconnect, and in kernels that nobody ever connected to", () => {
    fc.assert(
      fc.property(use, maybe, fc.array(kernel), fc.nat(5), (page, read, more, tabs) => {
        const strangers = more.map((one) => ({ ...one, connections: 0, ever_connected: false }));
        const kernels = page.kernels.map((one) => ({ ...one, connections: tabs }));
        const other = { ...page, request_seconds: read, kernels: [...strangers, ...kernels] };
        expect(look(other)).toEqual(look(page));
      }),
    );
  });

  test("is a busy kernel, or else the last of its kernels, terminals and writes", () => {
    fc.assert(
      fc.property(use, (page) => {
        const kernels = page.kernels.filter((one) => one.ever_connected);
        const times = [
          ...kernels.map((one) => (one.busy ? 0 : one.idle_seconds)),
          ...page.terminals.map((one) => one.idle_seconds),
          ...(page.write_seconds === null ? [] : [page.write_seconds]),
        ];
        const agoMs = times.length === 0 ? null : Math.min(...times) * 1_000;
        expect(look(page)).toEqual({ held: false, agoMs });
      }),
    );
  });
});

describe("other kinds and types", () => {
  const quiet: ServerUse = {
    kernels: [],
    terminals: [],
    write_seconds: 1,
    request_seconds: 2,
  };
  const one = { busy: false, idle_seconds: 500, connections: 0, ever_connected: true };

  test("a notebook by kernels_or_terminals is in use while one exists", () => {
    const look = (page: ServerUse) => observationOf("notebook", "kernels_or_terminals", seen(page));
    expect(look(quiet)).toEqual({ held: false, agoMs: null });
    expect(look({ ...quiet, kernels: [one] })).toMatchObject({ held: true });
    expect(look({ ...quiet, terminals: [{ idle_seconds: 9 }] })).toMatchObject({ held: true });
  });

  test("a notebook by kernel_connections is in use while a kernel has a connection", () => {
    const look = (page: ServerUse) => observationOf("notebook", "kernel_connections", seen(page));
    expect(look({ ...quiet, kernels: [one] })).toEqual({ held: false, agoMs: null });
    const connected = { ...one, connections: 1 };
    expect(look({ ...quiet, kernels: [one, connected] })).toMatchObject({ held: true });
  });

  test("a TensorBoard is used by requests", () => {
    expect(observationOf("tensorboard", "activity", seen(quiet))).toEqual({
      held: false,
      agoMs: 2_000,
    });
  });

  test("every kind is used by its terminals and its ports", () => {
    const used = { typedAgoMs: 9_000, portsAgoMs: 4_000 };
    const look = { held: false, agoMs: 4_000 };
    expect(observationOf("shell", "activity", { ...used, page: null })).toEqual(look);
    const idle = { ...quiet, write_seconds: 100 };
    expect(observationOf("notebook", "activity", { ...used, page: idle })).toEqual(look);
  });
});
