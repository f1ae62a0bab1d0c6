/** Tasks with a page on an agent: when they count as running, and the servers with their packages. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Plain } from "@trainyard/contracts";
import { AllocationReportState, type Launch } from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { afterAll, describe, expect, test, vi } from "vitest";
import { askUse, type ServerUse } from "./servers/server-use.ts";
import { packageFolders } from "./servers/packages.ts";
import { connectPage } from "./state/run-socket.ts";
import { AgentStage } from "./testing/agent-stage.ts";
import { configured, newFolder, removeFolders, runAt, taskOf } from "./testing/examples.ts";
import { fakeServer, needPackages, pathWithServer } from "./testing/page-servers.ts";

afterAll(removeFolders);
const patient = { timeout: 60_000, interval: 20 };

const reported = ({ platform }: AgentStage, launch: Plain<Launch>) =>
  platform.report?.allocations.find(({ allocation }) => allocation === launch.allocation);

/** The folder in which the task has started. */
function workOf(stage: AgentStage, launch: Plain<Launch>): string {
  const work = join(stage.folderOf(launch), "work");
  return join(work, readdirSync(work)[0] ?? "");
}

describe.concurrent("a task with a page", () => {
  test("is prepared until its server answers, and then runs, also for the next agent", async () => {
    await using stage = await AgentStage.start();
    const launch = taskOf("tensorboard", "", {
      environmentVariables: [pathWithServer(fakeServer)],
    });
    stage.platform.run(launch);
    await vi.waitFor(
      () => expect(stage.platform.texts(launch)).toContain("the server starts"),
      patient,
    );
    const first = reported(stage, launch);
    expect(first?.state).toBe(AllocationReportState.PREPARING);
    await vi.waitFor(
      () => expect(reported(stage, launch)?.progress).toBeGreaterThan((first?.progress ?? 0) + 1),
      patient,
    );
    writeFileSync(join(workOf(stage, launch), "answer"), "");
    const { pid } = await stage.platform.up(launch);
    const folder = runAt(stage.folderOf(launch));
    expect(folder).not.toBeNull();
    if (folder !== null) {
      const never = new AbortController().signal;
      expect(await askUse(folder, never)).toMatchObject({ request_seconds: 3 });
    }
    // The next agent knows that the server has answered, and does not ask again.
    rmSync(join(stage.folderOf(launch), "run/page.sock"));
    await stage.stopAgent();
    stage.platform.report = null;
    await stage.startAgent();
    expect((await stage.platform.up(launch)).pid).toBe(pid);
  });

  test("ends with its last lines if its server does not come in time", async () => {
    await using stage = await AgentStage.start();
    const launch = taskOf("tensorboard", "", {
      environmentVariables: [pathWithServer(fakeServer)],
      ...configured({ ready_timeout: 3 }),
    });
    stage.platform.run(launch);
    const { endRecord, exit, killed } = await stage.platform.ended(launch);
    const message =
      "the server did not answer within 3 s (ready_timeout); its last lines: the server starts";
    expect([endRecord, killed]).toEqual([{ reason: EndReason.ERROR, message }, false]);
    expect(exit?.signal).toBe("SIGTERM");
    expect(stage.platform.texts(launch)).toContain(message);
  });

  test("ends with one sentence where the agent can install nothing for its Python", async () => {
    // Without an index, pip fails as without a network.
    const variables = { PIP_CONFIG_FILE: "/dev/null", PIP_NO_INDEX: "1" };
    await using stage = await AgentStage.start({ variables });
    const [python] = Object.keys(packageFolders("", "tensorboard"));
    const wants = `import json, os, time
with open(os.environ["TRAINYARD_RUN_DIR"] + "/packages.json", "w") as file:
    json.dump({"python": "${python}"}, file)
time.sleep(600)`;
    const launch = taskOf("tensorboard", "", { environmentVariables: [pathWithServer(wants)] });
    stage.platform.run(launch);
    const { endRecord } = await stage.platform.ended(launch);
    expect(endRecord?.message).toMatch(
      /^the agent could not install TensorBoard: it has no network, .*; name an image, or a Python/,
    );
  });

  test("has JupyterLab or TensorBoard behind its own Python, for the secret only, whose kernels outlive their pages", async ({
    skip,
  }) => {
    await using stage = await AgentStage.start();
    await needPackages(stage.config.folder, ["notebook", "tensorboard"], skip);
    // A Python may have an older package than the server needs.
    const older = newFolder();
    writeFileSync(join(older, "jinja2.py"), "raise ImportError('it is too old')\n");
    const notebook = taskOf("notebook", "", {
      environmentVariables: [`PATH=${systemPath}`, `PYTHONPATH=${older}`],
    });
    const board = taskOf("tensorboard", "", { environmentVariables: [`PATH=${systemPath}`] });
    stage.platform.run(notebook);
    stage.platform.run(board);
    for (const [launch, page, word] of [
      [notebook, "/lab", "JupyterLab"],
      [board, "/", "TensorBoard"],
    ] as const) {
      await stage.platform.up(launch);
      const runDir = join(stage.folderOf(launch), "run");
      expect(statSync(join(runDir, "page.sock")).mode & 0o777).toBe(0o600);
      expect((await asked(runDir, page, "")).status).toBe(403);
      expect(await asked(runDir, page, launch.task?.secret ?? "")).toMatchObject({
        status: 200,
        body: expect.stringContaining(`<title>${word}`) as string,
      });
      const folder = runAt(stage.folderOf(launch));
      const use = folder === null ? null : await askUse(folder, new AbortController().signal);
      expect(use).toMatchObject({ kernels: [], terminals: [], write_seconds: null });
      expect(use?.request_seconds).toBeLessThan(5);
    }
    const packages = packageOf(stage, "notebook");
    const { never, heard, value, path, busy, listed, after, pages } = await notebookClient(
      packages,
      join(stage.folderOf(notebook), "run/page.sock"),
      notebook.task?.secret ?? "",
    );
    // The cell counted on without a connection, and each number came once.
    expect(listed).toBe("directory");
    expect([heard, value]).toEqual(["0\n1\n2\n3\n4\n5\n6\n7\n", "42"]);
    // Each of two pages has all that a cell printed while the connections of both were broken.
    expect(pages).toEqual([[], []]);
    // Kernels import from the task's Python first.
    expect(path.split(" ")[0]).toBe(packages);
    expect(never).toMatchObject([{ busy: false, connections: 0, ever_connected: false }]);
    expect(busy).toMatchObject([{ busy: true, connections: 1, ever_connected: true }]);
    expect(after.kernels).toMatchObject([{ busy: false, ever_connected: true }]);
    // Neither reads nor a tab that connected again 1.2 s ago count, nor does the layout that an open tab saves.
    const idleSeconds = after.kernels[0]?.idle_seconds ?? 0;
    expect(idleSeconds).toBeGreaterThan(1.5);
    expect(after.write_seconds).toBeGreaterThan(idleSeconds);
    expect(await lateGrammar(packages)).toEqual({ before: false, checks: [true, false, true] });
  });
});

const packageOf = (stage: AgentStage, kind: "notebook"): string =>
  Object.values(packageFolders(join(stage.config.folder, "packages"), kind))[0] ?? "";

type Seen = {
  readonly never: object;
  readonly busy: object;
  readonly path: string;
  readonly heard: string;
  readonly value: string;
  readonly listed: string;
  readonly after: ServerUse;
  readonly pages: readonly (readonly string[])[];
};

/** A page that starts a kernel, and loses its connection within a cell. */
async function notebookClient(packages: string, socket: string, secret: string): Promise<Seen> {
  const program = join(import.meta.dirname, "servers/testing/notebook_client.py");
  const env = { PATH: systemPath, PYTHONPATH: packages };
  const { stdout } = await promisify(execFile)("python3", [program, socket, secret], { env });
  return JSON.parse(stdout) as Seen;
}

/** Whether the grammar is here before it is needed, and what jsonschema says of values by it. */
async function lateGrammar(packages: string): Promise<unknown> {
  const program = `import json, sys
import late_grammar
late_grammar.put_off()
import jsonschema
conforms = jsonschema.Draft202012Validator.FORMAT_CHECKER.conforms
before = "lark" in sys.modules
values = [("http://a/\u00e4", "iri"), ("no address", "iri"), ("x", "iri-reference")]
print(json.dumps({"before": before, "checks": [conforms(*value) for value in values]}))`;
  const path = [join(import.meta.dirname, "servers"), packages].join(delimiter);
  const env = { PATH: systemPath, PYTHONPATH: path };
  const { stdout } = await promisify(execFile)("python3", ["-c", program], { env });
  return JSON.parse(stdout);
}

/** The PATH with the Python for which there are lock files. */
const systemPath = "/usr/bin:/bin";

async function asked(runDir: string, path: string, secret: string) {
  const socket = await connectPage(runDir);
  const sent = request({
    ...{ path, createConnection: () => socket },
    headers: { host: "t1.localhost", "x-trainyard-task-secret": secret },
  }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}
