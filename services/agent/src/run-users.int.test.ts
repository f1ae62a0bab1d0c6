/** Training code with a user of its own, and the files and processes that it can access. Real processes, as root. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { createLogger } from "@trainyard/runtime";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AgentService, createService } from "./service.ts";
import { checkAccounts } from "./shell/open-users.ts";
import { holdingHere } from "./supervisor/python.ts";
import { folderNameOf } from "./state/layout.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { launchOf, newFolder, packed, removeFolders, taskOf } from "./testing/examples.ts";
import { HolderClient } from "./testing/holder-client.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 90_000, interval: 50 };

const isRoot = process.getuid?.() === 0;
const sdk = join(import.meta.dirname, "../../../libs/sdk-python/src");
const password = "the-password-of-the-bus";
/** Experiment n has the user first + n. */
const first = 1_900_000_000;
/** The system's Python: another one may be in a folder that only its user can enter. */
const path = "/usr/local/bin:/usr/bin:/bin";

let hub: MemoryHub;
let platform: ScriptedPlatform;
let agent: AgentService | null = null;
let folder: string;
let storage: string;

async function startAgent(more: Readonly<Record<string, string>> = {}): Promise<void> {
  const config = agentConfig(platform.url, {
    PATH: path,
    AWS_SECRET_ACCESS_KEY: "the-key-of-the-cloud",
    TRAINYARD_NATS_PASSWORD: password,
    TRAINYARD_AGENT_DIR: folder,
    TRAINYARD_AGENT_USER_IDS: `${first}-${first + 99}`,
    TRAINYARD_CHECKPOINT_DIR: storage,
    TRAINYARD_SDK_PATH: sdk,
    ...more,
  });
  agent = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
  });
  await agent.start();
}

beforeEach(async ({ skip }) => {
  if (!isRoot) notRun(skip, "root, who may start processes of other users");
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  folder = newFolder();
  const parent = newFolder();
  chmodSync(parent, 0o711);
  storage = join(parent, "checkpoints");
});

afterEach(async () => {
  await agent?.shutDownRuns();
  await agent?.[Symbol.asyncDispose]();
  agent = null;
  await platform?.[Symbol.asyncDispose]();
});

const folderOf = (launch: RequestedRun): string => join(folder, "runs", folderNameOf(launch));

/** A run of an experiment other than 7, that of `launchOf`. */
const ofExperiment = (experiment: number, script: string, more = {}) =>
  launchOf(script, { experiment: String(experiment), token: `token-of-${experiment}`, ...more });

/** Waits for the end of the run, and returns its lines. */
async function linesOf(launch: ReturnType<typeof launchOf>): Promise<readonly string[]> {
  platform.run(launch);
  await platform.ended(launch);
  return platform.texts(launch);
}

const mechanisms = holdingHere().cgroup === null ? ["cgroup", "parent"] : ["parent"];

describe.each(mechanisms)("with %s", (processGroups) => {
  test("a run has its experiment's user in all of its ids, without groups and without a way to more rights", async () => {
    await startAgent({ TRAINYARD_AGENT_PROCESS_GROUPS: processGroups });
    const lines = await linesOf(
      ofExperiment(
        12,
        "grep -E '^(Uid|Gid|Groups|CapEff|CapPrm|NoNewPrivs):' /proc/self/status; umask",
      ),
    );
    const id = first + 12;
    const ids = [id, id, id, id].join("\t");
    expect(lines).toEqual([
      `Uid:\t${ids}`,
      `Gid:\t${ids}`,
      "Groups:\t ",
      "CapPrm:\t0000000000000000",
      "CapEff:\t0000000000000000",
      "NoNewPrivs:\t1",
      "0007",
    ]);
  });

  test("a program that is missing or not executable is reported as for every other run", async () => {
    await startAgent({ TRAINYARD_AGENT_PROCESS_GROUPS: processGroups });
    const missing = launchOf(["no-such-program"]);
    platform.run(missing);
    expect((await platform.ended(missing)).exit).toMatchObject({
      code: 127,
      message: expect.stringContaining('"no-such-program" was not found'),
    });
    const contextDigest = platform.addContext(await packed({ "train.py": "" }));
    const closed = launchOf(["./train.py"], { contextDigest });
    platform.run(closed);
    expect((await platform.ended(closed)).exit).toMatchObject({
      code: 126,
      message: expect.stringContaining("is it executable"),
    });
  });

  test("variables of the configuration have no effect before the process has the run's user", async () => {
    await startAgent({ TRAINYARD_AGENT_PROCESS_GROUPS: processGroups });
    const trap = newFolder();
    chmodSync(trap, 0o777);
    // With these variables, the loader of the C library writes a file for each program that it loads.
    const environmentVariables = ["LD_DEBUG=files", `LD_DEBUG_OUTPUT=${trap}/loaded`];
    await linesOf(launchOf("true", { environmentVariables }));
    const loadedBy = readdirSync(trap).map((name) => lstatSync(join(trap, name)).uid);
    expect(new Set(loadedBy)).toEqual(new Set([first + 7]));
  });
});

test("code, SDK, home, temporary files and spool belong to the run, and its checkpoint has the storage's group", async () => {
  await startAgent();
  const script = `
import getpass, os, pathlib, tempfile, trainyard
assert pathlib.Path.home() == pathlib.Path(os.environ["HOME"]), pathlib.Path.home()
(pathlib.Path.home() / "cache").write_text("x")
tempfile.NamedTemporaryFile().write(b"x")
pathlib.Path("made").write_text("x")
print(getpass.getuser(), oct(os.stat(os.environ["TRAINYARD_RUN_DIR"]).st_mode))
with trainyard.init() as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "model").write_text("weights")
    print(ctx.tensorboard.path.is_dir())
print("stored", uuid)
`;
  const contextDigest = platform.addContext(await packed({ "train.py": script, "data/x": "y" }));
  const launch = launchOf("exec python3 train.py", { contextDigest });
  const lines = await linesOf(launch);
  expect(lines).toEqual(
    expect.arrayContaining(["trainyard-7 0o40700", "True", expect.stringMatching(/^stored /)]),
  );
  const checkpoint = lines.find((line) => line.startsWith("stored "))?.slice(7) ?? "";
  const made = lstatSync(join(storage, checkpoint));
  expect([made.uid, made.gid, (made.mode & 0o7777).toString(8)]).toEqual([first + 7, 0, "2770"]);
  expect(lstatSync(join(storage, checkpoint, "model")).mode & 0o777).toBe(0o660);
  platform.unwant(launch);
  await vi.waitFor(() => expect(existsSync(join(folderOf(launch), "work"))).toBe(false), patient);
});

test("a run that restarts on a second agent reads its own checkpoint, and another experiment's code cannot", async () => {
  await startAgent();
  const id = "00000000-0000-4000-8000-00000000000c";
  await linesOf(
    launchOf(
      `mkdir "$TRAINYARD_CHECKPOINT_ROOT/${id}"; echo weights > "$TRAINYARD_CHECKPOINT_ROOT/${id}/model"`,
    ),
  );
  await agent?.[Symbol.asyncDispose]();
  folder = newFolder();
  await startAgent();
  const read = `cat "$TRAINYARD_CHECKPOINT_ROOT/${id}/model"; ls "$TRAINYARD_CHECKPOINT_ROOT/${id}"; rm -rf "$TRAINYARD_CHECKPOINT_ROOT/${id}"`;
  const others = await linesOf(ofExperiment(8, read));
  expect(others).toHaveLength(3);
  for (const line of others) expect(line).toMatch(/[Pp]ermission denied|not permitted/);
  expect((await linesOf(launchOf(read)))[0]).toBe("weights");
});

test("training code reads neither the agent's password nor another run's token, files or lines", async () => {
  const settings = join(newFolder(), "agent.env");
  writeFileSync(settings, `TRAINYARD_NATS_PASSWORD=${password}\n`, { mode: 0o600 });
  await startAgent({ TRAINYARD_ENV_FILE: settings });
  const contextDigest = platform.addContext(await packed({ "secret.py": "mine = 1\n" }));
  const victim = ofExperiment(
    1,
    'mkdir "$TRAINYARD_RUN_DIR/spool"; echo x > "$TRAINYARD_RUN_DIR/spool/reports.ndjson"; echo up; sleep 1000',
    { contextDigest },
  );
  platform.run(victim);
  const { pid } = await platform.up(victim);
  await vi.waitFor(() => expect(platform.texts(victim)).toEqual(["up"]), patient);
  const there = folderOf(victim);
  const supervisor = JSON.parse(readFileSync(join(there, "supervisor.json"), "utf8")) as {
    pid: number;
  };
  const targets = [
    settings,
    `/proc/${process.pid}/environ`,
    `/proc/${supervisor.pid}/environ`,
    `/proc/${pid}/environ`,
    `/proc/${pid}/cwd/secret.py`,
    `/proc/${pid}/mem`,
    ...["agent.json", "folder.json", "contexts"].map((name) => join(folder, name)),
    folder,
    join(folder, "runs"),
    there,
    ...["spec.json", "process.json", "supervisor.log", "output", "output/000000000001.ndjson"].map(
      (name) => join(there, name),
    ),
    ...["run", "run/spool/reports.ndjson", "home", "tmp", "work", "work/1", "work/1/secret.py"].map(
      (name) => join(there, name),
    ),
  ];
  const script = `
import os, sys
for path in ${JSON.stringify(targets)}:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(64)
        print("read", path)
    except PermissionError:
        pass
    except OSError as error:
        print(type(error).__name__, path)
for path in ${JSON.stringify([there, join(there, "run"), join(folder, "runs"), folder])}:
    try:
        open(path + "/planted", "w")
        print("wrote", path)
    except PermissionError:
        pass
for pid in ${JSON.stringify([process.pid, supervisor.pid, pid])}:
    try:
        os.kill(pid, 0)
        print("may signal", pid)
    except PermissionError:
        pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        environment = open("/proc/" + pid + "/environ", "rb").read()
    except OSError:
        continue
    for secret in (b"${password}", b"token-of-1", b"the-key-of-the-cloud"):
        if secret in environment: print("found", secret, "in", pid)
print("tried", len(sys.argv))
`;
  const attack = platform.addContext(await packed({ "train.py": script }));
  expect(
    await linesOf(ofExperiment(2, "exec python3 train.py", { contextDigest: attack })),
  ).toEqual(["tried 1"]);
  platform.kill(victim);
  await platform.ended(victim);
});

test("a run can neither read nor write nor remove its exit record, its log and its launch", async () => {
  await startAgent();
  const launch = launchOf(
    'cd "$TRAINYARD_RUN_DIR/.." && { cat spec.json; echo x > exit.json; rm -rf output; mv run gone; ln -s /etc run; } 2>&1 | grep -vi "permission denied"; exit 3',
  );
  expect(await linesOf(launch)).toEqual([]);
  expect(platform.reported(launch.allocation)?.exit?.code).toBe(3);
});

test("an experiment beyond the range of users is not launched, and the reason names the setting", async () => {
  await startAgent();
  const launch = ofExperiment(100, "true");
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended.launchFailed).toBe(true);
  expect(ended.exit?.message).toMatch(/experiment 100 has no user.*experiments 1 to 99/);
});

test.each([
  ["TRAINYARD_AGENT_DIR", "agent", /cannot reach .*chmod o\+x/],
  ["TRAINYARD_SDK_PATH", "", /cannot read the package trainyard/],
  ["TRAINYARD_ENV_FILE", "open", /others may read it/],
])(
  "an agent does not start with a %s whose path does not suit the users of runs",
  async (name, below, said) => {
    const closed = newFolder();
    mkdirSync(join(closed, "trainyard"));
    for (const file of ["trainyard/__init__.py", "open"]) writeFileSync(join(closed, file), "");
    await expect(startAgent({ [name]: join(closed, below) })).rejects.toThrow(said);
  },
);

test("an agent does not start with a state folder that other users could replace", async () => {
  const parent = newFolder();
  chmodSync(parent, 0o777);
  const starting = startAgent({ TRAINYARD_AGENT_DIR: join(parent, "agent") });
  await expect(starting).rejects.toThrow(/others may exchange .*chmod go-w/);
});

test("an agent does not start with a group for runs whose members have the rights of root", async () => {
  const starting = startAgent({ TRAINYARD_AGENT_USER_GROUPS: "docker" });
  await expect(starting).rejects.toThrow("rights of root");
});

test.each(["no-such-group", "root", "0"])(
  "an agent does not start with %s as a group for runs",
  async (group) => {
    const starting = startAgent({ TRAINYARD_AGENT_USER_GROUPS: group });
    await expect(starting).rejects.toThrow("no such group that runs may have");
  },
);

test("a range that contains an account of the host is refused", () => {
  const accounts = join(newFolder(), "passwd");
  writeFileSync(accounts, "root:x:0:0::/root:/bin/sh\nannie:x:50001:50001::/home/annie:/bin/sh\n");
  expect(() => checkAccounts({ first: 50_000, last: 50_010 }, [accounts])).toThrow(
    /annie in .* has the id 50001/,
  );
  expect(() => checkAccounts({ first: 50_002, last: 50_010 }, [accounts])).not.toThrow();
});

test("a run has exactly the groups that the agent's settings name", async () => {
  await startAgent({ TRAINYARD_AGENT_USER_GROUPS: "daemon,1234" });
  const [groups] = await linesOf(launchOf("grep ^Groups: /proc/self/status"));
  expect(groups?.trim().split(/\s+/)).toEqual(["Groups:", "1", "1234"]);
});

test("a task has a user of the second range, its holder and terminals too, and none of an experiment", async () => {
  await startAgent({ TRAINYARD_AGENT_TASK_USER_IDS: `${first + 1_000}-${first + 99_999}` });
  const task = { id: "t12", kind: "shell", secret: "" };
  const launch = taskOf("shell", "", { allocation: "t12#1", task });
  platform.run(launch);
  const hello = { open: "exec", command: ["sh", "-c", "id -u; id -g; echo $HOME $USER"] } as const;
  using program = await HolderClient.open(join(folderOf(launch), "run"), hello);
  expect(await program.ended()).toEqual({ type: "ended", code: 0 });
  const home = join(folderOf(launch), "work", "kept");
  expect(program.text()).toBe(`${first + 1_012}\n${first + 1_012}\n${home} trainyard-t12\n`);
  expect((await platform.up(launch)).userId).toBe(first + 1_012);
  platform.kill(launch);
  await platform.ended(launch);
});

test("an agent with users of experiments and none of tasks refuses tasks, and one with common ids does not start", async () => {
  await startAgent();
  const refused = taskOf("command", "true");
  platform.run(refused);
  expect((await platform.ended(refused)).exit?.message).toContain(
    "has no range for tasks; set TRAINYARD_AGENT_TASK_USER_IDS to another range",
  );
  await agent?.[Symbol.asyncDispose]();
  agent = null;
  const overlapping = { TRAINYARD_AGENT_TASK_USER_IDS: `${first + 50}-${first + 500}` };
  await expect(startAgent(overlapping)).rejects.toThrow(`both contain ${first + 50}`);
});
