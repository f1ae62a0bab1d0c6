/**
 * Tests in which a part is down until the test starts it again. They share one cluster with a process per service: to
 * start it takes longer than most of what they do.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forgedDocument } from "../edges/scenarios/forged-document.ts";
import { linkedFolder } from "../edges/scenarios/linked-folder.ts";
import { troubledMetrics } from "../metrics/troubled-metrics.ts";
import { troubledWatch } from "../watch/troubled-watch.ts";
import { World } from "../world/world.ts";
import { endAway, type Farewell } from "./end-away.ts";
import { natsAway, natsWiped } from "./nats-away.ts";
import { shortSearch } from "./search-under-test.ts";

const slow = 1_200_000;
let world: World;

beforeAll(async () => {
  world = await World.start({ processes: true, slots: 3, restart: false });
});
afterAll(() => world[Symbol.asyncDispose]());

/** The scenarios that take seconds; `npm run -s campaign -- edges` runs all of them, and the outages. */
test.each([forgedDocument, linkedFolder])("$name affects no other user", async ({ run }) => {
  expect(await run(world)).toEqual([]);
});

describe("while NATS is away", () => {
  const options = { ...shortSearch, stepSeconds: 0.6, log: () => {} };

  test(
    "nothing is lost when NATS loses its data folder twice",
    async () => {
      expect(await natsWiped(world, { ...options, seed: 8 })).toEqual([]);
    },
    slow,
  );

  test(
    "during an outage of NATS no agent is lost and trials train on, and afterwards nothing is missing",
    async () => {
      expect(await natsAway(world, { ...options, seed: 9, awayMs: 20_000 })).toEqual([]);
    },
    slow,
  );
});

/** `npm run -s campaign -- metrics` applies all troubles, several times each. */
test(
  "the stored table equals the reports, and each subscriber gets the stored table, whatever process dies",
  async () => {
    const said: string[] = [];
    const { violations } = await troubledMetrics(world, {
      seed: 3,
      trials: 1,
      pauseMs: 60,
      troubles: [{ part: "metrics" }, { part: "gateway" }, { part: "nats", wipe: true }],
      log: (line) => said.push(line),
    });
    expect(violations, said.join("\n")).toEqual([]);
  },
  slow,
);

/** `npm run -s campaign -- watch` has 50 clients, and each part down for 90 s. */
test(
  "each client of Watch has the content of the lists in the end, whatever process dies",
  async () => {
    const said: string[] = [];
    const { violations } = await troubledWatch(world, {
      seed: 5,
      clients: 5,
      troubles: [
        { part: "gateway", awayMs: 500 },
        { part: "nats", awayMs: 500, wipe: true },
      ],
      log: (line) => said.push(line),
    });
    expect(violations, said.join("\n")).toEqual([]);
  },
  slow,
);

const stored = { checkpoints: ["COMPLETED"], downloaded: '{"step": 7}' };

describe("while the gateway is away", () => {
  let farewells: readonly Farewell[] = [];

  beforeAll(async () => {
    farewells = await endAway(world, "gateway", [0, 3]);
  }, slow);

  test("a run that ends has a complete last checkpoint afterwards, which can be downloaded", () => {
    expect(farewells[0]).toEqual({ state: "COMPLETED", starts: ["starts at 0"], ...stored });
  });

  test("the run after a failed one waits for its last checkpoint, and starts from it", () => {
    const starts = ["starts at 0", "starts at 7"];
    expect(farewells[1]).toEqual({ state: "COMPLETED", starts, ...stored });
  });
});

test(
  "a run that ends while PostgreSQL is down has a complete last checkpoint afterwards, which can be downloaded",
  async () => {
    const farewells = await endAway(world, "postgres", [0]);
    expect(farewells).toEqual([{ state: "COMPLETED", starts: ["starts at 0"], ...stored }]);
  },
  slow,
);
