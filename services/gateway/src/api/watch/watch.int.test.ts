import type { JsonObject } from "@bufbuild/protobuf";
import type { Plain } from "@trainyard/contracts";
import type { WatchTopic } from "@trainyard/contracts/api";
import { Cost } from "@trainyard/contracts/routes";
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { costRows } from "../../http/costs.ts";
import { liveLimits } from "../../live/limits.ts";
import { created, requested, searchStarted, validation } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { positionOf, watching } from "../../testing/watching.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});

afterAll(() => gateway[Symbol.asyncDispose]());

type Topics = readonly Partial<Plain<WatchTopic>>[];
type Document = { readonly id: string; readonly state: string; readonly name: string };
type Frame = {
  readonly opened?: { readonly topics: readonly string[] };
  readonly change?: { readonly id: string } & Readonly<Record<string, Document>>;
  readonly gone?: { readonly id: string };
  readonly reset?: { readonly topic: string };
};

/** The documents of one topic, kept up to date by its frames. */
class Watching {
  readonly documents = new Map<string, Document | null>();
  cursor = "";
  resets = 0;
  changes = 0;
  url = gateway.url;
  readonly #topic: Topics[number];

  constructor(topic: Topics[number]) {
    this.#topic = topic;
  }

  /** Reads up to a position, or `frames` frames, and then disconnects. */
  async until(position: number, frames = Number.POSITIVE_INFINITY): Promise<void> {
    let count = 0;
    const body = { topics: [this.#topic] as JsonObject[], after: this.cursor };
    for await (const { id, frame } of watching({ url: this.url, token: gateway.token }, body)) {
      this.#take(frame as Frame);
      if (id !== "") this.cursor = id;
      count += 1;
      const isThere = this.cursor !== "" && positionOf(this.cursor) >= position;
      if (isThere || count >= frames) return;
    }
  }

  #take({ change, gone, reset }: Frame): void {
    const document = change?.["experiment"] ?? change?.["trial"];
    if (change !== undefined) this.changes += 1;
    if (change !== undefined && document !== undefined) this.documents.set(change.id, document);
    if (gone !== undefined) this.documents.delete(gone.id);
    if (reset !== undefined) this.resets += 1;
  }

  ids(): readonly string[] {
    return [...this.documents.keys()].toSorted();
  }
}

async function now(): Promise<string> {
  const { body } = await gateway.call("GET", "/api/v1/experiments?pageSize=1");
  return String(body["position"]);
}

async function listed(filter: string): Promise<readonly Document[]> {
  const query = new URLSearchParams({ filter, pageSize: "1000" });
  const { body } = await gateway.call("GET", `/api/v1/experiments?${query}`);
  return (body["items"] as Document[]).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

describe("a watched list", () => {
  it("gets changes, and loses documents that stop matching its filter", async () => {
    const topic = { kind: "experiments", filter: "owner = ada", position: await now() };
    await gateway.append("experiment-1", created({ owner: "ada", name: "one" }));
    const at = await gateway.append("experiment-2", created({ owner: "grace" }));
    const watching = new Watching(topic);
    await watching.until(at);
    expect(watching.ids()).toEqual(["1"]);
    expect(watching.documents.get("1")).toMatchObject({ name: "one", state: "PAUSED" });
    const later = await gateway.append("experiment-1", {
      type: "ExperimentArchived",
      data: { reason: "" },
    });
    await watching.until(later);
    expect(watching.ids()).toEqual([]);
  });

  it("gets a change while it is open", async () => {
    const watching = new Watching({ kind: "experiments", id: "2" });
    await watching.until(0);
    const position = positionOf(watching.cursor) + 1;
    const reading = watching.until(position);
    await gateway.append("experiment-2", { type: "ExperimentActivated", data: {} });
    await reading;
    expect(watching.documents.get("2")).toMatchObject({ state: "ACTIVE" });
  });

  it("shows the active trials of a paused experiment as paused", async () => {
    await gateway.append("search-2", searchStarted());
    const trial = { experiment: "2", number: 1, seed: 1, warmStartCheckpoint: "", sourceTrial: "" };
    const trialAt = await gateway.append(
      "trial-2.1",
      { type: "TrialCreated", data: { ...trial, origin: "drawn" } },
      requested(1, 0),
    );
    const filter = "state = ACTIVE";
    const watching = new Watching({ kind: "trials", experiment: "2", filter, position: "0" });
    await watching.until(trialAt);
    expect(watching.ids()).toEqual(["2.1"]);
    const at = await gateway.append("experiment-2", { type: "ExperimentPaused", data: {} });
    await watching.until(at);
    expect(watching.ids()).toEqual([]);
  });
});

describe("a resumed watch", () => {
  it("continues at its cursor, although its topics name the old positions of their lists", async () => {
    await gateway.append("experiment-3", created({ name: "three" }));
    const at = await gateway.append("experiment-3", { type: "ExperimentActivated", data: {} });
    const watching = new Watching({ kind: "experiments", id: "3", position: String(at - 1) });
    await watching.until(at);
    expect(watching.changes).toBeGreaterThan(0);
    watching.changes = 0;
    const later = await gateway.append("experiment-6", created({}));
    await watching.until(later);
    expect(watching.changes).toBe(0);
  });

  it("begins a new topic at the position of its list", async () => {
    const position = Number(await now());
    const at = await gateway.append("experiment-4", created({ name: "four" }));
    const other = new Watching({ kind: "agents" });
    await other.until(at);
    const watching = new Watching({ kind: "experiments", id: "4", position: String(position) });
    watching.cursor = other.cursor;
    await watching.until(at, 2);
    await watching.until(at);
    expect(watching.documents.get("4")).toMatchObject({ name: "four" });
  });

  it("keeps the time that its relative filters count from", async () => {
    const at = await gateway.append("experiment-5", created({ name: "five" }));
    const filter = "id = 5 created_at > -1d";
    const watching = new Watching({ kind: "experiments", filter, position: String(at - 1) });
    await watching.until(at);
    expect(watching.ids()).toEqual(["5"]);
    watching.url = await gateway.startAnother({ clock: inTwoDays });
    const later = await gateway.append("experiment-5", { type: "ExperimentActivated", data: {} });
    await watching.until(later);
    expect(watching.documents.get("5")).toMatchObject({ state: "ACTIVE" });
    const second = new Watching({ kind: "experiments", filter, position: String(at - 1) });
    second.url = watching.url;
    await second.until(later);
    expect(second.ids()).toEqual([]);
  });
});

const inTwoDays: Clock = {
  nowMs: () => systemClock.nowMs() + 2 * 86_400_000,
  monotonicMs: () => systemClock.monotonicMs(),
  timer: (afterMs, callback) => systemClock.timer(afterMs, callback),
};

type Step = { readonly kind: "create" | "toggle" | "report" | "archive"; readonly chance: number };

test("after any history and disconnects, a list plus its frames is the final list", async () => {
  const filters = [
    "",
    "owner = ada",
    "state = ACTIVE or best_value < 5",
    "hparams.lr > 0.5 not label = even",
  ];
  let next = 100;
  const lives = new Map<number, { active: boolean; archived: boolean; steps: number }>();

  async function take({ kind, chance }: Step): Promise<number> {
    const ids = [...lives.keys()];
    const id = ids[Math.floor(chance * ids.length)];
    const life = id === undefined ? undefined : lives.get(id);
    if (kind === "create" || id === undefined || life === undefined) {
      const own = next;
      next += 1;
      lives.set(own, { active: false, archived: false, steps: 0 });
      const labels = own % 2 === 0 ? ["even"] : [];
      const owner = chance < 0.5 ? "ada" : "grace";
      const config = {
        searcher: { name: "random", metric: "loss" },
        hyperparameters: { lr: chance },
      };
      await gateway.append(`search-${own}`, searchStarted());
      const position = await gateway.append(
        `experiment-${own}`,
        created({ labels, owner, config }),
      );
      const trial = { number: 1, seed: 1, warmStartCheckpoint: "", sourceTrial: "" };
      const data = { ...trial, experiment: String(own), origin: "drawn" };
      return Math.max(
        position,
        await gateway.append(`trial-${own}.1`, { type: "TrialCreated", data }, requested(1, 0)),
      );
    }
    if (kind === "toggle") {
      life.active = !life.active;
      const type = life.active ? "ExperimentActivated" : "ExperimentPaused";
      return gateway.append(`experiment-${id}`, { type, data: {} });
    }
    if (kind === "archive") {
      life.archived = !life.archived;
      const data = { reason: "" };
      const type = life.archived ? "ExperimentArchived" : "ExperimentUnarchived";
      return gateway.append(`experiment-${id}`, { type, data } as never);
    }
    life.steps += 1;
    const report = validation({ step: life.steps, loss: 10 * chance });
    const data = { ...report.data, trial: `${id}.1` };
    return gateway.append(`measurement-${id}.1`, { ...report, data });
  }

  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom("create", "toggle", "report", "archive"),
    chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });
  const watched = await Promise.all(
    filters.map(async (filter) => {
      const watching = new Watching({ kind: "experiments", filter, position: await now() });
      for (const one of await listed(filter)) watching.documents.set(one.id, one);
      return { filter, watching };
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.nat({ max: 6 }),
      async (steps, frames) => {
        let position = 0;
        for (const one of steps) position = Math.max(position, await take(one));
        await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
        for (const { filter, watching } of watched) {
          // The client disconnects after some frames, and reconnects.
          await watching.until(position, frames + 1);
          await watching.until(position);
          const list = await listed(filter);
          expect(watching.ids()).toEqual(list.map(({ id }) => id));
          expect(list).toMatchObject(watching.ids().map((id) => watching.documents.get(id) ?? {}));
        }
      },
    ),
    { numRuns: 25, seed: 16 },
  );
});

describe("a watch", () => {
  it("is reset if its cursor is of another history", async () => {
    const position = Number(await now());
    const forged = Buffer.from(JSON.stringify([position, "another"])).toString("base64url");
    const watching = new Watching({ kind: "experiments" });
    watching.cursor = forged;
    // The client disconnects before the reset arrives, so the next connection gets the reset.
    await watching.until(Number.POSITIVE_INFINITY, 1);
    expect(watching.resets).toBe(0);
    await watching.until(Number.POSITIVE_INFINITY, 2);
    expect(watching.resets).toBe(1);
  });

  it.each<[string, Topics, RegExp]>([
    ["no topic", [], /^topics are 1 to 64, and there are 0$/],
    [
      "65 topics",
      Array.from({ length: liveLimits.watchTopicsMax + 1 }, () => ({ kind: "experiments" })),
      /^topics are 1 to 64, and there are 65$/,
    ],
    ["an unknown kind", [{ kind: "tokens" }], /^topics\[0\]\.kind is "tokens"; the kinds are/],
    ["trials of nothing", [{ kind: "trials" }], /^topics\[0\] needs an experiment/],
    [
      "an unknown experiment",
      [{ kind: "trials", experiment: "999" }],
      /^there is no experiment 999/,
    ],
    ["an unknown document", [{ kind: "agents", id: "gpu-9" }], /^there is no agent gpu-9/],
    [
      "a filter on an unknown field",
      [{ kind: "agents", filter: "stat = LOST" }],
      /^topics\[0\]\.filter, column 1: agents have no field "stat"/,
    ],
  ])("with %s is refused in a sentence", async (_what, topics, sentence) => {
    const { status, body } = await gateway.call("POST", "/api/v1/watch", { body: { topics } });
    expect([400, 404]).toContain(status);
    expect(body["detail"]).toMatch(sentence);
  });

  it("beyond the limit of a token is refused until another watch ends", async () => {
    const open = async (token = gateway.token) => {
      const stop = new AbortController();
      const { status } = await fetch(`${gateway.url}/api/v1/watch`, {
        method: "POST",
        signal: stop.signal,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ topics: [{ kind: "experiments" }] }),
      });
      return { status, close: () => stop.abort() };
    };
    const streams: Awaited<ReturnType<typeof open>>[] = [];
    const ofOneMax = 64;
    expect(costRows[Cost.WATCH]).toMatchObject({ open: { ofOneMax } });
    const openUntil = async (status: number): Promise<void> => {
      for (let last = 0; last !== status; ) {
        const stream = await open();
        last = stream.status;
        if (last === 200) streams.push(stream);
        expect(streams.length).toBeLessThanOrEqual(ofOneMax);
      }
    };
    await openUntil(429);
    // The limit is counted per token, also for tokens of the same owner.
    const made = await gateway.call("POST", "/api/v1/tokens", { body: { label: "other" } });
    const other = await open(String(made.body["secret"]));
    expect(other.status).toBe(200);
    other.close();
    streams.pop()?.close();
    await openUntil(200);
    for (const { close } of streams) close();
  });

  it("with an invalid cursor is refused", async () => {
    const body = { topics: [{ kind: "experiments" }], after: "soon" };
    expect(await gateway.call("POST", "/api/v1/watch", { body })).toMatchObject({
      status: 400,
      body: { code: "invalid_cursor", detail: "after is not a cursor of a stream" },
    });
  });
});
