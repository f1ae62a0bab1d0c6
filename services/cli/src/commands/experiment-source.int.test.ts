/** Tests of experiments that are downloaded, submitted again and compared, with a simulated gateway. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packContext } from "../pack-context.ts";
import { repositoryOf } from "../repository.ts";
import { type PlayedGateway, playGateway } from "../testing/played-gateway.ts";

const repository = {
  commit: "0123456789",
  branch: "main",
  remote: "",
  folder: "",
  changed: true,
  diff: "d\n",
};

let gateway: PlayedGateway;
let scratch: string;
let code: Buffer;
let config = "name: iris # small\n";

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), "yard-source-"));
  writeFileSync(join(scratch, "train.py"), "print(1)\n");
  code = Buffer.from((await packContext(scratch, scratch)).bytes);
  rmSync(join(scratch, "train.py"));
  config = "name: iris # small\n";
  gateway = await playGateway(({ call }) => {
    if (call.endsWith("/code")) return { body: code };
    if (call.startsWith("GET") && call.endsWith("/submission")) return { body: submission() };
    if (call.includes("/diff/")) return { body: difference };
    return { body: { experiment: { id: "8" } } };
  });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
});

const submission = () => ({
  experiment: "7",
  config,
  seed: 5,
  codeDigest: createHash("sha256").update(code).digest("hex"),
  record: { configText: "name: iris\n", repository },
  environments: [
    { run: "7.1#1", python: "3.12.4", packages: { torch: "2.4", bad: "1\n--index-url=http://x" } },
    { run: "7.1#2", python: "3.13.0", packages: { torch: "2.5" } },
  ],
});

const difference = {
  config: [
    { path: "hyperparameters.lr", before: "0.1", after: "0.2" },
    { path: "name", before: '"a\u001b[2J"' },
  ],
  configText: "-a\u001b]0;x\u0007\n+b\n",
  files: [{ path: "a\rb.py", change: "changed", bytesBefore: 1, bytesAfter: 2, text: "+c\n" }],
  leftOut: "1 more files differ",
};

const posted = () =>
  gateway.requests.filter(({ call }) => call.startsWith("POST")).map(({ body }) => body);

test("a downloaded experiment is a folder that can be submitted again with its code and origin", async () => {
  const folder = join(scratch, "seven");
  expect(await gateway.yard("experiment", "download", "7", folder)).toMatchObject({ code: 0 });
  expect(readdirSync(folder).toSorted()).toEqual([
    "changes.diff",
    "code",
    "experiment.yaml",
    "requirements.txt",
    "submission.json",
    "submitted.yaml",
  ]);
  expect(readFileSync(join(folder, "requirements.txt"), "utf8")).toBe("torch==2.4\n");
  expect(readFileSync(join(folder, "code/train.py"), "utf8")).toBe("print(1)\n");
  expect(JSON.parse(readFileSync(join(folder, "submission.json"), "utf8"))).toMatchObject({
    seed: 5,
  });
  expect((await gateway.yard("experiment", "create", folder)).code).toBe(0);
  expect(posted()).toMatchObject([
    { config, context: code.toString("base64"), repository: { commit: "0123456789" } },
  ]);
  // Changed code is not recorded as the code of the downloaded experiment's repository.
  writeFileSync(join(folder, "code/train.py"), "print(2)\n");
  await gateway.yard("experiment", "create", folder);
  expect(posted()[1]).not.toHaveProperty("repository");
  expect((await gateway.yard("experiment", "download", "7", folder)).code).toBe(2);
});

test("a folder with masked values is refused with their names if no terminal can ask for them", async () => {
  config = "name: iris\nenvironment: {environment_variables: [HF_TOKEN=<masked>]}\n";
  const folder = join(scratch, "seven");
  await gateway.yard("experiment", "download", "7", folder);
  expect(await gateway.yard("experiment", "create", folder)).toMatchObject({
    code: 2,
    err: expect.stringContaining("HF_TOKEN"),
  });
  expect(posted()).toEqual([]);
});

test("a configuration without a folder of code is refused", async () => {
  const file = join(scratch, "a.yaml");
  writeFileSync(file, config);
  expect(await gateway.yard("experiment", "create", file)).toMatchObject({ code: 2 });
});

test("a difference is printed without control characters", async () => {
  const { out, lines, err } = await gateway.yard("experiment", "diff", "7", "8", "--text");
  expect(lines.slice(0, 3)).toEqual([
    "hyperparameters.lr: 0.1 → 0.2",
    'name: "a\\u001b[2J" → (absent)',
    "changed a\\u000db.py (1 → 2 bytes)",
  ]);
  expect(lines).toContain("-a\\u001b]0;x\\u0007");
  expect(out).not.toMatch(/[\u001b\u0007\r]/);
  expect(err).toBe("1 more files differ\n");
  expect(gateway.requests[0]?.call).toBe("GET /api/v1/experiments/7/diff/8");
});

test("a folder in a repository is recorded with its commit and the diff of the packed files", async () => {
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", scratch, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  expect(await repositoryOf(scratch)).toBeUndefined();
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", "https://ada:secret@example.org/x.git");
  const files = { "train.py": "a\n", "big.csv": "1\n", ".trainyardignore": "*.csv\n" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(scratch, name), text);
  git("add", ".");
  git("commit", "-q", "-m", "first");
  const commit = git("rev-parse", "HEAD");
  const clean = { commit, branch: "main", remote: "https://example.org/x.git", folder: "" };
  expect(await repositoryOf(scratch)).toEqual({ ...clean, changed: false, diff: "" });
  writeFileSync(join(scratch, "big.csv"), "2\n");
  expect(await repositoryOf(scratch)).toMatchObject({ changed: false, diff: "" });
  writeFileSync(join(scratch, "train.py"), "b\n");
  const changed = await repositoryOf(scratch);
  expect(changed).toMatchObject({ ...clean, changed: true });
  expect(changed?.diff).toMatch(/-a\n\+b\n$/);
  expect(changed?.diff).not.toContain("csv");
});
