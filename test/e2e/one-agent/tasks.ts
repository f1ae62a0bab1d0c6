/** Tests commands on a real cluster: what people do with them on the command line. */
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const stateOf = async (task: string): Promise<string> =>
  (await world.client.call("getTask", { task })).state;

/** Returns the id in "created command t12". */
const idIn = (text: string): string => /created command (t\d+)/.exec(text)?.[1] ?? "";

test("a command runs in its folder, its output comes apart from its errors, and its exit code is the caller's", async () => {
  const script = world.write("task-code/main.py", "import sys\nprint(sys.argv[1:])\n");
  const body =
    "import main, os, sys; print(os.environ['TRAINYARD_TASK_KIND']); print('lost', file=sys.stderr); sys.exit(3)";
  const options = ["--context", dirname(script), "--set", "resources.slots=0"];
  const ran = await world.yard("cmd", "run", "-f", ...options, "--", "python3", "-c", body, "a b");
  expect(ran.out).toBe("['a b']\ncommand\n");
  expect(ran.err).toContain("lost\n");
  expect(ran.code).toBe(3);
  const task = idIn(ran.err);
  expect(ran.err).toMatch(new RegExp(`Task ${task} ended ERROR: .*\\n$`));
  const described = await world.yard("task", "describe", task);
  expect(described.out).toMatch(/state +ERROR\n/);
  expect(described.out).toMatch(/exit code +3\n/);
  const logs = await world.yard("task", "logs", task, "--stream", "stderr");
  expect(logs.out).toBe("lost\n");
  expect((await world.yard("task", "delete", task)).code).toBe(0);
  expect((await world.yard("task", "logs", task)).err).toBe(`There is no task ${task}.\n`);
});

test("a command uses the Python client for its owner without a login, and its token is refused within 2 s after its end", async () => {
  const body = [
    "import os, time",
    "from trainyard import client",
    "client.Client().create_workspace('from-a-command')",
    "print(client.list_experiments() is not None, os.environ['TRAINYARD_TOKEN'][::-1], flush=True)",
    "print(os.environ['TRAINYARD_TOKEN'], flush=True)",
    "time.sleep(600)",
  ].join("\n");
  const words = ["--set", "resources.slots=0", "--", "python3", "-c", body];
  const task = idIn((await world.yard("cmd", "run", ...words)).out);
  let token = "";
  await eventually(`task ${task} has called`, async () => {
    const { out } = await world.yard("task", "logs", task);
    // The log has no token as it is: the command writes it backwards.
    token = /^True (\S+)\nty1\.<masked>$/m.exec(out)?.[1] ?? "";
    return token !== "";
  });
  token = [...token].toReversed().join("");
  const made = await world.client.call("getWorkspace", { workspace: "from-a-command" });
  expect(made.createdBy).toBe(`task:${task}`);
  const list = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${world.access.api}/api/v1/experiments`, { headers })).status;
  };
  expect(await list()).toBe(200);
  expect((await world.yard("task", "kill", task)).code).toBe(0);
  await eventually(`task ${task} is killed`, async () => (await stateOf(task)) === "KILLED");
  await expect.poll(list, { timeout: 2_000 }).toBe(403);
});

test("a command that is killed ends at once, and a queued one says why it waits", async () => {
  const started = await world.yard(
    "cmd",
    "run",
    "--set",
    "resources.slots=4",
    "--",
    "sleep",
    "600",
  );
  const running = idIn(started.out);
  await eventually(`task ${running} runs`, async () => (await stateOf(running)) === "RUNNING");
  const second = await world.yard("cmd", "run", "--set", "resources.slots=4", "--", "true");
  const waiting = idIn(second.out);
  await eventually(`task ${waiting} has a reason`, async () => {
    const { state, reason } = await world.client.call("getTask", { task: waiting });
    return state === "QUEUED" && reason !== "";
  });
  expect((await world.yard("task", "list")).out).toMatch(/WAITS\n.*the run needs 4 slots/);
  expect((await world.yard("job", "explain", waiting)).out).toMatch(/the run needs 4 slots/);
  expect((await world.yard("task", "kill", running)).code).toBe(0);
  await eventually(`task ${running} is killed`, async () => (await stateOf(running)) === "KILLED");
  await eventually(`task ${waiting} ends`, async () => (await stateOf(waiting)) === "COMPLETED");
});

test("a command that keeps its work is paused while it runs or waits, and resumed with its files", async () => {
  const kept = ["--set", "keep_work=true", "--set", "resources.slots=4"];
  // The exit code is 7 where an earlier run has left the file.
  const script = "test -f seen && exit 7; echo 1 > seen; echo ready; exec sleep 600";
  const words = ["--", "sh", "-c", script];
  const running = idIn((await world.yard("cmd", "run", ...kept, ...words)).out);
  await eventually(`task ${running} has written its file`, async () =>
    (await world.yard("task", "logs", running)).out.includes("ready"),
  );
  const waiting = idIn((await world.yard("cmd", "run", ...kept, "--", "true")).out);
  expect((await world.yard("task", "pause", waiting)).code).toBe(0);
  await eventually(`task ${waiting} is paused`, async () => (await stateOf(waiting)) === "PAUSED");
  expect((await world.yard("task", "pause", running)).code).toBe(0);
  await eventually(`task ${running} is paused`, async () => (await stateOf(running)) === "PAUSED");
  expect((await world.yard("task", "resume", waiting)).code).toBe(0);
  await eventually(`task ${waiting} ends`, async () => (await stateOf(waiting)) === "COMPLETED");
  expect((await world.yard("task", "resume", running)).code).toBe(0);
  await eventually(`task ${running} ends`, async () => (await stateOf(running)) === "ERROR");
  const { exitCode, lastSave, unsaved } = await world.client.call("getTask", { task: running });
  expect([exitCode, unsaved]).toEqual([7, ""]);
  expect(lastSave?.bytes).toBeGreaterThan(0);
  const board = await world.yard("tensorboard", "start", "--no-wait", "99999");
  expect([board.code, board.err.trim()]).toEqual([2, "sources: there is no experiment 99999"]);
});

test.each([
  [["--set", "resources.slots=99", "--", "true"], /^resources\.slots: cannot be satisfied: /],
  [[], /^entrypoint: is missing/],
  [["--set", "entrypoint=a", "--", "b"], /^entrypoint: is given, and a command too/],
])("a task that cannot run is refused in a sentence: %j", async (words, sentence) => {
  const { code, out, err } = await world.yard("cmd", "run", ...words);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(sentence);
});
