/** Tasks on an agent: the holder with its command, terminals, programs and stops, with real processes. */
import { existsSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { encodeFrame, frameTypes, toHolder } from "@trainyard/terminal";
import { afterAll, describe, expect, test, vi } from "vitest";
import { limits } from "./limits.ts";
import { connectHolder } from "./state/run-socket.ts";
import { AgentStage } from "./testing/agent-stage.ts";
import { configured, newFolder, packed, removeFolders, taskOf } from "./testing/examples.ts";
import { HolderClient } from "./testing/holder-client.ts";

afterAll(removeFolders);
const patient = { timeout: 60_000, interval: 20 };
const size = { columns: 80, rows: 24 };

/** A login shell sets its own. */
const prompt = /[#$] $/;

const runDirOf = (stage: AgentStage, launch: Plain<Launch>): string =>
  join(stage.folderOf(launch), "run");

function terminalOf(
  stage: AgentStage,
  launch: Plain<Launch>,
  more: object = {},
): Promise<HolderClient> {
  return HolderClient.open(runDirOf(stage, launch), {
    open: "terminal",
    name: "main",
    ...size,
    ...more,
  });
}

function execOf(
  stage: AgentStage,
  launch: Plain<Launch>,
  command: readonly string[],
  more: object = {},
): Promise<HolderClient> {
  return HolderClient.open(runDirOf(stage, launch), { open: "exec", command, ...more });
}

async function startShell(stage: AgentStage): Promise<Plain<Launch>> {
  const launch = taskOf("shell", "", { environmentVariables: ["SHELL=/bin/sh"] });
  stage.platform.run(launch);
  await stage.platform.up(launch);
  return launch;
}

describe.concurrent("a task", () => {
  test("a command runs in its work_dir with a task's variables, its lines are the run's, and its exit code is the task's", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const contextDigest = platform.addContext(await packed({ "sub/data.txt": "data" }));
    const script = `cat data.txt; echo; pwd | tail -c 5; [ "$PWD" = "$(pwd)" ] && echo "$TRAINYARD_TASK_ID $TRAINYARD_TASK_KIND \${TRAINYARD_TRIAL_ID-none}"; echo oops >&2; exit 3`;
    const launch = taskOf("command", script, { contextDigest, ...configured({ work_dir: "sub" }) });
    platform.run(launch);
    const { exit } = await platform.ended(launch);
    expect(exit).toMatchObject({ code: 3, message: "exited with code 3: oops" });
    const id = launch.task?.id;
    expect(platform.texts(launch).toSorted()).toEqual(
      ["/sub", `${id} command none`, "data", "oops"].toSorted(),
    );
    expect(existsSync(join(runDirOf(stage, launch), "holder.sock"))).toBe(false);
  });

  test("a command ends after its last lines are stored, also if the logs service was away for some seconds", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    platform.logsAway = true;
    const launch = taskOf("command", "echo last; exit 3");
    platform.run(launch);
    const linesAtEnd = platform.ended(launch).then(() => platform.texts(launch));
    const hasExited = () => existsSync(join(stage.folderOf(launch), "exit.json"));
    await vi.waitFor(() => expect(hasExited()).toBe(true), patient);
    await delay(limits.linesBeforeEndMs + 1_000);
    platform.logsAway = false;
    expect(await linesAtEnd).toEqual(["last"]);
  });

  test.each([
    ["kill -9 $$", { signal: "SIGKILL" }],
    ["kill -SEGV $$", { signal: "SIGSEGV" }],
  ])("a command that ends by a signal ends its task by it (%s)", async (script, expected) => {
    await using stage = await AgentStage.start();
    const launch = taskOf("command", script);
    stage.platform.run(launch);
    expect((await stage.platform.ended(launch)).exit).toMatchObject(expected);
  });

  test("a program that does not exist, and a work_dir that does not, end the task with one sentence", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const missing = taskOf("command", ["no-such-program"]);
    const nowhere = taskOf("command", "true", configured({ work_dir: "/no/such" }));
    platform.run(missing);
    platform.run(nowhere);
    expect((await platform.ended(missing)).exit).toMatchObject({
      code: 127,
      message: expect.stringContaining(
        "the entrypoint's program no-such-program was not found: name one that is on its PATH",
      ),
    });
    expect((await platform.ended(nowhere)).exit).toMatchObject({
      code: 126,
      message:
        "exited with code 126: the task's work_dir /no/such cannot be entered: No such file or directory",
    });
  });

  test("files that a task writes where the SDK has its records are never read as them", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const script = `cd "$TRAINYARD_RUN_DIR"; mkdir -p spool/checkpoints; echo '{"key":"0-1","metrics":{}}' > spool/reports.ndjson
      touch spool/checkpoints/00000000-0000-4000-8000-00000000000d.begun
      echo '{"reason":"END_REASON_FINISHED"}' > end.json; exit 4`;
    const launch = taskOf("command", script);
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect(ended.exit?.code).toBe(4);
    expect(ended.endRecord).toBeUndefined();
    expect(ended.sealed).toBeUndefined();
    expect(platform.received).toEqual([]);
    expect(platform.checkpointRequests).toBe(0);
  });

  test("a shell is for its own user alone, starts with its first viewer, and its exit code is the task's", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    const runDir = runDirOf(stage, launch);
    using terminal = await terminalOf(stage, launch);
    expect(statSync(join(runDir, "holder.sock")).mode & 0o777).toBe(0o600);
    await terminal.until(prompt);
    terminal.type('echo "$0 $TRAINYARD_TASK_KIND"; stty size\n');
    await terminal.until("-sh shell\r\n24 80");
    terminal.type("exit 5\n");
    expect(await terminal.ended()).toEqual({ type: "ended", code: 5 });
    expect((await stage.platform.ended(launch)).exit).toMatchObject({ code: 5 });
  });

  test("a shell survives its viewers and its agent, and all viewers see the same terminal", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    {
      using first = await terminalOf(stage, launch);
      await first.until(prompt);
      first.type("kept=here\n");
      await first.until(/kept=here\r\n.*[#$] $/);
    }
    await stage.stopAgent();
    await stage.startAgent();
    using second = await terminalOf(stage, launch);
    using third = await terminalOf(stage, launch);
    second.type('echo "still $kept"\n');
    await second.until("still here");
    await third.until("still here");
    stage.platform.kill(launch);
    expect((await stage.platform.ended(launch)).killed).toBe(true);
  });

  test("the size is that of the viewer who typed or resized last, or who came first", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    using wide = await terminalOf(stage, launch, { columns: 132, rows: 50 });
    using narrow = await terminalOf(stage, launch, { columns: 60, rows: 20 });
    const sizes = () => wide.of("size").map(({ columns, rows }) => [columns, rows]);
    await wide.until(prompt);
    expect(sizes()).toEqual([[132, 50]]);
    narrow.type("stty size\n");
    await wide.until("20 60");
    wide.write(toHolder.size({ columns: 5_000, rows: 40 }));
    await vi.waitFor(() => expect(sizes().at(-1)).toEqual([1000, 40]), patient);
    expect(sizes()).toEqual([
      [132, 50],
      [60, 20],
      [1000, 40],
    ]);
    wide.type("stty size\n");
    await narrow.until("40 1000");
  });

  test("a viewer that does not read holds up nobody, and gets a screen when it reads again", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    using slow = await terminalOf(stage, launch);
    using quick = await terminalOf(stage, launch);
    await slow.until(prompt);
    slow.stopReading();
    quick.type('seq 1 700000; echo all""done\n');
    await quick.until("alldone");
    slow.readAgain();
    await slow.until("alldone");
    // On a busy host the quick one lags, too: the comparison is with all that was written, 5.4 MB.
    expect(slow.outputBytes).toBeLessThan(5_400_000 - 1024 * 1024);
    expect(slow.of("screen").length).toBeGreaterThan(1);
  });

  test("exec keeps output, error output and exit code apart, passes input and its end, and waits for its client", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    using program = await execOf(stage, launch, ["sh", "-c", 'echo "$WHO"; pwd >&2; cat; exit 9'], {
      environment: { WHO: "me" },
      directory: "/usr",
    });
    program.type("typed");
    program.write(toHolder.endOfInput());
    expect(await program.ended()).toEqual({ type: "ended", code: 9 });
    expect(program.text()).toBe("me\ntyped");
    expect(program.text("error_output")).toBe("/usr\n");

    using unread = await execOf(stage, launch, [
      "sh",
      "-c",
      "head -c 20000000 /dev/zero; echo >&2",
    ]);
    await vi.waitFor(() => expect(unread.text().length).toBeGreaterThan(0), patient);
    unread.stopReading();
    unread.readAgain();
    expect(await unread.ended()).toEqual({ type: "ended", code: 0 });
    expect(unread.text()).toHaveLength(20_000_000);

    using missing = await execOf(stage, launch, ["no-such-program"]);
    expect(await missing.ended()).toEqual({
      type: "refused",
      code: "cannot_start",
      detail: "no-such-program cannot be started: No such file or directory",
    });
    using inTerminal = await execOf(stage, launch, ["sh", "-c", "stty size; exec sleep 100"], {
      terminal: true,
      ...size,
    });
    await inTerminal.until("24 80");
    inTerminal.write(toHolder.signal("INT"));
    expect(await inTerminal.ended()).toEqual({ type: "ended", signal: "SIGINT" });
  });

  test("a stop reaches a task as a line of its log, a notice and SIGTERM, and it ends in its own time", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const script = `trap 'sleep 0.5; echo saved; exit 0' TERM; echo up; while true; do sleep 0.05; done`;
    const launch = taskOf("command", script);
    platform.run(launch);
    await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
    using viewer = await terminalOf(stage, launch);
    await vi.waitFor(() => expect(viewer.of("screen")).toHaveLength(1), patient);
    using program = await execOf(stage, launch, ["sleep", "1000"]);
    await vi.waitFor(() => expect(program.of("opened")).toHaveLength(1), patient);
    platform.stop(launch);
    const ended = await platform.ended(launch);
    expect(ended.exit?.code).toBe(0);
    expect(ended.terminated).toBe(true);
    const text = "a stop of this task was requested: its processes get SIGTERM";
    expect(platform.texts(launch)).toEqual(["up", text, "saved"]);
    expect(viewer.of("notice")[0]?.text).toBe(text);
    expect(program.of("notice")[0]?.text).toBe(text);
    expect(await program.ended()).toEqual({ type: "ended", signal: "SIGTERM" });
  });

  test("a stop ends a shell at its prompt, and one that nobody has opened", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const [opened, unopened] = [await startShell(stage), await startShell(stage)];
    using terminal = await terminalOf(stage, opened);
    await terminal.until(prompt);
    terminal.type("trap '' TERM; sleep 1000\n");
    await terminal.until("sleep 1000");
    platform.stop(opened);
    platform.stop(unopened);
    await vi.waitFor(() => expect(terminal.of("notice")).toHaveLength(1), patient);
    expect((await platform.ended(unopened)).exit?.signal).toBe("SIGTERM");
    terminal.write(toHolder.signal("KILL"));
    expect((await platform.ended(opened)).exit?.signal).toBe("SIGTERM");
  });

  test("a holder refuses what it cannot do in one sentence, and continues", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    const runDir = runDirOf(stage, launch);
    const refusal = async (hello: object): Promise<unknown> => {
      using client = await HolderClient.open(runDir, hello as never);
      return await client.ended();
    };
    expect(await refusal({ open: "everything" })).toMatchObject({ code: "bad_request" });
    expect(await refusal({ open: "exec", command: [] })).toMatchObject({ code: "bad_request" });
    expect(await refusal({ open: "terminal", name: "../x" })).toMatchObject({
      code: "bad_request",
    });
    expect(await refusal({ open: "follow", name: "main" })).toMatchObject({
      code: "no_terminal",
      detail: "the task has no terminal of this name",
    });
    expect(await refusal({ open: "follow", name: ["main"] })).toMatchObject({
      code: "no_terminal",
    });
    expect(await refusal({ open: "exec", command: ["true"], environment: { A: 1 } })).toMatchObject(
      { code: "bad_request", detail: "the environment is an object of texts" },
    );
    using deep = await HolderClient.open(runDir, { open: "terminal", name: "deep", ...size });
    deep.write(encodeFrame(frameTypes.size, Buffer.from("[".repeat(500_000))));
    expect(await deep.ended()).toMatchObject({
      code: "bad_request",
      detail: "a frame has no JSON object where it must have one",
    });
    using long = await HolderClient.open(runDir, { open: "watch" });
    long.write(new Uint8Array([1, 0x7f, 0, 0, 0]));
    expect(await long.ended()).toMatchObject({ code: "bad_request" });
    const crowd = await Promise.all(
      Array.from({ length: 70 }, () => HolderClient.open(runDir, { open: "watch" })),
    );
    await vi.waitFor(
      () => expect(crowd.filter((one) => one.of("refused").length > 0).length).toBeGreaterThan(5),
      patient,
    );
    for (const one of crowd) one[Symbol.dispose]();
    using terminal = await vi.waitFor(async () => {
      const client = await terminalOf(stage, launch);
      await client.until(prompt);
      return client;
    }, patient);
    terminal.type("exit\n");
    await stage.platform.ended(launch);
  });

  test("a link in place of the holder's socket leads the agent to no other socket", async () => {
    await using stage = await AgentStage.start();
    const launch = await startShell(stage);
    const runDir = runDirOf(stage, launch);
    const other = join(newFolder(), "engine.sock");
    const server = createServer().listen(other);
    await once(server, "listening");
    await vi.waitFor(() => connectHolder(runDir).then((socket) => socket.destroy()), patient);
    rmSync(join(runDir, "holder.sock"));
    await expect(connectHolder(runDir)).rejects.toThrow("its folder has no socket of a holder");
    symlinkSync(other, join(runDir, "holder.sock"));
    await expect(connectHolder(runDir)).rejects.toThrow("is something else");
    server.close();
    stage.platform.kill(launch);
    await stage.platform.ended(launch);
    expect(readFileSync(join(stage.folderOf(launch), "supervisor.log"), "utf8")).toBe("");
  });
});
