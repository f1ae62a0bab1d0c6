/** Each verb of the command line, against one cluster. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "../world/world.ts";

function configOf(of: { steps?: number; stepSeconds?: number; more?: string } = {}): string {
  return `
name: verbs
entrypoint: python3 train.py
hyperparameters:
  lr: { type: categorical, vals: [0.1, 0.2] }
searcher: { name: grid, metric: loss, smaller_is_better: true }
environment:
  environment_variables:
    - STEPS=${of.steps ?? 6}
    - STEP_SECONDS=${of.stepSeconds ?? 0.01}
${of.more ?? ""}`;
}

type Page<Item> = {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
  readonly position: string;
};
type State = { readonly id: string; readonly state: string };

describe("yard", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start({ slots: 2, python: true });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  let experiment = "";

  test("experiment create -f shows the logs of the trials until they have ended", async () => {
    const file = world.write("config.yaml", configOf());
    const said = await world.yard("experiment", "create", file, world.code("steps"), "-f");
    expect(said).toMatchObject({ code: 0 });
    experiment = /created experiment (\d+)/.exec(said.out)?.[1] ?? "";
    for (const trial of [1, 2]) {
      expect(said.out).toContain(`[${experiment}.${trial}] step 6`);
    }
    expect(said.out).toContain(`experiment ${experiment} ended COMPLETED`);
  });

  test("experiment list and describe print a table, or exactly the API message", async () => {
    const table = await world.yard("e", "ls");
    expect(table.out).toMatch(new RegExp(`^ID +NAME +STATE.*\\n *${experiment} +verbs +COMPLETED`));
    const page = (await world.json("e", "ls")) as Page<State>;
    expect(page.items.map(({ id }) => id)).toEqual([experiment]);
    expect(page.nextPageToken).toBe("");
    expect(Number(page.position)).toBeGreaterThan(10);
    const described = await world.json("experiment", "describe", experiment);
    expect(described).toMatchObject({ id: experiment, state: "COMPLETED", trials: 2, progress: 1 });
    expect((await world.yard("experiment", "describe", experiment)).out).toMatch(/best +0\.16/);
  });

  test("trial list, describe, logs and metrics print the trial", async () => {
    const page = (await world.json("trial", "list", experiment)) as Page<State>;
    expect(page.items.map(({ id }) => id).toSorted()).toEqual([
      `${experiment}.1`,
      `${experiment}.2`,
    ]);
    const trial = `${experiment}.1`;
    expect(await world.json("trial", "describe", trial)).toMatchObject({
      state: "COMPLETED",
      stepsCompleted: 6,
      restarts: 0,
    });
    const logs = await world.yard("trial", "logs", trial);
    // On a busy machine lines of the SDK are between them.
    expect(logs.out.match(/^step \d+$/gm)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `step ${n}`));
    const metrics = (await world.json("trial", "metrics", trial, "--group", "validation")) as Page<{
      stepsCompleted: number;
      run: number;
    }>;
    expect(metrics.items.map(({ stepsCompleted }) => stepsCompleted)).toEqual([3, 6]);
    expect((await world.yard("t", "metrics", trial)).out).toMatch(/RUN +GROUP +STEPS +METRICS/);
  });

  test("trial metrics prints series of several trials, names, and files", async () => {
    const trials = [`${experiment}.1`, `${experiment}.2`];
    const answer = (await world.json(
      ...["trial", "metrics", ...trials, "--series", "loss", "--buckets", "3"],
    )) as { series: { trial: string; count: number[]; first: number[]; last: number[] }[] };
    const whole = { count: [2, 2, 2], first: [1, 1 / 3, 1 / 5], last: [1 / 2, 1 / 4, 1 / 6] };
    expect(answer.series).toMatchObject(trials.map((trial) => ({ trial, ...whole })));
    const table = await world.yard(
      ...["trial", "metrics", ...trials, "--series", "loss", "--combined", "--group", "validation"],
    );
    expect(table.out).toMatch(/all +loss +3 +1 +0\.333333/);
    const names = await world.yard("trial", "metrics", trials[0] ?? "", "--names", "lo");
    expect(names.out).toMatch(/training +loss +numbers\nvalidation +loss +numbers/);
    const csv = await world.yard(
      ...["trial", "metrics", trials[0] ?? "", "--group", "training", "--export", "csv"],
    );
    const lines = csv.out.trim().split("\n");
    expect(lines.length).toBe(7);
    expect(lines[0]).toBe("trial,run,group,step,time_ms,superseded,loss");
    const jsonl = await world.yard("trial", "metrics", trials[0] ?? "", "--export", "jsonl");
    const steps = jsonl.out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { step: number }).step);
    expect(steps.toSorted()).toEqual([1, 2, 3, 3, 4, 5, 6, 6]);
    expect(await world.yard("trial", "metrics", ...trials)).toMatchObject({ code: 2 });
  });

  test("checkpoint list, describe and download find the checkpoint", async () => {
    const page = (await world.json("checkpoint", "list", `${experiment}.1`)) as Page<{
      uuid: string;
      state: string;
      stepsCompleted: number;
    }>;
    const last = page.items.find(({ stepsCompleted }) => stepsCompleted === 6);
    expect(last?.state).toBe("COMPLETED");
    const uuid = last?.uuid ?? "";
    const described = await world.yard("checkpoint", "describe", uuid);
    expect(described.out).toMatch(/state\.json +\d+ +[0-9a-f]{64}/);
    expect(described.out).toMatch(/versions +python 3\.\d+\.\d+, trainyard \d/);
    expect(described.out).toMatch(/metadata +\{"steps_completed":6\}/);
    expect(await world.yard("checkpoint", "download", uuid, "fetched")).toMatchObject({ code: 0 });
    const state = readFileSync(join(world.folder, "fetched", "state.json"), "utf8");
    expect(JSON.parse(state)).toEqual({ step: 6 });
  });

  test("storage list and adopt show and accept the storage of a training, even when its marker was deleted", async () => {
    const { items } = (await world.json("storage", "list")) as Page<{
      root: string;
      storageId: string;
      countsAs: string;
    }>;
    const [{ root, storageId, countsAs } = { root: "", storageId: "", countsAs: "" }] = items;
    expect([items.length, countsAs]).toEqual([1, storageId]);
    const marker = join(root, ".trainyard-storage");
    expect(readFileSync(marker, "utf8").split("\n")[0]).toBe(storageId);
    const page = await world.client.call("listCheckpoints", { experiment });
    const uuid = page.items.find(({ state }) => state === "COMPLETED")?.uuid ?? "";
    expect((await world.yard("checkpoint", "describe", uuid)).out).toContain(storageId);
    rmSync(marker);
    const away = await world.yard("checkpoint", "download", uuid, "not-fetched");
    expect(away.err).toContain("is the storage mounted here?");
    expect(await world.yard("storage", "adopt", root)).toMatchObject({ code: 0 });
    expect(readFileSync(marker, "utf8").split("\n")[0]).toBe(storageId);
    expect((await world.yard("checkpoint", "download", uuid, "again")).code).toBe(0);
  });

  test("a trial's environment has its experiment, trial and run", async () => {
    const config = configOf({ more: "    - SET_BY_CONFIG=its value" }).replace(/python3.*/, "env");
    const id = await world.submit(config, world.code("steps"));
    expect(await world.end(id)).toBe("COMPLETED");
    const lines = (await world.logs(`${id}.2`)).split("\n");
    const told = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
    expect(told).toMatchObject({
      SET_BY_CONFIG: "its value",
      TRAINYARD_URL: expect.stringMatching(/^http:/) as string,
      TRAINYARD_TOKEN: "ty1.<masked>",
      TRAINYARD_EXPERIMENT_ID: id,
      TRAINYARD_TRIAL_ID: `${id}.2`,
      TRAINYARD_RUN: "1",
      TRAINYARD_TRIAL_SEED: expect.stringMatching(/^\d+$/) as string,
      TRAINYARD_HPARAMS: expect.stringMatching(/^\{"lr":0\.[12]\}$/) as string,
      TRAINYARD_CONFIG: expect.stringContaining('"searcher"') as string,
      TRAINYARD_LATEST_CHECKPOINT: "",
      TRAINYARD_STEPS_COMPLETED: "0",
      TRAINYARD_SLOT_IDS: expect.stringMatching(/^[01]$/) as string,
      TRAINYARD_NODE_RANK: "0",
      TRAINYARD_NNODES: "1",
      TRAINYARD_MASTER_ADDR: "127.0.0.1",
      TRAINYARD_MASTER_PORT: expect.stringMatching(/^\d+$/) as string,
      PYTHONPATH: expect.stringContaining("sdk-python") as string,
    });
  });

  test("events prints one object a line, in the order of positions", async () => {
    const said = await world.yard("events", "-o", "json");
    const events = said.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { sequence: string; type: string });
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, n) => n + 1));
    const from = await world.yard("events", "--from", "5", "-o", "json");
    expect(from.out.split("\n")[0]).toContain('"sequence":"6"');
  });

  test("log verify passes, parked is empty, and version prints the version", async () => {
    const verified = await world.yard("log", "verify");
    expect(verified).toMatchObject({ code: 0, err: "" });
    for (const check of [
      "chain",
      "gateway.documents",
      "checkpoint-gc.checkpoints",
      "feeds.subscriptions",
      "registry.unfinished",
      "scheduler.saved-cluster",
      "searcher.search-snapshots",
    ]) {
      expect(verified.out).toMatch(new RegExp(`^${check}: holds up to position [1-9]\\d*$`, "m"));
    }
    const kept = join(world.folder, "anchor.json");
    expect(await world.yard("log", "anchor", kept)).toMatchObject({ code: 0, out: "" });
    const { position } = JSON.parse(readFileSync(kept, "utf8")) as { position: string };
    const held = await world.yard("log", "verify", "--skip-views", "--anchor", kept);
    expect(held).toMatchObject({ code: 0, err: "" });
    expect(held.out).toContain(`anchor: holds up to position ${position}\n`);
    // An anchor from a log that had more events than this one.
    const lost = { position: String(Number(position) + 1_000), hash: "0".repeat(64) };
    writeFileSync(kept, JSON.stringify(lost));
    const cut = await world.yard("log", "verify", "--skip-views", "--anchor", kept);
    expect(cut.code).toBe(1);
    expect(cut.out).toContain(`events up to the anchor at ${lost.position} are missing`);
    writeFileSync(kept, "soon");
    expect((await world.yard("log", "verify", "--anchor", kept)).code).toBe(2);
    expect(((await world.json("parked", "list")) as Page<never>).items).toEqual([]);
    type View = Record<"service" | "name" | "problem", string>;
    const views = ((await world.json("view", "list")) as Page<View>).items;
    expect(views.map(({ service, name, problem }) => `${service} ${name}${problem}`)).toEqual([
      "gateway documents",
      "checkpoint-gc checkpoints",
      "feeds subscriptions",
      "registry unfinished",
      "registry placed",
    ]);
    expect((await world.yard("view", "rebuild", "registry", "unfinished")).code).toBe(0);
    expect((await world.yard("view", "rebuild", "registry", "nothing")).code).not.toBe(0);
    expect((await world.yard("version")).out).toMatch(/^Trainyard \d+\.\d+\.\d+, API v1/);
  });

  test("tokens are created, work, expire and are revoked", async () => {
    const created = await world.yard("token", "create", "--label", "ci");
    expect(created.err).toContain("does not expire; its secret is not shown again");
    const token = created.out.trim();
    expect((await world.yardWith({ TRAINYARD_TOKEN: token }, "e", "ls")).code).toBe(0);
    const id = token.split("_")[1] ?? "";
    expect((await world.yard("token", "list")).out).toContain(id);
    expect((await world.yard("token", "revoke", id)).code).toBe(0);
    const refused = await world.yardWith({ TRAINYARD_TOKEN: token }, "e", "ls");
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toMatch(/token/i);
    const short = (await world.yard("token", "create", "--ttl", "0.001")).out.trim();
    const expired = await world.yardWith({ TRAINYARD_TOKEN: short }, "e", "ls");
    expect(expired.code).toBe(2);
    expect(expired.err).toMatch(/expired/);
  });

  test("a token that a token creates expires with it, and a later expiry is refused", async () => {
    const hour = await world.yard("token", "create", "--ttl", "1h");
    const [end] = /expires at .* UTC/.exec(hour.err) ?? ["no expiry"];
    const by = { TRAINYARD_TOKEN: hour.out.trim() };
    expect((await world.yardWith(by, "token", "create")).err).toContain(end);
    const longer = await world.yardWith(by, "token", "create", "--ttl", "2h");
    expect(longer).toMatchObject({ code: 2, out: "" });
    expect(longer.err).toContain("must not outlive the token that creates it");
  });

  test("pause stops the trials from their latest checkpoint, activate continues there", async () => {
    const long = configOf({ steps: 600, stepSeconds: 0.1 });
    const id = await world.submit(long, world.code("steps"));
    await world.untilTrials(id, (trials) => trials.every((one) => one.stepsCompleted >= 3));
    expect((await world.yard("e", "pause", id)).out).toContain("PAUSED");
    await world.untilTrials(id, (trials) =>
      trials.every((one) => one.runs.at(-1)?.state === "ENDED"),
    );
    expect((await world.yard("e", "activate", id)).out).toMatch(/is (QUEUED|STARTING|RUNNING)/);
    await world.untilTrials(id, (trials) => trials.every((one) => one.runs.length === 2));
    await world.untilTrials(id, (trials) =>
      trials.every((one) => one.runs[1]?.state === "RUNNING"),
    );
    expect((await world.client.call("getTrial", { trial: `${id}.1` })).restarts).toBe(0);
    expect((await world.yard("e", "cancel", id)).code).toBe(0);
    expect(await world.yard("e", "wait", id)).toMatchObject({ code: 1 });
    expect(await world.end(id)).toBe("CANCELED");
    const logs = await world.logs(`${id}.1`);
    expect(logs.match(/starts at (\d+)/g)?.[1]).not.toBe("starts at 0");
  });

  test("kill ends the trials at once", async () => {
    const long = configOf({ steps: 6_000 });
    const id = await world.submit(long, world.code("steps"));
    await world.untilTrials(id, (trials) => trials.some((one) => one.runs[0]?.state === "RUNNING"));
    expect((await world.yard("e", "kill", id)).code).toBe(0);
    expect(await world.end(id)).toBe("CANCELED");
  });

  test("a repeat with the same idempotency key returns the first experiment, and a different body is refused", async () => {
    const options = ["--paused", "--idempotency-key", "once"];
    const first = await world.submit(configOf(), world.code("steps"), ...options);
    expect(await world.submit(configOf(), world.code("steps"), ...options)).toBe(first);
    const file = world.write("config.yaml", configOf({ more: "description: another" }));
    const other = await world.yard("e", "create", file, world.code("steps"), ...options);
    expect(other.code).toBe(2);
    expect(other.err).toMatch(/idempotency/i);
    await world.client.call("killExperiment", { experiment: first });
  });

  test("name and notes change unless the edit is stale, and an ended experiment is archived", async () => {
    const noted = await world.yard("e", "note", experiment, "good", "--if-match", '"0"');
    expect(noted).toMatchObject({ code: 0 });
    const stale = await world.yard("e", "label", "add", experiment, "late", "--if-match", '"0"');
    expect([stale.code, stale.err]).toEqual([2, expect.stringContaining("was changed since")]);
    expect((await world.yard("e", "label", "add", experiment, "best")).code).toBe(0);
    const changed = { notes: "good", labels: ["best"], etag: '"2"' };
    expect(await world.json("e", "describe", experiment)).toMatchObject(changed);
    const best = (await world.json("e", "ls", "--label", "best")) as Page<State>;
    expect(best.items.map(({ id }) => id)).toEqual([experiment]);
    expect((await world.yard("e", "archive", experiment)).code).toBe(0);
    const listed = (await world.json("e", "ls", "--state", "completed")) as Page<State>;
    expect(listed.items.map(({ id }) => id)).not.toContain(experiment);
  });

  test("a fork trains with the changed learning rate, from a checkpoint of its parent", async () => {
    const { items } = await world.client.call("listCheckpoints", { experiment });
    const kept = items.find(({ state }) => state === "COMPLETED")?.uuid ?? "";
    const changes = ["--set", "hyperparameters.lr=0.4", "--checkpoint", kept];
    const forked = await world.yard("e", "fork", experiment, ...changes);
    const id = /created experiment (\d+)/.exec(forked.out)?.[1] ?? "";
    expect(forked).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^http:\S+\/experiments\/\d+\n$/),
    });
    expect(await world.end(id)).toBe("COMPLETED");
    const { seed } = await world.client.call("getExperiment", { experiment });
    const fork = await world.client.call("getExperiment", { experiment: id });
    expect(fork).toMatchObject({ parent: experiment, seed });
    expect(await world.client.call("getTrial", { trial: `${id}.1` })).toMatchObject({
      state: "COMPLETED",
      hyperparameters: { lr: 0.4 },
    });
  });

  test("a preview of one verb on several experiments changes nothing", async () => {
    const ids = [];
    for (let n = 0; n < 2; n += 1) {
      ids.push(await world.submitPaused(configOf(), world.code("steps")));
    }
    const stateOf = async (experiment: string) =>
      (await world.client.call("getExperiment", { experiment })).state;
    expect((await world.yard("e", "kill", ...ids, "--dry-run")).code).toBe(0);
    expect(await Promise.all(ids.map(stateOf))).toEqual(["PAUSED", "PAUSED"]);
    const killed = await world.yard("e", "kill", ...ids, "999999");
    expect(killed).toMatchObject({ code: 1, out: expect.stringContaining(": kill, done") });
    expect(killed.err).toContain("1 of 3 experiments were refused");
    expect(await Promise.all(ids.map((id) => world.end(id)))).toEqual(["CANCELED", "CANCELED"]);
  });

  test("a killed experiment continues and completes, and once deleted it is hidden until it is restored", async () => {
    const id = await world.submitPaused(configOf(), world.code("steps"));
    await world.client.call("killExperiment", { experiment: id });
    expect(await world.end(id)).toBe("CANCELED");
    expect((await world.yard("e", "continue", id)).code).toBe(0);
    expect(await world.end(id)).toBe("COMPLETED");
    const trial = await world.client.call("getTrial", { trial: `${id}.1` });
    expect(trial).toMatchObject({ state: "COMPLETED" });
    const again = await world.yard("e", "continue", id);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("is complete")]);
    const preview = await world.yard("e", "delete", id, "--dry-run");
    expect(preview).toMatchObject({ code: 0, out: expect.stringContaining("would be deleted") });
    expect((await world.yard("e", "delete", id, "--reason", "a mistake")).code).toBe(0);
    expect((await world.yard("trial", "describe", `${id}.1`)).code).not.toBe(0);
    expect((await world.yard("e", "deleted")).out).toContain("a mistake");
    expect((await world.yard("e", "undelete", id)).code).toBe(0);
    expect(await world.client.call("getTrial", { trial: `${id}.1` })).toEqual(trial);
  });

  test("cluster status names every process, and its file is readable by the owner only", async () => {
    const status = (await world.json("cluster", "status")) as {
      readonly processes: readonly { readonly name: string; readonly kind: string }[];
    };
    const kinds = status.processes.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(["agent", "nats", "postgres", "service", "supervisor"]);
    expect(statSync(join(world.home, "cluster.json")).mode & 0o777).toBe(0o600);
    expect((await world.yard("cluster", "logs", "trainyard")).out).toContain("{");
    expect(existsSync(join(world.home, "token"))).toBe(true);
  });
});
