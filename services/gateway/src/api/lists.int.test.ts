import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { created, requested, searchStarted, validation } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

/** The facts about an experiment that the test appends to the log. */
type Known = {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly labels: readonly string[];
  readonly lr: number | string | null;
  readonly best: number | null;
};

const count = 60;
let gateway: TestGateway;
let known: Known[];
let position: number;

/** Makes experiments with skewed values: many equal, some absent, and numbers and texts under one name. */
function knownOf(id: number): Known {
  const lrs = [0.1, 0.1, 0.01, 1e-9, "auto", "0.1", null, Number.MAX_VALUE] as const;
  return {
    id,
    name: ["resnet-50 base", "ResNet_large", "vit", "with \u0000 and \ud800", ""][id % 5] ?? "",
    owner: id % 7 === 0 ? "grace" : "ada",
    labels: [...(id % 2 === 0 ? ["even"] : []), ...(id % 3 === 0 ? ["a b"] : [])],
    lr: lrs[id % lrs.length] ?? null,
    best: id % 4 === 0 ? null : (id * 7) % 11,
  };
}

async function write({ id, name, owner, labels, lr, best }: Known): Promise<number> {
  const hyperparameters = lr === null ? {} : { optimizer: { lr } };
  const config = { searcher: { name: "random", metric: "loss" }, hyperparameters };
  const first = created({ name, owner, labels: [...labels], config });
  const at = await gateway.append(`experiment-${id}`, first);
  if (best === null) return at;
  await gateway.append(`search-${id}`, searchStarted());
  const trial = `${id}.1`;
  await gateway.append(
    `trial-${trial}`,
    {
      type: "TrialCreated",
      data: {
        experiment: String(id),
        number: 1,
        seed: 1,
        warmStartCheckpoint: "",
        sourceTrial: "",
        origin: "drawn",
        hyperparameters,
      },
    },
    requested(1, 0),
  );
  const report = validation({ step: 1, loss: best });
  return gateway.append(`measurement-${trial}`, { ...report, data: { ...report.data, trial } });
}

beforeAll(async () => {
  gateway = await startTestGateway();
  known = Array.from({ length: count }, (_, index) => knownOf(index + 1));
  for (const one of known) position = await write(one);
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});

afterAll(() => gateway[Symbol.asyncDispose]());

type Asked = { readonly filter?: string; readonly orderBy?: string; readonly pageSize?: number };

async function listed(asked: Asked): Promise<number[]> {
  const ids: number[] = [];
  for (let pageToken = ""; ; ) {
    const query = new URLSearchParams({ pageSize: "1000", ...asked, pageToken } as never);
    const { status, body } = await gateway.call("GET", `/api/v1/experiments?${query}`);
    if (status !== 200) throw new Error(String(body["detail"]));
    ids.push(...(body["items"] as { id: string }[]).map(({ id }) => Number(id)));
    pageToken = String(body["nextPageToken"]);
    if (pageToken === "") return ids;
  }
}

type Condition = { readonly text: string; readonly holds: (one: Known) => boolean };

const numberOf = (lr: Known["lr"]): number | null => (typeof lr === "number" ? lr : null);

const conditions: readonly Condition[] = [
  { text: "owner = grace", holds: ({ owner }) => owner === "grace" },
  { text: "owner != grace", holds: ({ owner }) => owner !== "grace" },
  { text: "name : ResNet", holds: ({ name }) => name.startsWith("ResNet") },
  { text: "resn", holds: ({ name }) => /resn/i.test(name) },
  { text: '"base 50"', holds: ({ name }) => name === "resnet-50 base" },
  { text: "label = even", holds: ({ labels }) => labels.includes("even") },
  { text: 'label != "a b"', holds: ({ labels }) => !labels.includes("a b") },
  { text: "best_value < 5", holds: ({ best }) => best !== null && best < 5 },
  { text: "best_value != 3", holds: ({ best }) => best !== 3 },
  { text: "best_value:*", holds: ({ best }) => best !== null },
  { text: "metrics.loss >= 5", holds: ({ best }) => best !== null && best >= 5 },
  { text: "hparams.optimizer.lr = 0.1", holds: ({ lr }) => lr === 0.1 || lr === "0.1" },
  { text: 'hparams.optimizer.lr = "0.1"', holds: ({ lr }) => lr === "0.1" },
  { text: "hparams.optimizer.lr != 0.1", holds: ({ lr }) => lr !== null && Number(lr) !== 0.1 },
  { text: "hparams.optimizer.lr <= 0.01", holds: ({ lr }) => (numberOf(lr) ?? 1) <= 0.01 },
  { text: "hparams.optimizer.lr : au", holds: ({ lr }) => lr === "auto" },
  { text: "hparams.optimizer.lr:*", holds: ({ lr }) => lr !== null },
  { text: "id > 30", holds: ({ id }) => id > 30 },
  { text: "created_at > -1h", holds: () => true },
  { text: "state = completed", holds: () => false },
];

const leaf = fc.constantFrom(...conditions);
const condition: fc.Arbitrary<Condition> = fc.letrec<{ tree: Condition }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    tie("tree").map(({ text, holds }) => ({
      text: `not (${text})`,
      holds: (one: Known) => !holds(one),
    })),
    fc.tuple(tie("tree"), tie("tree"), fc.boolean()).map(([a, b, all]) => ({
      text: `(${a.text} ${all ? "" : "or"} ${b.text})`,
      holds: (one: Known) => (all ? a.holds(one) && b.holds(one) : a.holds(one) || b.holds(one)),
    })),
  ),
})).tree;

type Key = { readonly text: string; readonly of: (one: Known) => number | string | null };

const keys: readonly Key[] = [
  { text: "id", of: ({ id }) => id },
  { text: "owner", of: ({ owner }) => owner },
  { text: "best_value", of: ({ best }) => best },
  { text: "hparams.optimizer.lr", of: ({ lr }) => lr },
  { text: "metrics.loss", of: ({ best }) => best },
];

/** Returns ids in the order of the list: numbers, then texts, then rows without a value, newest first. */
function sorted(rows: readonly Known[], key: Key, descending: boolean): number[] {
  const rank = (value: number | string | null) =>
    value === null ? 2 : Number(typeof value === "string");
  const direction = descending ? -1 : 1;
  return rows
    .toSorted((a, b) => {
      const [left, right] = [key.of(a), key.of(b)];
      if (rank(left) !== rank(right)) return rank(left) - rank(right);
      if (left === null || right === null) return b.id - a.id;
      if (left !== right) return (left < right ? -1 : 1) * direction;
      return (a.id - b.id) * direction;
    })
    .map(({ id }) => id);
}

describe("a list of experiments", () => {
  it("has the rows that match its filter, in the requested order, in pages of any size", async () => {
    // A list in pages of one row takes a request for each row.
    const pageSize = fc.oneof(
      { weight: 1, arbitrary: fc.constant(1) },
      { weight: 4, arbitrary: fc.constantFrom(7, 1_000) },
    );
    await fc.assert(
      fc.asyncProperty(
        condition,
        fc.constantFrom(...keys),
        fc.boolean(),
        pageSize,
        async ({ text, holds }, key, descending, size) => {
          const found = await listed({
            filter: text,
            orderBy: `${key.text} ${descending ? "desc" : "asc"}`,
            pageSize: size,
          });
          expect(found).toEqual(
            sorted(
              known.filter((one) => holds(one)),
              key,
              descending,
            ),
          );
        },
      ),
      { numRuns: 120, seed: 16 },
    );
  });

  it("leaves out configurations, and has the requested columns", async () => {
    const path = "/api/v1/experiments?fields=id&fields=best_value&fields=hparams.optimizer.lr";
    const { body } = await gateway.call("GET", `${path}&filter=id%3D9`);
    expect(body["items"]).toEqual([
      { id: "9", bestValue: 8, values: { "hparams.optimizer.lr": 0.1 } },
    ]);
    const whole = await gateway.call("GET", "/api/v1/experiments?pageSize=1");
    expect((whole.body["items"] as object[])[0]).not.toHaveProperty("config");
    const { body: one } = await gateway.call("GET", "/api/v1/experiments/9");
    expect(one).toMatchObject({ config: { hyperparameters: { optimizer: { lr: 0.1 } } } });
  });

  it("is counted on request", async () => {
    const { body } = await gateway.call(
      "GET",
      "/api/v1/experiments?count=true&pageSize=2&filter=owner%3Dada",
    );
    const ada = known.filter(({ owner }) => owner === "ada").length;
    expect(body).toMatchObject({ total: ada, totalIsEstimate: false });
  });

  it.each([
    ["filter=stat%3DERROR", /^filter, column 1: experiments have no field "stat"/],
    ["filter=(", /^filter, column 2: a condition is missing/],
    ["orderBy=naem", /^order_by: experiments have no field "naem"/],
    ["fields=naem", /^items have no field "naem"; the fields are id, name,/],
    ["pageToken=abc", /^invalid page_token$/],
  ])("is refused in a sentence with %s", async (query, sentence) => {
    const { status, body } = await gateway.call("GET", `/api/v1/experiments?${query}`);
    expect(status).toBe(400);
    expect(body["detail"]).toMatch(sentence);
  });

  it("is refused with the page token of another list", async () => {
    const first = await gateway.call("GET", "/api/v1/experiments?pageSize=1");
    const token = String(first.body["nextPageToken"]);
    const other = await gateway.call("GET", `/api/v1/experiments?orderBy=name&pageToken=${token}`);
    expect(other).toMatchObject({
      status: 400,
      body: { detail: /^the page_token is of another list/ },
    });
  });

  it.each(["name", "best_value", "archived", "hparams.optimizer.lr", "id"])(
    "never fails with a 500 for an invented page token, sorted by %s",
    async (orderBy) => {
      const first = await gateway.call("GET", `/api/v1/experiments?pageSize=1&orderBy=${orderBy}`);
      const text = Buffer.from(String(first.body["nextPageToken"]), "base64url").toString("utf8");
      const [digest] = JSON.parse(text) as [string];
      const any = fc.jsonValue({ maxDepth: 1 });
      const value = fc.oneof(fc.string(), fc.boolean(), fc.constant(null));
      const key = fc.oneof(
        fc.record({ value }),
        fc.record({ number: fc.oneof(fc.string(), fc.double().map(String)) }),
      );
      const sound = [
        fc.double({ noNaN: true }),
        fc.nat({ max: 3 }),
        key,
        fc.maxSafeInteger(),
        fc.string(),
      ] as const;
      const anything = fc.tuple(any, any, any, any, any);
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.tuple(...sound), anything), async (parts) => {
          const token = Buffer.from(JSON.stringify([digest, ...parts])).toString("base64url");
          const { status } = await gateway.call(
            "GET",
            `/api/v1/experiments?orderBy=${orderBy}&pageToken=${token}`,
          );
          expect([200, 400]).toContain(status);
        }),
        { numRuns: 60 },
      );
    },
  );
});

test("a list reflects new events of its rows", async () => {
  const before = await listed({ filter: "best_value < -50" });
  expect(before).toEqual([]);
  const report = validation({ step: 2, loss: -100 });
  const at = await gateway.append("measurement-5.1", {
    ...report,
    data: { ...report.data, trial: "5.1" },
  });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${at}`);
  expect(await listed({ filter: "best_value < -50" })).toEqual([5]);
  expect(await listed({ filter: "metrics.loss = -100" })).toEqual([5]);
  const back = await gateway.append("measurement-5.1", {
    type: "MeasurementsSuperseded",
    data: { run: 2, afterStep: 1 },
  });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${back}`);
  expect(await listed({ filter: "metrics.loss = -100 or best_value < -50" })).toEqual([]);
  await gateway.append("measurement-5.1", {
    ...report,
    data: { ...report.data, trial: "5.1", run: 1, step: 3 },
  });
});

test("the active trials of a paused experiment are found as PAUSED", async () => {
  const trials = async (filter: string) => {
    const query = new URLSearchParams({ filter });
    const { body } = await gateway.call("GET", `/api/v1/experiments/9/trials?${query}`);
    return (body["items"] as { id: string; state: string }[]).map(
      ({ id, state }) => `${id} ${state}`,
    );
  };
  expect(await trials("state = PAUSED")).toEqual(["9.1 PAUSED"]);
  const at = await gateway.append("experiment-9", { type: "ExperimentActivated", data: {} });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${at}`);
  expect(await trials("state = PAUSED")).toEqual([]);
  expect(
    await trials("state = ACTIVE and hparams.optimizer.lr = 0.1 and metrics.loss > 1"),
  ).toEqual(["9.1 ACTIVE"]);
});
