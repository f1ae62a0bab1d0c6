import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, expect, test, vi } from "vitest";
import { SupervisorProcess } from "../shell/supervisor-process.ts";
import { isAlive } from "@trainyard/kernel/process-identity";
import { exitMessageCharsMax } from "../core/records.ts";
import { names } from "../state/layout.ts";
import { RunFolder } from "../state/run-folder.ts";
import { ownVariables } from "../testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";

afterAll(removeFolders);

vi.setConfig({ testTimeout: 30_000 });
const patient = { timeout: 90_000, interval: 50 };
const variables = ownVariables();

function newRun() {
  const folder = RunFolder.create(newFolder(), launchOf("unused"), systemClock);
  const order = (script: string) => ({
    argv: ["sh", "-c", script],
    environment: { ...variables, TRAINYARD_RUN_DIR: folder.runDir },
    work: folder.newWork(),
    mechanism: "auto" as const,
  });
  return { folder, order };
}

test("of several supervisors with an order for the same run, only one starts it", async () => {
  const { folder, order } = newRun();
  const supervisors = [1, 2, 3].map(() => new SupervisorProcess(folder.path, variables, () => {}));
  for (const supervisor of supervisors) {
    supervisor.order(order('echo x >> "$TRAINYARD_RUN_DIR/starts"; sleep 0.2'));
  }
  await vi.waitFor(
    () => expect(supervisors.some(({ isRunning }) => isRunning)).toBe(false),
    patient,
  );
  expect(folder.exit).toMatchObject({ kind: "exited", code: 0 });
  expect(readFileSync(join(folder.runDir, "starts"), "utf8")).toBe("x\n");
});

test("a run that the agent ended before its start is claimed, and no order starts it", async () => {
  const { folder, order } = newRun();
  expect(folder.claimAsNeverStarted()).toBe(true);
  const supervisor = new SupervisorProcess(folder.path, variables, () => {});
  supervisor.order(order("true"));
  await vi.waitFor(() => expect(supervisor.isRunning).toBe(false), patient);
  expect([folder.process, folder.exit]).toEqual([null, null]);
});

test("a supervisor without an order starts nothing", async () => {
  const { folder } = newRun();
  const supervisor = new SupervisorProcess(folder.path, variables, () => {});
  supervisor[Symbol.dispose]();
  await vi.waitFor(() => expect(supervisor.isRunning).toBe(false), patient);
  expect(folder.supervisor).toBeNull();
});

test("SIGTERM to a supervisor ends its run as a shutdown, and the end is recorded", async () => {
  const { folder, order } = newRun();
  const supervisor = new SupervisorProcess(folder.path, variables, () => {});
  supervisor.order(order("exec sleep 1000"));
  await vi.waitFor(() => expect(folder.process).not.toBeNull(), patient);
  const leader = folder.process;
  process.kill(folder.supervisor?.pid ?? 0, "SIGTERM");
  await vi.waitFor(() => expect(folder.exit).toMatchObject({ signal: "SIGTERM" }), patient);
  expect(folder.kill?.why).toBe("shutdown");
  expect(leader !== null && isAlive(leader)).toBe(false);
});

test("the message of an end that the agent records is shortened to fit the space reserved on a full disk", () => {
  const { folder } = newRun();
  const message = "\u0001".repeat(1024 * 1024);
  folder.recordExit({ kind: "not_launched", code: null, signal: null, message });
  expect(folder.exit?.message).toHaveLength(exitMessageCharsMax);
  expect(statSync(join(folder.path, names.exit)).size).toBeLessThanOrEqual(4_096);
});
