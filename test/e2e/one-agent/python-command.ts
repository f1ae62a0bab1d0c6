// Tests the program `trainyard` of the Python package: it prints the JSON and has the exit codes of `yard`.
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { world } from "./cluster.ts";

type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Runs command lines one after the other in one process of Python: a process for each would take seconds. */
async function trainyard(lines: readonly (readonly string[])[]): Promise<readonly Ran[]> {
  const { api, token } = world.access;
  const script = `
import contextlib, io, json, sys
from trainyard._command import main
ran = []
for line in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line)
    ran.append({"code": code, "out": out.getvalue(), "err": err.getvalue()})
print(json.dumps(ran))
`;
  const { stdout } = await promisify(execFile)("python3", ["-c", script, JSON.stringify(lines)], {
    cwd: world.folder,
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONPATH: join(checkout, "libs", "sdk-python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      TRAINYARD_URL: api,
      TRAINYARD_TOKEN: token,
    },
  });
  return JSON.parse(stdout) as readonly Ran[];
}

const config = `
name: from-the-command
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
max_restarts: 0
`;

const train = `
import trainyard

with trainyard.init() as ctx:
    for step in (1, 2):
        ctx.train.report_validation_metrics(step, {"loss": 1 / step, "note": "größer"})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "step.txt").write_text(str(step))
        print(f"step {step} is done", flush=True)
`;

/** Commands that both programs refuse with exit code 2, and a part of their common sentence. TRIAL is a trial's id. */
const refused: readonly (readonly [readonly string[], string])[] = [
  [["experiment", "create", "no.yaml", "command"], "no.yaml"],
  [
    ["experiment", "create", "command.yaml", "no-folder"],
    "The context folder no-folder does not exist.",
  ],
  [["experiment", "create", "wrong.yaml", "command"], "searcher.metrics"],
  [
    ["experiment", "create", "script.yaml", "command"],
    'trian.py, which is not in the submitted code; "train.py" is',
  ],
  [
    ["experiment", "create", "command.yaml", "linked"],
    'the link "data" leads out of it; a line in .trainyardignore',
  ],
  [["experiment", "logs", "999999"], "here is no experiment 999999"],
  [["experiment", "wait", "999999"], "here is no experiment 999999"],
  [["experiment", "pause", "word"], "word"],
  [["experiment", "list", "--limit", "0"], "--limit"],
  [["trial", "list", "999999"], "here is no experiment 999999"],
  [["trial", "describe", "1"], "here is no trial 1"],
  [["trial", "metrics", "999999.1"], "here is no trial 999999.1"],
  [["trial", "logs", "TRIAL", "--grep", "("], "is not a valid RE2 expression"],
  [["trial", "logs", "TRIAL", "--since", "soon"], "--since takes"],
  [["checkpoint", "describe", "0123abcd"], "here is no checkpoint 0123abcd"],
  [["checkpoint", "list", "999999.1"], "here is no trial 999999.1"],
  [["model", "export", "no-model", "1"], "no-model"],
];

/** Wrong usage: both programs print their own help, and nothing to stdout. */
const misused: readonly (readonly string[])[] = [
  ["frobnicate"],
  ["experiment", "describe"],
  ["experiment", "list", "--no-such"],
  ["trial", "logs", "1.1", "--stream", "stdin"],
  ["-o", "yaml", "trial", "list", "1"],
];

/** Returns the objects that were printed, without the log's position, which later calls have advanced. */
const printed = (out: string): readonly unknown[] =>
  out
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ ...(JSON.parse(line) as object), position: "" }));

function writeInputs(): void {
  world.write("command.yaml", config);
  world.write("command/train.py", train);
  world.write("wrong.yaml", config.replace("metric:", "metrics:"));
  world.write("script.yaml", config.replace("train.py", "trian.py"));
  world.write("linked/train.py", train);
  symlinkSync("/var/data", join(world.folder, "linked", "data"));
}

/** Runs command lines with both programs, and compares what they print and their exit codes. */
async function withBoth(lines: readonly (readonly string[])[]): Promise<readonly Ran[]> {
  const ours = await trainyard(lines);
  const theirs = await Promise.all(lines.map((line) => world.yard(...line)));
  for (const [at, line] of lines.entries()) {
    const [one, their] = [ours[at], theirs[at]];
    const name = line.join(" ");
    expect([name, one?.code, printed(one?.out ?? "")]).toEqual([
      name,
      their?.code,
      printed(their?.out ?? ""),
    ]);
    // yard draws its progress on stderr, too, while it waits.
    if (line[1] !== "wait") expect([name, one?.err]).toEqual([name, their?.err]);
  }
  return ours;
}

test("trainyard and yard print equal JSON, sentences and exit codes, and trainyard submits and downloads", {
  timeout: 300_000,
}, async () => {
  writeInputs();
  const [created, paused] = await trainyard([
    ["experiment", "create", "command.yaml", "command", "--follow"],
    ["e", "create", "command.yaml", "command", "--paused", "--config", "name=b", "-o", "json"],
  ]);
  const id = /^created experiment (\d+)\n/.exec(created?.out ?? "")?.[1] ?? "";
  const trial = `${id}.1`;
  expect(created).toEqual({
    code: 0,
    out: `created experiment ${id}\n[${trial}] step 1 is done\n[${trial}] step 2 is done\nexperiment ${id} ended COMPLETED\n`,
    err: `${world.access.api}/experiments/${id}\n`,
  });
  const submitted = await world.yard("experiment", "create", "command.yaml", "command", "--paused");
  expect(submitted.err).toMatch(new RegExp(`^${world.access.api}/experiments/\\d+\n$`));
  const other = (JSON.parse(paused?.out ?? "") as { experiment: { id: string } }).experiment.id;
  // The kill takes a moment, in which an answer would still say STOPPING_KILLED.
  const killed = await trainyard([
    ["experiment", "kill", other],
    ["experiment", "wait", other],
  ]);
  expect(killed.map(({ code }) => code)).toEqual([0, 1]);
  const { items } = await world.client.call("listCheckpoints", { trial });
  const uuid = items.find(({ stepsCompleted }) => stepsCompleted === 2)?.uuid ?? "";
  const lines = [
    ["experiment", "kill", other],
    ["experiment", "wait", other],
    ["experiment", "list", "--filter", "name : from-the-command", "--sort", "trials desc"],
    ["experiment", "describe", id],
    ["experiment", "describe", "999999"],
    ["experiment", "logs", id, "--contains", "is done"],
    ["experiment", "pause", id, other, "--dry-run"],
    ["experiment", "list", "--filter", "nonsense < 1"],
    ["trial", "list", id],
    ["trial", "describe", trial],
    ["trial", "metrics", trial, "--group", "validation"],
    ["trial", "metrics", trial, "-f"],
    ["trial", "logs", trial, "--tail", "none"],
    ["checkpoint", "list", id],
    ["checkpoint", "describe", uuid],
    ["checkpoint", "describe", uuid.slice(0, 8)],
    ...refused.map(([line]) => line.map((word) => word.replace("TRIAL", trial))),
  ].map((line) => [...line, "-o", "json"]);
  const ours = await withBoth(lines);
  const done = [0, 1, 0, 0, 2, 0, 1, 2, 0, 0, 0, 0, 2, 0, 0, 0];
  expect(ours.map(({ code }) => code)).toEqual([...done, ...refused.map(() => 2)]);
  for (const [at, [line, sentence]] of refused.entries()) {
    expect([line, ours[done.length + at]?.err]).toEqual([line, expect.stringContaining(sentence)]);
  }
  const wrong = await trainyard(misused);
  const alsoWrong = await Promise.all(misused.map((line) => world.yard(...line)));
  for (const said of [...wrong, ...alsoWrong]) expect(said).toMatchObject({ code: 2, out: "" });
  const [downloaded, again] = await trainyard([
    ["checkpoint", "download", uuid, "downloaded"],
    ["checkpoint", "download", uuid, "downloaded"],
  ]);
  expect(downloaded).toEqual({ code: 0, out: "", err: "downloaded to downloaded\n" });
  expect(readFileSync(join(world.folder, "downloaded", "step.txt"), "utf8")).toBe("2");
  expect(again).toMatchObject({ code: 2, out: "" });
});
