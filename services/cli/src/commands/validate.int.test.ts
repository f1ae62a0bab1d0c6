import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { afterEach, beforeEach, expect, test } from "vitest";

const main = programFile(join(import.meta.dirname, "..", "main.ts"));
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "validate-"));
  file = join(folder, "config.yaml");
  const text = "entrypoint: python3 train.py\nsearcher: {name: single, metric: loss}\n";
  writeFileSync(file, `${text}records_per_epoch: 3\n`);
});
afterEach(() => rmSync(folder, { recursive: true }));

type Answer = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs the command in a process of its own; it sees only the cluster that `environment` names. */
function validate(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return yard(["validate", ...args], environment);
}

function yard(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const child = spawn(process.execPath, [main, "experiment", ...args], {
      env: {
        PATH: process.env["PATH"],
        TY_TEST_RUN: process.env["TY_TEST_RUN"],
        TRAINYARD_HOME: folder,
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** Runs the command against a server with one fixed answer. Returns its output and the request. */
async function against(
  status: number,
  body: object,
  args: readonly string[],
): Promise<Answer & { readonly asked: string }> {
  let asked = "";
  const server = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (text: string) => (asked += text));
    request.on("end", () => {
      const type = status === 200 ? "application/json" : "application/problem+json";
      response.writeHead(status, { "content-type": type }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const answer = await validate(args, { TRAINYARD_URL: url, TRAINYARD_TOKEN: "token" });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { ...answer, asked };
}

test("validate asks the platform, creates nothing, and prints the warnings", async () => {
  const body = { warnings: ["a.b: has no effect"], position: "7" };
  const args = [file, "--config", "name=x", "--config", "debug=1"];
  const { asked, ...answer } = await against(200, body, args);
  expect(JSON.parse(asked)).toMatchObject({ validateOnly: true, overrides: ["name=x", "debug=1"] });
  expect(answer).toEqual({
    code: 0,
    out: `${file} is a valid configuration\n`,
    err: "warning: a.b: has no effect\n",
  });
});

test("validate exits with 2 and names the key if the platform refuses the configuration", async () => {
  const problem = {
    status: 400,
    code: "invalid_config",
    detail: "it is not valid",
    errors: [{ path: "name", detail: "must be text, not 3" }],
  };
  const answer = await against(400, problem, [file]);
  expect(answer).toMatchObject({ code: 2, out: "", err: "name: must be text, not 3\n" });
});

test("validate applies the rules that every cluster has where no cluster runs", async () => {
  const { code, out, err } = await validate([file, "-o", "json"]);
  expect([code, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({
      warnings: ["records_per_epoch: has no effect: the training code counts its epochs itself"],
    }),
  ]);
  expect(err).toMatch(/^No cluster runs here, so /);
  const wrong = await validate([file, "--config", "max_restarts=-1"]);
  expect(wrong).toMatchObject({ code: 2, out: "" });
  expect(wrong.err).toMatch(/\nmax_restarts: must be at least 0, not -1\n$/);
});

test("the printed schema is JSON that an editor can read", async () => {
  const { code, out } = await yard(["schema"]);
  expect([code, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({ title: "Trainyard experiment", type: "object" }),
  ]);
});

test("a missing file and an override without a value are wrong usage", async () => {
  expect(await validate([`${file}.no`])).toEqual({
    code: 2,
    out: "",
    err: `The configuration ${file}.no does not exist.\n`,
  });
  expect(await validate([file, "--config", "name"])).toEqual({
    code: 2,
    out: "",
    err: '--config takes key=value, not "name".\n',
  });
});
