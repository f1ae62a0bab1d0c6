/** The contract of both ways to start a supervisor; the process that forks supervisors may be killed at any time. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { recordedContainer } from "@trainyard/experiment-config/recorded";
import { isAlive } from "@trainyard/kernel/process-identity";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { containerBody } from "../core/container-body.ts";
import type { StartOrder } from "../runtime/start-order.ts";
import { makeFolder } from "../state/layout.ts";
import { OutputReader } from "../state/output-reader.ts";
import { throttledBytes } from "../state/output-throttle.ts";
import { segmentName } from "../state/output-writer.ts";
import { RunFolder } from "../state/run-folder.ts";
import { LineSplitter } from "../supervisor/line-splitter.ts";
import { RewrittenLines } from "../supervisor/rewritten-lines.ts";
import { ownVariables } from "../testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { FakeEngine } from "../testing/fake-engine.ts";
import { Starter, type Supervisors, supervisorsOf } from "./supervisors.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 40_000, interval: 50 };
const variables = ownVariables();

let runs = "";
let engine: FakeEngine;
let supervisors: Supervisors | undefined;
beforeEach(async () => {
  runs = makeFolder(join(newFolder(), "runs"));
  engine = await FakeEngine.start([]);
});
afterEach(async () => {
  supervisors?.[Symbol.dispose]();
  await engine[Symbol.asyncDispose]();
});

function newRun() {
  const folder = RunFolder.create(runs, launchOf("unused"), systemClock);
  const order = (script: string) => {
    const environment = { ...variables, TRAINYARD_RUN_DIR: folder.runDir };
    const work = folder.newWork();
    return { argv: ["sh", "-c", script], environment, work, mechanism: "auto" as const };
  };
  return { folder, order };
}

const settings = {
  image: "",
  network: "host",
  memoryBytes: null,
  pids: null,
  cpus: null,
  ulimits: [],
  user: "0:0",
  access: { paths: [], devices: [], capabilities: [] },
};

/** A new run, and the order for it by mechanism. */
function newRunOf(mechanism: "parent" | "container") {
  const { folder, order: orderOfProcess } = newRun();
  const order = (script: string): StartOrder => {
    const command = orderOfProcess(script);
    if (mechanism === "parent") return command;
    const { path, runDir } = folder;
    const pipes = join(path, "pipes");
    const none = {
      sdkPath: null,
      holder: null,
      packages: null,
      board: null,
      storageFolders: [],
      slots: [],
      labels: {},
    };
    const place = { ...command, ...none, image: "any:1", runDir, pipes };
    const body = containerBody(place, recordedContainer({}, "cpu"), settings, "docker");
    return { socket: engine.socket, name: basename(path), pipes, body };
  };
  return { folder, order };
}

function linesOf(folder: RunFolder) {
  const { lines } = new OutputReader(folder.path).read({
    lines: 1_000,
    bytes: 4_000_000,
    lineOverheadBytes: 0,
  });
  return lines.map(({ source, text, continued }) => ({ source, text, continued }));
}

const ended = (folder: RunFolder) => vi.waitFor(() => expect(folder.exit).not.toBeNull(), patient);

describe.each(["parent", "container"] as const)(
  "supervisors of runs with the mechanism %s",
  (mechanism) => {
    let started: Supervisors;
    beforeEach(() => {
      started = supervisorsOf(mechanism, runs, variables);
      supervisors = started;
    });

    test("of several supervisors with an order for the same run, only one starts it", async () => {
      const { folder, order } = newRunOf(mechanism);
      const three = [1, 2, 3].map(() => started.start(folder.path, () => {}));
      for (const one of three) one.order(order('echo x >> "$TRAINYARD_RUN_DIR/starts"'));
      await vi.waitFor(() => expect(three.some(({ isRunning }) => isRunning)).toBe(false), patient);
      expect(folder.exit).toMatchObject({ kind: "exited", code: 0, message: "" });
      expect(readFileSync(join(folder.runDir, "starts"), "utf8")).toBe("x\n");
    });

    test("a run that the agent ended before its start is claimed, and no order starts it", async () => {
      const { folder, order } = newRunOf(mechanism);
      expect(folder.claimAsNeverStarted()).toBe(true);
      const supervisor = started.start(folder.path, () => {});
      supervisor.order(order("true"));
      await vi.waitFor(() => expect(supervisor.isRunning).toBe(false), patient);
      expect([folder.process, folder.exit]).toEqual([null, null]);
    });

    test("a supervisor without an order starts nothing", async () => {
      const { folder } = newRunOf(mechanism);
      const supervisor = started.start(folder.path, () => {});
      expect(supervisor.isRunning).toBe(true);
      supervisor[Symbol.dispose]();
      await vi.waitFor(() => expect(supervisor.isRunning).toBe(false), patient);
      expect(folder.supervisor).toBeNull();
    });

    test("SIGTERM to a supervisor ends its run as a shutdown, and the end is recorded", async () => {
      const { folder, order } = newRunOf(mechanism);
      started.start(folder.path, () => {}).order(order("sleep 1000; exit $?"));
      await vi.waitFor(() => expect(folder.process).not.toBeNull(), patient);
      const leader = folder.process;
      process.kill(folder.supervisor?.pid ?? 0, "SIGTERM");
      await ended(folder);
      expect(folder.exit).toMatchObject({ signal: "SIGTERM" });
      expect(folder.kill?.why).toBe("shutdown");
      expect(leader !== null && isAlive(leader)).toBe(false);
    });

    test("a supervisor records lines, their splitting, their sources and the end", async () => {
      const { folder, order } = newRunOf(mechanism);
      const bar = "\r 10%\r 20%\r\n\r 1 of 9\r 2 of 9\rafter\n";
      const texts = [
        `a\n\nb\r\n${bar}`,
        "€".repeat(12_000),
        "\0\xff\n",
        "7%\r8%\rlast without end",
      ];
      const bytes = Buffer.concat([
        Buffer.from(texts.slice(0, 2).join("")),
        Buffer.from(texts[2] ?? "", "latin1"),
        Buffer.from(texts[3] ?? ""),
      ]);
      writeFileSync(join(folder.runDir, "bytes"), bytes);
      const script = 'cat "$TRAINYARD_RUN_DIR/bytes"; echo oh >&2; exit 3';
      started.start(folder.path, () => {}).order(order(script));
      await ended(folder);
      const splitter = new LineSplitter();
      const rewritten = new RewrittenLines();
      const pieces = [...splitter.push(bytes), ...splitter.end()];
      const expected = [...rewritten.push(pieces, 0), ...rewritten.end()];
      expect(expected.map(({ text }) => text.slice(0, 7))).toEqual([
        "a",
        "",
        "b",
        " 20%",
        " 2 of 9",
        "after",
        "€€€€€€€",
        "€€€€€€€",
        "€€€€€€€",
        "8%",
        "last wi",
      ]);
      const told = linesOf(folder);
      expect(told.filter(({ source }) => source === 1)).toEqual(
        expected.map(({ text, continued }) => ({ source: 1, text, continued })),
      );
      expect(told.filter(({ source }) => source === 2)).toEqual([
        { source: 2, text: "oh", continued: false },
      ]);
      expect(folder.exit).toMatchObject({
        kind: "exited",
        code: 3,
        message: "exited with code 3: oh",
      });
    });

    test("a run that floods is throttled while its backlog is large, logs this, and loses no line", async () => {
      const { folder, order } = newRunOf(mechanism);
      const output = makeFolder(join(folder.path, "output"));
      const [waiting, written] = [1, 2].map((first) => join(output, segmentName(first)));
      for (const path of [waiting ?? "", written ?? ""]) writeFileSync(path, "");
      // The sparse file counts as written and undelivered output.
      truncateSync(waiting ?? "", throttledBytes + 1024 * 1024);
      const delivered = join(folder.runDir, "delivered");
      const script = `seq 1 100000; while [ ! -e ${delivered} ]; do sleep 0.05; done; seq 100001 200000`;
      started.start(folder.path, () => {}).order(order(script));
      const text = () => readFileSync(written ?? "", "utf8");
      await vi.waitFor(() => expect(text().includes('"100000"]')).toBe(true), patient);
      rmSync(waiting ?? "");
      writeFileSync(delivered, "");
      await ended(folder);
      const lines = text()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as readonly [number, number, string]);
      const own = lines.filter(([source]) => source === 1);
      expect(own.map(([, , said]) => said).join()).toBe(
        Array.from({ length: 200_000 }, (_, n) => n + 1).join(),
      );
      expect(lines.filter(([source]) => source === 3).map(([, , said]) => said)).toEqual([
        "throttled: 129 MiB of this run's output wait for the logs service, so the run's pipes are read at 256 KiB/s",
        expect.stringMatching(
          /^this run's output was throttled for \d+ s, 1\d{5} lines, and is not any more$/,
        ),
      ]);
      // 575 KiB at the throttled rate, without the bytes in the pipe and in the first read.
      expect((own[99_999]?.[1] ?? 0) - (own[0]?.[1] ?? 0)).toBeGreaterThan(1_500);
    });
  },
);

describe("the process that forks supervisors", () => {
  let starter: Starter;
  beforeEach(() => {
    starter = new Starter(runs, variables);
    supervisors = starter;
  });

  test("starts no program that does not exist: the run ends with 127 and a sentence", async () => {
    const { folder, order } = newRun();
    const argv = ["no-such-program-here"];
    starter.start(folder.path, () => {}).order({ ...order(""), argv });
    await ended(folder);
    const message = `the entrypoint's program "no-such-program-here" was not found on the agent's host: name one that is on its PATH`;
    expect(folder.exit).toMatchObject({ kind: "exited", code: 127, message });
    expect(linesOf(folder)).toEqual([{ source: 3, text: message, continued: false }]);
  });

  test("is killed: its runs continue to their ends, and the next run starts", async () => {
    const first = newRun();
    const go = join(first.folder.runDir, "go");
    const script = `echo up; until [ -e ${go} ]; do sleep 0.05; done; echo over; exit 4`;
    starter.start(first.folder.path, () => {}).order(first.order(script));
    await vi.waitFor(() => expect(linesOf(first.folder)).toHaveLength(1), patient);
    process.kill(starter.pid ?? 0, "SIGKILL");
    await vi.waitFor(() => expect(starter.pid).toBeNull(), patient);
    const second = newRun();
    starter.start(second.folder.path, () => {}).order(second.order(`: > ${go}; exit 5`));
    await ended(first.folder);
    await ended(second.folder);
    expect([first.folder.exit, second.folder.exit]).toMatchObject([{ code: 4 }, { code: 5 }]);
    expect(linesOf(first.folder).map(({ text }) => text)).toEqual(["up", "over"]);
  });

  test("is killed repeatedly while runs start: each run starts once, or is known not to have started", async () => {
    const started = Array.from({ length: 20 }, () => {
      const { folder, order } = newRun();
      const supervisor = starter.start(folder.path, () => {});
      supervisor.order(order('echo x >> "$TRAINYARD_RUN_DIR/starts"'));
      return { folder, supervisor };
    });
    // Two kills at most, since an order is given to at most three starters.
    for (let kills = 0; kills < 2 && starter.pid !== null; kills += 1) {
      const { pid } = starter;
      process.kill(pid, "SIGKILL");
      await vi.waitFor(() => expect(starter.pid).not.toBe(pid), patient);
    }
    for (const { folder } of started) {
      await ended(folder);
      expect(folder.exit).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder.runDir, "starts"), "utf8")).toBe("x\n");
    }
  });

  test("ends with its agent, and the runs continue", async () => {
    const { folder, order } = newRun();
    starter.start(folder.path, () => {}).order(order("sleep 0.3; exit 6"));
    await vi.waitFor(() => expect(folder.process).not.toBeNull(), patient);
    starter[Symbol.dispose]();
    await vi.waitFor(() => expect(starter.pid).toBeNull(), patient);
    await ended(folder);
    expect(folder.exit).toMatchObject({ code: 6 });
  });
});
