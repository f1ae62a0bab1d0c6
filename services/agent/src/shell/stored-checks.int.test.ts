/** The order and the end of the checks of complete checkpoints, on a clock that runs a thousand times as fast. */
import { once } from "node:events";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, createRegistry } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { RunFolder } from "../state/run-folder.ts";
import { SealedSpool } from "../state/sealed-spool.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { createTelemetry } from "../telemetry.ts";
import { SchedulerEpochs } from "./scheduler-epochs.ts";
import { checkStored } from "./stored-checks.ts";

afterAll(removeFolders);

const clock: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs() * 1_000,
  timer: (ms, callback) => systemClock.timer(ms / 1_000, callback),
};
const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** The codes of the answers by checkpoint or token; "" for a complete checkpoint. */
const codes = new Map<string, string>();
/** The numbers of the checkpoints that were asked for, or declared ("+"). */
const asked: string[] = [];
/** Called with each entry of the list above. */
let onAsked: () => void;
let server: Server;
let stopping: AbortController;
let epochs: SchedulerEpochs;

function answerTo({ method, url, headers }: IncomingMessage, body: string) {
  const isPlan = method === "GET";
  const told = isPlan ? null : (JSON.parse(body) as { checkpoint: string });
  const id = told?.checkpoint ?? url?.split("/").at(-2) ?? "";
  asked.push(`${isPlan ? "" : "+"}${Number(id.slice(-4))}`);
  onAsked();
  const token = headers.authorization?.split(" ")[1] ?? "";
  const code = codes.get(isPlan ? id : `+${id}`) ?? codes.get(token) ?? "";
  const status = code === "" ? 200 : code === "unavailable" ? 503 : 409;
  return { status, text: JSON.stringify({ code, detail: "x" }) };
}

beforeEach(async () => {
  codes.clear();
  asked.length = 0;
  onAsked = () => {};
  stopping = new AbortController();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { status, text } = answerTo(request, Buffer.concat(chunks).toString());
      const kind = status === 200 ? "application/json" : "application/problem+json";
      response.writeHead(status, { "content-type": kind }).end(text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  epochs = new SchedulerEpochs(newFolder(), { diskFull: () => {} });
});

afterEach(() => {
  stopping.abort();
  server.closeAllConnections();
  server.close();
});

/** A run with complete checkpoints; the time of each record is the checkpoint's number. */
function runWith(token: string, ...numbers: readonly number[]) {
  const folder = RunFolder.create(newFolder(), launchOf("true", { token }), systemClock);
  const stored = join(folder.runDir, "spool/stored");
  const checkpoints = join(folder.runDir, "spool/checkpoints");
  for (const path of [stored, checkpoints]) mkdirSync(path, { recursive: true });
  for (const n of numbers) {
    const told = {
      checkpoint: idOf(n),
      sealedMs: 1,
      stepsCompleted: n,
      metadata: {},
      manifest: [],
    };
    writeFileSync(join(stored, `${idOf(n)}.json`), JSON.stringify(told));
    utimesSync(join(stored, `${idOf(n)}.json`), n, n);
  }
  const spool = new SealedSpool(folder.runDir);
  return { folder, spool, sealed: () => readdirSync(checkpoints).length };
}

function check(...runs: readonly ReturnType<typeof runWith>[]): void {
  const { port } = server.address() as AddressInfo;
  const events = createTelemetry(createRegistry("agent"), createLogger("agent", "silent"));
  const python = { python: "python3", sdkPath: "" } as never;
  const apiUrl = `http://127.0.0.1:${port}`;
  const deps = { apiUrl, checkpointDir: "", python, events, clock, epochs };
  void checkStored(deps, () => runs, stopping.signal);
}

const patient = { timeout: 5_000 };

test("the newest checkpoints of all runs are checked first", async () => {
  check(runWith("a", 1, 4, 5), runWith("b", 2, 3, 6));
  await vi.waitFor(() => expect(asked).toEqual(["6", "5", "4", "3", "2", "1"]), patient);
});

test("a rise of the epoch during a pass begins the next one with the newest", async () => {
  onAsked = () => asked.length === 2 && epochs.raise(1);
  check(runWith("a", 1, 2, 3));
  await vi.waitFor(() => expect(asked).toEqual(["3", "2", "3", "2", "1"]), patient);
});

test("a run whose history is lost is asked for once in a pass", async () => {
  codes.set("a", "history_lost");
  check(runWith("a", 1, 3, 5), runWith("b", 2, 4));
  await vi.waitFor(() => expect(asked).toEqual(["5", "4", "2"]), patient);
});

test("an unavailable platform is asked once for each run until it answers, and then for the newest first", async () => {
  codes.set("a", "unavailable").set("b", "unavailable");
  onAsked = () => asked.length === 4 && codes.clear();
  check(runWith("a", 1, 4), runWith("b", 2, 3));
  await vi.waitFor(() => expect(asked).toHaveLength(7), patient);
  expect(asked.slice(0, 3)).toEqual(["4", "3", "4"]);
  expect(new Set(asked.slice(3))).toEqual(new Set(["1", "2", "3", "4"]));
});

test.each(["checkpoint_deleted", "history_lost", "token_unknown"])(
  "a checkpoint that was offered again does not stay an only copy after an answer %s",
  async (code) => {
    codes.set(idOf(1), "checkpoint_not_found").set(`+${idOf(1)}`, "unavailable");
    const run = runWith("a", 1);
    check(run);
    await vi.waitFor(() => expect(run.spool.isOfferedAgain(idOf(1))).toBe(true));
    expect([run.sealed(), run.spool.offered()?.checkpoints.length]).toEqual([1, 1]);
    codes.set(idOf(1), code);
    await vi.waitFor(() => expect(run.sealed()).toBe(0), patient);
    expect([run.spool.offered(), run.spool.stored().length]).toEqual([undefined, 1]);
  },
);

test("an offer that the platform refuses for good is not repeated", async () => {
  codes.set(idOf(1), "checkpoint_not_found").set(`+${idOf(1)}`, "run_ended");
  const run = runWith("a", 1);
  check(run);
  await vi.waitFor(() => expect(run.spool.stored()).toEqual([]), patient);
  expect([run.sealed(), run.spool.offered()]).toEqual([0, undefined]);
});

test("the history of a run may be lost between the question and the offer", async () => {
  codes.set(idOf(2), "checkpoint_not_found").set(`+${idOf(2)}`, "history_lost");
  const run = runWith("a", 1, 2);
  check(run, runWith("b", 0));
  await vi.waitFor(() => expect(asked).toEqual(["2", "+2", "0"]), patient);
  expect([run.sealed(), run.spool.stored().length]).toEqual([0, 2]);
});
