/** Tests of the commands about pools, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const gpus = {
  name: "gpus",
  policy: "fair_share",
  settings: {
    description: "the large ones",
    compat: "",
    preemption: true,
    backfill: "reserved",
    fit: "pack",
    ageingMs: 5_400_000,
    quotas: [
      { workspace: "research", slots: 16, borrow: true },
      { workspace: "product", slots: 8 },
    ],
    defaultPriority: 42,
    slotlessPerAgent: 100,
    preemptExemptMs: 120_000,
    autoscaling: {
      agentsMin: 1,
      agentsMax: 8,
      slotsPerAgent: 4,
      idleMs: 600_000,
      startingMs: 1_200_000,
    },
  },
  agentsKnown: 3,
  agentsPresent: 2,
  slots: 24,
  slotsFree: 5,
  runsWaiting: 1,
  runsPlaced: 4,
  quotas: [
    { workspace: "research", slots: 16, used: 19, borrowed: 3 },
    { workspace: "product", slots: 8 },
  ],
  reservedFor: "7.1#1",
  slotsReserved: 8,
  setAside: "placement of gpus: a bug",
};

let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    if (call === "GET /api/v1/pools") return { body: { items: [gpus, { name: "empty" }] } };
    if (call === "GET /api/v1/pools/gpus") return { body: gpus };
    if (call.startsWith("GET")) return problem(404, "pool_not_found", "there is no pool none");
    return { body: { position: "7" } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** Returns the bodies of the requests that change something. */
function changes(): readonly (readonly [string, unknown])[] {
  const changing = gateway.requests.filter(({ call }) => !call.startsWith("GET"));
  expect(changing.every(({ idempotencyKey }) => idempotencyKey !== undefined)).toBe(true);
  return changing.map(({ call, body }) => [call, body]);
}

test("a pool is created with the settings of the options", async () => {
  const given = [
    ["--policy", "fair_share", "--no-preemption", "--backfill", "any", "--fit", "spread"],
    ["--ageing", "10m", "--quota", "research=16:borrow", "--quota", "product=8"],
    ["--compat", "determined", "--default-priority", "50", "--slotless-per-agent", "20"],
    ["--description", "of Ada", "--autoscaling", "max=8,slots=4,idle=5m"],
  ].flat();
  expect(await gateway.yard("pool", "create", "new", ...given)).toMatchObject({
    code: 0,
    err: "",
    lines: ["pool new is created"],
  });
  const settings = {
    description: "of Ada",
    compat: "determined",
    preemption: false,
    backfill: "any",
    fit: "spread",
    ageingMs: 600_000,
    quotas: [
      { workspace: "research", slots: 16, borrow: true },
      { workspace: "product", slots: 8 },
    ],
    defaultPriority: 50,
    slotlessPerAgent: 20,
    autoscaling: { agentsMax: 8, slotsPerAgent: 4, idleMs: 300_000, startingMs: 1_200_000 },
  };
  expect(changes()).toEqual([
    ["POST /api/v1/pools", { name: "new", policy: "fair_share", settings }],
  ]);
});

test("a pool that is created without options has the scheduler's defaults", async () => {
  expect((await gateway.yard("pool", "create", "plain")).code).toBe(0);
  expect(changes()).toEqual([["POST /api/v1/pools", { name: "plain", settings: {} }]]);
});

test("a pool update changes what is named, and nothing else", async () => {
  const updated = await gateway.yard("pool", "update", "gpus", "--quota", "product=12:borrow");
  expect(updated).toMatchObject({ code: 0, lines: ["pool gpus is updated"] });
  const [research] = gpus.settings.quotas;
  const product = { workspace: "product", slots: 12, borrow: true };
  expect(changes()).toEqual([
    [
      "PUT /api/v1/pools/gpus",
      { policy: "fair_share", settings: { ...gpus.settings, quotas: [research, product] } },
    ],
  ]);
});

test("the exemption from preemption is set, and begins with its default when the rules change", async () => {
  for (const options of [
    ["--preempt-exempt", "90s"],
    ["--compat", "none"],
  ]) {
    expect((await gateway.yard("pool", "update", "gpus", ...options)).code).toBe(0);
  }
  const { preemptExemptMs: _shown, ...rest } = gpus.settings;
  expect(changes().map(([, body]) => body)).toEqual([
    { policy: "fair_share", settings: { ...rest, preemptExemptMs: 90_000 } },
    { policy: "fair_share", settings: rest },
  ]);
});

test("the idle timeout of a pool's tasks is a time, or none for never", async () => {
  for (const time of ["30m", "none"]) {
    expect((await gateway.yard("pool", "update", "gpus", "--idle-timeout", time)).code).toBe(0);
  }
  expect(changes().map(([, body]) => body)).toMatchObject([
    { settings: { idleTimeoutMs: 1_800_000 } },
    { settings: { idleTimeoutMs: 0 } },
  ]);
});

test("a pool update with none removes a setting", async () => {
  const none = [
    "--ageing",
    "none",
    "--preempt-exempt",
    "none",
    "--quota",
    "research=none",
    "--autoscaling",
    "none",
  ];
  expect((await gateway.yard("pool", "update", "gpus", "--no-preemption", ...none)).code).toBe(0);
  const { autoscaling: _removed, ...rest } = gpus.settings;
  const [, product] = gpus.settings.quotas;
  const settings = {
    ...rest,
    preemption: false,
    preemptExemptMs: 0,
    ageingMs: 0,
    quotas: [product],
  };
  expect(changes()).toEqual([["PUT /api/v1/pools/gpus", { policy: "fair_share", settings }]]);
});

test("invalid option values of the pool commands exit with 2 and one sentence, and change nothing", async () => {
  const refused = async (...options: readonly string[]) => {
    const { code, err } = await gateway.yard("pool", "update", "gpus", ...options);
    expect(code).toBe(2);
    return err.split("\n")[0];
  };
  expect(await refused()).toBe("Give at least one setting to change; see --help.");
  expect(await refused("--policy", "luck")).toContain("Allowed choices are priority, fair_share");
  expect(await refused("--quota", "research")).toBe(
    '--quota takes workspace=16, workspace=16:borrow or workspace=none, not "research".',
  );
  expect(await refused("--default-priority", "high")).toBe(
    '--default-priority takes a whole number, at least 1, not "high".',
  );
  expect(await refused("--autoscaling", "max=2")).toContain("--autoscaling takes max=8,slots=4");
  expect(changes()).toEqual([]);
});

test("pools are listed with their slots and runs", async () => {
  expect((await gateway.yard("pool", "list")).lines).toEqual([
    "POOL POLICY AGENTS SLOTS FREE RESERVED PLACED WAITING",
    "gpus fair_share, preemption 2/3 24 5 8 4 1",
    "empty 0/0 0 0 0 0 0",
  ]);
  const { out } = await gateway.yard("pool", "list", "-o", "json");
  expect(JSON.parse(out)).toMatchObject({ items: [{ name: "gpus" }, { name: "empty" }] });
});

test("a pool is described with its settings, its reservation, and the slots that its quotas lend", async () => {
  expect((await gateway.yard("pool", "describe", "gpus")).lines).toEqual([
    "pool gpus",
    "description the large ones",
    "policy fair_share",
    "preemption yes",
    "preempt exempt 2m",
    "backfill reserved",
    "fit pack",
    "ageing one priority per 1h 30m",
    "rules of Trainyard",
    "default priority 42",
    "idle timeout that of the cluster",
    "slotless per agent 100",
    "autoscaling 1 to 8 agents of 4 slots, idle for at most 10m, starting for at most 20m",
    "agents 2/3 connected",
    "slots 24, of which 5 are free",
    "runs 4 placed, 1 waiting",
    "reserved 8 slots for run 7.1#1, the first that has no place",
    "set aside placement of gpus: a bug",
    "",
    "WORKSPACE QUOTA USED ON LOAN",
    "research 16 19 3 may borrow",
    "product 8 0 0",
  ]);
  expect(await gateway.yard("pool", "describe", "none")).toMatchObject({
    code: 2,
    err: "There is no pool none.\n",
  });
});

test("a pool is removed", async () => {
  expect((await gateway.yard("pool", "remove", "gpus")).lines).toEqual(["pool gpus is removed"]);
  expect(changes()).toEqual([["DELETE /api/v1/pools/gpus", null]]);
});
