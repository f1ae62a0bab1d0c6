/** Tests of stored submissions that are submitted again and compared, with a simulated experiments service. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Plain } from "@trainyard/contracts";
import type { CreateExperiment } from "@trainyard/contracts/commands";
import { create } from "tar";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { openStream, restOf } from "../../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let service: AsyncDisposable;
let scratch: string;
let asked: Plain<CreateExperiment>[] = [];
let number = 100;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-submissions-"));
  gateway = await startTestGateway();
  service = await gateway.serving("experiments", {
    CreateExperiment: async (request) => {
      asked.push(request);
      const { paused: _paused, config = {}, parent, ...given } = request;
      number += 1;
      const stream = `experiment-${number}`;
      const made = created({ ...given, config, ...(parent && { parent }) });
      return { position: await gateway.append(stream, made), stream };
    },
  });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
});

/** Packs files as the command line does. */
async function packed(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const cwd = await mkdtemp(join(scratch, "code-"));
  for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
  const file = join(scratch, "packed.tar.gz");
  await create({ cwd, file, gzip: true, portable: true }, Object.keys(files).toSorted());
  return (await readFile(file)).toString("base64");
}

const config = (lr: number) => `name: iris # small
entrypoint: python3 train.py
hyperparameters: {lr: ${lr}}
searcher: {name: single, metric: loss, max_time: 4}
environment:
  environment_variables: [HF_TOKEN=hf_secret, MODE=fast]
`;

const repository = {
  commit: "0123456789abcdef0123456789abcdef01234567",
  branch: "main",
  remote: "https://ada:ghp_secret@example.org/iris.git",
  folder: "examples/iris",
  changed: true,
  diff: "--- a/train.py\n+++ b/train.py\n",
};

async function submit(body: object): Promise<string> {
  const answer = await gateway.call("POST", "/api/v1/experiments", { body });
  expect(answer).toMatchObject({ status: 200 });
  return (answer.body as { experiment: { id: string } }).experiment.id;
}

const submission = async (experiment: string) =>
  (await gateway.call("GET", `/api/v1/experiments/${experiment}/submission`)).body as {
    readonly config: string;
    readonly record: Readonly<Record<string, unknown>>;
  };

describe("a submission", () => {
  test("is refused if its code lacks the script of its entrypoint, and stores nothing", async () => {
    const context = await packed({ "trian.py": "print(1)\n" });
    const body = { config: config(0.1), context };
    const detail = 'starts train.py, which is not in the submitted code; "trian.py" is';
    for (const validateOnly of [false, true]) {
      const answer = await gateway.call("POST", "/api/v1/experiments", {
        body: { ...body, validateOnly },
      });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: "script_not_found", errors: [{ path: "entrypoint", detail }] },
      });
    }
    expect(asked).toEqual([]);
  });

  test("is stored unchanged, except for its secrets", async () => {
    const context = await packed({ "train.py": "print(1)\n" });
    const overrides = ["data.api_key=k-123", "description=tried"];
    const client = "yard 1.0";
    const id = await submit({ config: config(0.1), context, overrides, repository, client });
    const answer = await gateway.call("GET", `/api/v1/experiments/${id}/submission`);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        seed: asked[0]?.seed,
        codeDigest: asked[0]?.contextDigest,
        configSourceDigest: asked[0]?.configSourceDigest,
        masked: [
          "environment.environment_variables.cpu[0]",
          "environment.environment_variables.cuda[0]",
          "environment.environment_variables.rocm[0]",
          "data.api_key",
        ],
        record: {
          configText: config(0.1).replace("HF_TOKEN=hf_secret", '"HF_TOKEN=<masked>"'),
          overrides: ['data.api_key="<masked>"', "description=tried"],
          client: "yard 1.0",
          repository: { ...repository, remote: "https://example.org/iris.git" },
        },
      },
    });
    const text = JSON.stringify(answer.body);
    expect(text).not.toMatch(/hf_secret|ghp_secret|k-123/);
    const { defaulted } = (await submission(id)).record as { defaulted: readonly string[] };
    expect(defaulted).toContain("max_restarts");
    expect(defaulted).not.toContain("description");
  });

  test("has its secrets masked in the answer, and in every read of the experiment and of its events", async () => {
    const overrides = ["data.api_key=k-123"];
    const body = { config: config(0.3), overrides, client: "yard" };
    const answer = await gateway.call("POST", "/api/v1/experiments", { body });
    const { id = "" } = (answer.body as { experiment: { id?: string } }).experiment;
    const reads = [
      `experiments/${id}`,
      `events?experiment=${id}&noFollow=true`,
      "events?noFollow=true",
    ];
    const texts = [JSON.stringify(answer.body)];
    for (const path of reads) {
      texts.push(JSON.stringify((await gateway.call("GET", `/api/v1/${path}`)).body));
    }
    for (const text of texts) {
      expect(text).toContain("HF_TOKEN=<masked>");
      expect(text).toContain("MODE=fast");
      expect(text).not.toMatch(/hf_secret|k-123/);
    }
    // The event has the secrets, because runs are started from it.
    expect(JSON.stringify(asked[0]?.config)).toMatch(/HF_TOKEN=hf_secret.*k-123|k-123.*hf_secret/s);
  });

  test("has the same configuration, seed and code when it is submitted again with the secrets", async () => {
    const context = await packed({ "train.py": "print(2)\n" });
    const id = await submit({ config: config(0.2), context });
    const { config: again } = await submission(id);
    // The place of the checkpoints is the cluster's, and another cluster has its own.
    expect(again).not.toMatch(/checkpoint_storage|workspace|project/);
    const code = await restOf(await openStream(gateway, `/api/v1/experiments/${id}/code`));
    const body = { config: again, context: code.toString("base64") };
    const refused = await gateway.call("POST", "/api/v1/experiments", { body });
    expect(refused).toMatchObject({ status: 400, body: { code: "masked_value" } });
    expect(JSON.stringify(refused.body)).toContain("HF_TOKEN");
    expect(asked).toHaveLength(1);
    const given = body.config.replaceAll("<masked>", "hf_secret");
    await submit({ ...body, config: given });
    const [first, second] = asked;
    for (const key of ["config", "seed", "contextDigest"] as const) {
      expect(second?.[key]).toEqual(first?.[key]);
    }
  });

  test("of a fork has the repository of its experiment's code", async () => {
    const id = await submit({ config: config(0.3), repository });
    const body = { overrides: ["hyperparameters.lr=5"] };
    const answer = await gateway.call("POST", `/api/v1/experiments/${id}/fork`, { body });
    const fork = (answer.body as { experiment: { id: string } }).experiment.id;
    const { record, config: again } = await submission(fork);
    expect(record).toMatchObject({
      overrides: ["hyperparameters.lr=5"],
      repository: { commit: repository.commit },
    });
    expect(again).toMatch(/lr:\n\s+type: const\n\s+val: 5\n/);
    expect(JSON.stringify([record, again])).not.toContain("hf_secret");
    expect(again).toContain("HF_TOKEN=<masked>");
  });

  test("has the packages of its runs, each distinct set once", async () => {
    const id = await submit({ config: config(0.5) });
    const tell = async (run: string, body: object, token?: string) => {
      const path = `/api/v1/runs/${encodeURIComponent(run)}/environment`;
      const own = token ?? (await gateway.runToken(run));
      return gateway.call("POST", path, { body, token: own });
    };
    const first = { python: "3.12.4", packages: { torch: "2.4", numpy: "2.0" } };
    expect((await tell(`${id}.1#1`, first)).status).toBe(200);
    expect(
      (await tell(`${id}.2#1`, { ...first, packages: { numpy: "2.0", torch: "2.4" } })).status,
    ).toBe(200);
    expect((await tell(`${id}.1#2`, { python: "3.13.0", packages: {} })).status).toBe(200);
    const found = (await gateway.call("GET", `/api/v1/experiments/${id}/submission`)).body;
    expect(found["environments"]).toEqual([
      { run: `${id}.1#1`, ...first },
      { run: `${id}.1#2`, python: "3.13.0", packages: {} },
    ]);
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`p${n}`, "1"]));
    expect((await tell(`${id}.1#1`, { packages: many })).status).toBe(400);
    expect((await tell(`${id}.1#1`, { packages: { a: "x".repeat(300) } })).status).toBe(400);
    expect((await tell(`${id}.1#1`, first, await gateway.runToken(`${id}.3#1`))).status).toBe(403);
    expect((await tell(`${id}.1#1`, first, gateway.token)).status).toBe(403);
    for (let n = 0; n < 20; n += 1) await tell(`${id}.1#1`, { python: `3.${n}`, packages: {} });
    const all = (await gateway.call("GET", `/api/v1/experiments/${id}/submission`)).body;
    expect(all["environments"]).toHaveLength(16);
    expect(await readdir(join(gateway.blobDir, "environments"))).toHaveLength(16);
  });

  test("that is not stored has no record, and an unknown one is not found", async () => {
    const position = await gateway.append("experiment-1", created({ config: { name: "old" } }));
    await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
    const { record } = await submission("1");
    expect(record).toBeUndefined();
    for (const path of ["2/submission", "2/code", "1/code", "1/diff/2", "x/diff/1"]) {
      expect((await gateway.call("GET", `/api/v1/experiments/${path}`)).status).toBe(404);
    }
  });

  test.each([
    { repository: { ...repository, commit: "HEAD; rm -rf /" } },
    { repository: { ...repository, branch: "b".repeat(2_000) } },
    { repository: { ...repository, diff: "d".repeat(1_100_000) } },
    { overrides: [`description=${"d".repeat(100_000)}`] },
  ])("that is too large or has an invalid commit is refused", async (more) => {
    const body = { config: config(0.4), ...more };
    const answer = await gateway.call("POST", "/api/v1/experiments", { body });
    expect(answer.status).toBe(400);
    expect(asked).toEqual([]);
  });
});

describe("two experiments", () => {
  const diff = async (a: string, b: string) =>
    (await gateway.call("GET", `/api/v1/experiments/${a}/diff/${b}`)).body;

  test("are compared by keys, by the text of the configuration, and by files", async () => {
    const bytes = Buffer.from([0, 1, 2]);
    const before = { "train.py": "a\nb\n", "gone.py": "x\n", "same.py": "s\n", weights: bytes };
    const after = {
      "train.py": "a\nc\n",
      "new.py": "y",
      "same.py": "s\n",
      weights: Buffer.alloc(9),
    };
    const a = await submit({ config: config(0.1), context: await packed(before) });
    const second = config(0.2).replace("hf_secret", "hf_other");
    const b = await submit({ config: second, context: await packed(after) });
    const found = await diff(a, b);
    expect(found).toMatchObject({
      config: [
        { path: "environment.environment_variables.cpu" },
        { path: "environment.environment_variables.cuda" },
        { path: "environment.environment_variables.rocm" },
        { path: "hyperparameters.lr.val", before: "0.1", after: "0.2" },
        { path: "reproducibility.experiment_seed" },
      ],
      files: [
        { path: "gone.py", change: "removed", bytesBefore: 2 },
        { path: "new.py", change: "added", text: expect.stringContaining("\n+y\n\\ No newline") },
        { path: "train.py", change: "changed", text: expect.stringContaining(" a\n-b\n+c\n") },
        { path: "weights", change: "changed", bytesBefore: 3, bytesAfter: 9, text: "" },
      ],
    });
    expect(found["configText"]).toContain(
      "-hyperparameters: {lr: 0.1}\n+hyperparameters: {lr: 0.2}\n",
    );
    expect(JSON.stringify(found)).not.toMatch(/hf_secret|hf_other/);
  });

  test("with the same code have no different files; an experiment has no difference to itself", async () => {
    const context = await packed({ "train.py": "a\n" });
    const a = await submit({ config: config(0.1), context });
    expect(await diff(a, a)).toMatchObject({ config: [], configText: "", files: [], leftOut: "" });
  });

  test("are compared by the last of two entries with the same path, even if the first is large", async () => {
    const files = (content: string) => packed({ "train.py": content });
    const large = Buffer.from(await files("x\n".repeat(200_000)), "base64");
    const small = Buffer.from(await files("y\n"), "base64");
    // The tar has both entries: the end of the first tar (two empty blocks and the padding) is cut off.
    const first = gunzipSync(large).subarray(0, 512 + 400_384);
    const twice = gzipSync(Buffer.concat([first, gunzipSync(small)]));
    const a = await submit({ config: config(0.1), context: twice.toString("base64") });
    const b = await submit({ config: config(0.1), context: await files("z\n") });
    expect(await diff(a, b)).toMatchObject({
      files: [{ path: "train.py", bytesBefore: 2, text: expect.stringContaining("-y\n+z\n") }],
    });
  });

  test("are compared without the text of a very large file, and the answer says so", async () => {
    const a = await submit({
      config: config(0.1),
      context: await packed({ "train.py": "a\n".repeat(40_000) }),
    });
    const b = await submit({ config: config(0.1) });
    expect(await diff(a, b)).toMatchObject({
      files: [{ path: "train.py", change: "removed", text: "" }],
      leftOut: expect.stringContaining("1 files are not compared"),
    });
  });
});
