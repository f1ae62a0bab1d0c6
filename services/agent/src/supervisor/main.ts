/**
 * The supervisor of one run in a container (for processes of the host see starter.py): a process of its own, in a
 * session of its own, so that the run and the record of its end survive the agent. Argument: the run's folder (see
 * layout.ts). It reads one line from its input, the order to start; an input that ends without it means that the agent
 * died first, and nothing was started. Then it claims the run, starts the container, records its init as the leader,
 * and writes the lines of its output. After the leader's end it ends all other processes of the run, removes the
 * container, and records the end. It does not depend on the network, on trials, or on the agent.
 */
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pause, storableText } from "@trainyard/kernel";
import { systemClock as clock } from "@trainyard/kernel/system-clock";
import {
  type ExitRecord,
  exitMessageCharsMax,
  type KillRecord,
  type NoticeRecord,
} from "../core/records.ts";
import { limits } from "../limits.ts";
import { isDiskFull, names, readRecord, writeRecord } from "../state/layout.ts";
import { HostProblem, lackOf, LaunchProblem } from "../runtime/runtime.ts";
import type { ContainerOrder } from "../runtime/start-order.ts";
import { OutputThrottle } from "../state/output-throttle.ts";
import { type OutputSource, OutputWriter, outputSource } from "../state/output-writer.ts";
import { identityOf, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import { type ContainerRecord, containerGroupOf } from "../state/container-group.ts";
import type { RunGroup } from "../state/run-group.ts";
import { type Leader, type LeaderEnd, type Lost, startContainer } from "./container-leader.ts";
import { endAll } from "./end-all.ts";
import { type Line, LineSplitter } from "./line-splitter.ts";
import { RewrittenLines } from "./rewritten-lines.ts";

/** The longest wait, after the leader's end and the kill of its group, for output that another process holds open. */
const outputEndMs = 2_000;
const messageCharsMax = 500;
const recordAgainMs = 1_000;
/** The interval at which the agent's notice is read. */
const noticeMs = 1_000;
/** The shell's exit codes for a command that does not exist, and for one that is not executable. */
const notFound = 127;
const notExecutable = 126;

const folder = process.argv[2] ?? "";
/** The group of the run, once it was started. */
const running: RunGroup[] = [];
// A shutdown of the machine signals all processes, but this one must still record how the run ended.
for (const name of ["SIGINT", "SIGHUP"] as const) process.on(name, () => {});
process.on("SIGTERM", shutDown);
const order = await readOrder();
if (order !== null && claim()) await supervise(order);

async function readOrder(): Promise<ContainerOrder | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  // An order ends with a newline; without it the agent was killed while it wrote.
  return text.endsWith("\n") ? (JSON.parse(text) as ContainerOrder) : null;
}

/** Exactly one supervisor claims a run: a killed agent and its successor may both have started one. */
function claim(): boolean {
  const draft = join(folder, `.${names.supervisor}.${process.pid}.new`);
  writeFileSync(draft, `${JSON.stringify(identityOf(process.pid))}\n`, { mode: 0o600 });
  try {
    linkSync(draft, join(folder, names.supervisor));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function supervise(order: ContainerOrder): Promise<void> {
  const output = new OutputWriter(join(folder, names.output), clock);
  const { socket, name } = order;
  const record: ContainerRecord = { mechanism: "container", socket, name };
  let leader: Leader;
  try {
    writeRecord(folder, names.group, record);
    leader = await startContainer(order, clock);
  } catch (error) {
    // A failed request may have been carried out, or be carried out later: no process may train after the end is
    // reported.
    const remains = await endAll(groupOf(record, null), teller(output), clock, limits.engineAwayMs);
    return await refuse(error, remains, output);
  }
  const { identity } = leader;
  const group = groupOf(record, identity);
  running.push(group);
  const collected = collect(leader, output);
  if (identity !== null) {
    const atMs = clock.nowMs();
    await whenThereIsRoom(() => writeRecord(folder, names.process, { ...identity, atMs }));
  }
  await finish(leader, group, collected, output);
}

function groupOf(record: ContainerRecord, init: ProcessIdentity | null): RunGroup {
  return containerGroupOf(join(folder, names.run), () => init, record);
}

async function refuse(error: unknown, remains: string, output: OutputWriter): Promise<void> {
  const { why, ...refusal } = refusalOf(error);
  const message = remains === "" ? why : `${why}; ${remains}`;
  teller(output)(message);
  await record({ ...refusal, signal: null, message, atMs: clock.nowMs() });
}

type Refusal = Pick<ExitRecord, "kind" | "code" | "lacking" | "lasting"> & { readonly why: string };

function refusalOf(error: unknown): Refusal {
  const said = error instanceof Error ? error.message : String(error);
  if (error instanceof LaunchProblem) return { kind: "exited", code: notExecutable, why: said };
  const why = error instanceof HostProblem ? said : `the agent could not start it: ${said}`;
  return { kind: "not_launched", code: null, why, ...lackOf(error) };
}

/** Writes lines of the agent. */
function teller(output: OutputWriter): (said: string) => void {
  return (said) => {
    const text = storableText(said, limits.saidCharsMax);
    output.write([{ source: outputSource.agent, atMs: clock.nowMs(), text, continued: false }]);
  };
}

/** Called after the leader's end: ends all processes of the run, and then reads the rest of its output. */
async function finish(
  leader: Leader,
  group: RunGroup,
  collected: Collected,
  output: OutputWriter,
): Promise<void> {
  const tellNotice = noticeTeller(output);
  const noticing = setInterval(() => tellNotice(false), noticeMs);
  const end = await leader.end;
  collected.hurry();
  clearInterval(noticing);
  // The agent may have said why it ends the run just before the signal.
  tellNotice(true);
  const atMs = clock.nowMs();
  // An engine that did not answer until now gets no further time.
  const removeMs = "lost" in end ? 0 : limits.removeContainerMs;
  const remains = await endAll(group, teller(output), clock, removeMs);
  if (remains !== "") teller(output)(remains);
  const { stdout, stderr } = leader;
  const timer = setTimeout(() => {
    stdout.destroy();
    stderr.destroy();
  }, outputEndMs);
  await Promise.all([stdout, stderr].map(closed));
  clearTimeout(timer);
  collected.flush();
  if ("lost" in end) {
    return await recordLost(end, output, atMs);
  }
  const { code, signal } = end;
  const message = messageOf(end, collected.lastError());
  await record({ kind: "exited", code, signal, message, atMs });
}

async function recordLost(
  { lost: message, neverStarted = false }: Lost,
  output: OutputWriter,
  atMs: number,
): Promise<void> {
  teller(output)(message);
  const end = neverStarted
    ? ({ kind: "exited", code: notExecutable } as const)
    : ({ kind: "lost", code: null } as const);
  await record({ ...end, signal: null, message, atMs });
}

/** Writes each new notice of the agent as a line of the run; of a run that is over, nothing about its slots. */
function noticeTeller(output: OutputWriter): (isOver: boolean) => void {
  let told = "";
  let said = 0;
  return (isOver) => {
    const notice = noticeOf();
    if (notice === null) return;
    for (const line of notice.said.slice(said)) teller(output)(line);
    said = notice.said.length;
    const { text } = notice;
    if (text === told || isOver) return;
    told = text;
    const line =
      text === ""
        ? "all slots of this run are offered again"
        : `${text}; this run continues, and no other gets the slot until the device is back`;
    teller(output)(line);
  };
}

/** Null for none. One that cannot be read is read again later: it must not end the run. */
function noticeOf(): NoticeRecord | null {
  try {
    return readRecord<NoticeRecord>(folder, names.notice);
  } catch {
    return null;
  }
}

async function closed(stream: Readable): Promise<void> {
  if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", () => resolve()));
}

/** SIGTERM to a supervisor ends its run as a shutdown, which counts as no failure. Before its order it has no run. */
function shutDown(): void {
  for (const group of running) {
    if (readRecord(folder, names.kill) === null) {
      const kill: KillRecord = { why: "shutdown", atMs: clock.nowMs() };
      void whenThereIsRoom(() => writeRecord(folder, names.kill, kill));
    }
    group.signal("SIGTERM");
  }
}

/** Retried until it succeeds, since only this process knows the exit. */
async function record(exit: ExitRecord): Promise<void> {
  const message = storableText(exit.message, exitMessageCharsMax);
  await whenThereIsRoom(() => writeRecord(folder, names.exit, { ...exit, message }));
}

/** Repeats the write while the disk is full; the first attempt is made at once. */
async function whenThereIsRoom(write: () => void): Promise<void> {
  for (;;) {
    try {
      write();
      return;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await pause(clock, recordAgainMs);
    }
  }
}

type Collected = {
  /** Called when the run has ended: the rest is read without a throttle. */
  readonly hurry: () => void;
  readonly flush: () => void;
  readonly lastError: () => string;
};

function collect({ stdout, stderr }: Leader, output: OutputWriter): Collected {
  let lastError = "";
  const throttle = new OutputThrottle(output, clock);
  const attach = (stream: Readable, source: OutputSource): (() => void) => {
    const splitter = new LineSplitter();
    const rewritten = new RewrittenLines();
    const write = (lines: readonly Line[]): void => {
      const atMs = clock.nowMs();
      output.write(lines.map(({ text, continued }) => ({ source, atMs, text, continued })));
      if (source !== outputSource.stderr) return;
      lastError = lines.findLast(({ text }) => text.trim() !== "")?.text ?? lastError;
    };
    stream.on("data", (chunk: Buffer) => {
      const lines = rewritten.push(splitter.push(chunk), clock.monotonicMs());
      write(lines);
      const pauseMs = throttle.pauseMs(chunk.length, lines.length);
      if (pauseMs === 0) return;
      stream.pause();
      setTimeout(() => stream.resume(), pauseMs);
    });
    const ticking = setInterval(() => write(rewritten.due(clock.monotonicMs())), noticeMs);
    return () => {
      clearInterval(ticking);
      write([...rewritten.push(splitter.end(), clock.monotonicMs()), ...rewritten.end()]);
    };
  };
  const flushes = [attach(stdout, outputSource.stdout), attach(stderr, outputSource.stderr)];
  return {
    hurry: () => throttle.end(),
    flush: () => {
      for (const flush of flushes) flush();
    },
    lastError: () => lastError.trim(),
  };
}

function messageOf(end: LeaderEnd, lastError: string): string {
  if (end.code === 0) return "";
  const how = howItEnded(end);
  return (lastError === "" ? how : `${how}: ${lastError}`).slice(0, messageCharsMax);
}

function howItEnded({ code, signal, cause }: LeaderEnd): string {
  // The agent's kills are recorded; an unrecorded SIGKILL comes from the kernel.
  const isUnexplained = signal === "SIGKILL" && readRecord(folder, names.kill) === null;
  const hint = isUnexplained ? ", often because the host ran out of memory" : "";
  const why = cause === "" ? hint : `: ${cause}`;
  if (signal !== null) return `ended by ${signal}${why}`;
  const missing =
    code === notFound ? ", which a shell gives for a command that it does not find" : "";
  return `exited with code ${code}${missing}${why}`;
}
