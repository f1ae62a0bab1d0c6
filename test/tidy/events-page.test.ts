import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as catalogue from "@trainyard/contracts";
import { beforeAll, describe, expect, it, test } from "vitest";
import { eventsPage } from "../../scripts/lib/events-page/page.ts";
import { type Protocol, readProtocol } from "../../scripts/lib/events-page/protocol.ts";
import { readersOf } from "../../scripts/lib/events-page/readers.ts";
import { compareEventsPage, eventsPath } from "../../scripts/lib/generated-code.ts";
import { root } from "../../scripts/lib/root.ts";

let protocol: Protocol;
beforeAll(async () => {
  protocol = await readProtocol();
});

const page = (over: Partial<Protocol> = {}): string =>
  eventsPage(catalogue, { ...protocol, ...over }, []);

/** Returns the part of the page about an event. */
function part(text: string, heading: string): string {
  return text.split(/^(?=##)/m).find((one) => one.startsWith(`### ${heading}\n`)) ?? "";
}

describe("the page of events", () => {
  it("has each event of the catalogue with its meaning and the types of its fields", () => {
    const text = page();
    for (const { name } of catalogue.eventTypes) expect(part(text, name)).not.toBe("");
    expect(part(text, "AllocationGranted")).toContain(
      "- `placements` list of [Placement](#placement)\n- `masterAddress` string: The address of the first node",
    );
    expect(part(text, "AgentJoined")).toContain("- `labels` map of string to string");
    expect(part(text, "RunEnded")).toContain("- `awaitedUntilMs` optional double: ");
    expect(part(text, "Placement")).toContain("- `nodeRank` uint32");
    expect(text).toContain("These streams also have [RunRequested](#runrequested), ");
    expect(part(text, "WaitCode")).toContain("- `WAIT_CODE_LOW_DISK`: The agents");
  });

  it("refuses an event without a comment, and a stream that names a wrong owner", () => {
    const name = "trainyard.event.v1.RunEnded";
    const runEnded = protocol.messages.get(name);
    if (runEnded === undefined) throw new Error("there is a RunEnded");
    const silent = new Map(protocol.messages).set(name, { ...runEnded, comment: "" });
    expect(() => page({ messages: silent })).toThrow("does not say what RunEnded means");
    const moved = new Map(protocol.streams).set("trial", { shape: "trial-…", owner: "gateway" });
    expect(() => page({ streams: moved })).toThrow("names no stream trial-… of its owner");
  });

  it("is recognised as outdated after an edit", async () => {
    expect(await compareEventsPage()).toEqual({ seen: 1, problems: [] });
    const folder = mkdtempSync(join(tmpdir(), "trainyard-events-"));
    try {
      const copy = join(folder, "events.md");
      expect((await compareEventsPage(copy)).problems).toHaveLength(1);
      writeFileSync(copy, `${readFileSync(join(root, eventsPath), "utf8")}\n`);
      expect((await compareEventsPage(copy)).problems).toHaveLength(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test("each method of the public API has a comment", () => {
  const ofApi = [...protocol.methods].filter(([name]) => name.startsWith("trainyard.api.v1."));
  expect(ofApi.length).toBeGreaterThan(100);
  expect(ofApi.filter(([, comment]) => comment === "")).toEqual([]);
});

describe("the code that has to do with an event", () => {
  const event = { name: "RunEnded", owner: "experiments" };
  const readers = (path: string, text: string) => readersOf(event, [{ path, text }]);

  it("is a producer only in the event's owner or in a lib", () => {
    const builds = 'return [{ type: "RunEnded", data }];\n';
    expect(readers("services/experiments/src/core/a.ts", builds).isProduced).toBe(true);
    expect(readers("libs/search/src/a.ts", builds).isProduced).toBe(true);
    expect(readers("services/searcher/src/a.ts", builds).isProduced).toBe(false);
    const folds = 'case "RunEnded":\n';
    expect(readers("services/experiments/src/core/a.ts", folds).isProduced).toBe(false);
  });

  it("is a reaction if a ReactionHandlers has the event's key, and else a reader", () => {
    const reacts = "const reactions: ReactionHandlers = {\n  RunEnded: endRun,\n};\n";
    expect(readers("services/searcher/src/a.ts", reacts)).toMatchObject({
      reacts: ["searcher"],
      reads: [],
    });
    const shows = "const shown: Projections = {\n  RunEnded({ id }) {},\n};\n";
    expect(readers("services/gateway/src/a.ts", shows)).toMatchObject({
      reacts: [],
      reads: ["gateway"],
    });
    const folds = 'if (event.type !== "RunEnded") return state;\n';
    expect(readers("services/metrics/src/a.ts", folds).reads).toEqual(["metrics"]);
    expect(readers("services/experiments/src/a.ts", folds).reads).toEqual([]);
  });
});
