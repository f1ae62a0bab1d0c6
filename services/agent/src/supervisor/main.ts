/**
 * The supervisor of one run: a process of its own, in a session of its own, so that the run and the record of its end
 * survive the agent. Argument: the run's folder (see layout.ts). It reads one line from its input, the order to start; an
 * input that ends without it means that the agent died first, and nothing was started. Then it claims the run, starts the
 * process as the leader of a new session, records who that is, writes the lines of its output, and at its end ends what is
 * left of its group and records how it went. It knows nothing of the network, of trials, or of the agent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExitRecord, KillRecord } from "../core/records.ts";
import { names, readRecord, writeRecord } from "../state/layout.ts";
import { type OutputSource, OutputWriter, outputSource } from "../state/output-writer.ts";
import { identityOf, type ProcessIdentity, signalMembers } from "../state/process-identity.ts";
import { LineSplitter } from "./line-splitter.ts";

export type StartOrder = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The folder in which the process runs. */
  readonly work: string;
};

/** After the leader's end and the kill of its group, output that somebody still holds open is not waited for longer. */
const outputEndMs = 2_000;
const messageCharsMax = 500;
const recordAgainMs = 1_000;
/** The shell's own codes for a command that is not there, and one that may not be run. */
const notFound = 127;
const notExecutable = 126;

const folder = process.argv[2] ?? "";
// What the machine's shutdown tells everybody must not keep this process from recording how the run ended.
for (const name of ["SIGINT", "SIGHUP"] as const) process.on(name, () => {});
process.on("SIGTERM", shutDown);
const order = await readOrder();
if (order !== null && claim()) await supervise(order);

async function readOrder(): Promise<StartOrder | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  // The newline is the order's end: without it the agent was killed while it wrote.
  return text.endsWith("\n") ? (JSON.parse(text) as StartOrder) : null;
}

/** Exactly one claims a run: an agent that was killed and its successor may both have sent a supervisor. */
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

async function supervise(order: StartOrder): Promise<void> {
  const output = new OutputWriter(join(folder, names.output));
  const child = start(order);
  if (!(child instanceof Error)) {
    const leader = child.pid === undefined ? null : identityOf(child.pid);
    if (leader !== null) writeRecord(folder, names.process, { ...leader, atMs: Date.now() });
    const collected = collect(child, output);
    const failure = await ending(child);
    if (failure === null) return await finish(child, leader, collected);
    return await refuse(order, failure, output);
  }
  await refuse(order, child, output);
}

function start({ argv, environment, work }: StartOrder): ChildProcess | NodeJS.ErrnoException {
  try {
    return spawn(argv[0] ?? "", argv.slice(1), {
      cwd: work,
      env: { ...environment },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    // What is not a matter of the file itself is thrown at once: arguments that are too long, an empty name.
    return error as NodeJS.ErrnoException;
  }
}

async function refuse(
  { argv }: StartOrder,
  failure: NodeJS.ErrnoException,
  output: OutputWriter,
): Promise<void> {
  const message = startProblem(argv[0] ?? "", failure);
  const atMs = Date.now();
  output.write([{ source: outputSource.agent, atMs, text: message, continued: false }]);
  const code = failure.code === "ENOENT" ? notFound : notExecutable;
  await record({ kind: "exited", code, signal: null, message, atMs });
}

/** The leader has ended: with it ends its group, and then comes what it had written last. */
async function finish(
  child: ChildProcess,
  leader: ProcessIdentity | null,
  collected: Collected,
): Promise<void> {
  const atMs = Date.now();
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  signalMembers(join(folder, names.run), leader, "SIGKILL");
  const timer = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, outputEndMs);
  if (!(child.stdout?.closed === true && child.stderr?.closed === true)) await closed;
  clearTimeout(timer);
  collected.flush();
  const { exitCode: code, signalCode: signal } = child;
  const message = messageOf(code, signal, collected.lastError());
  await record({ kind: "exited", code, signal, message, atMs });
}

/** SIGTERM to a supervisor ends its run, as a shutdown: nobody is to blame for it. Before its order it has no run. */
function shutDown(): void {
  const leader = readRecord<ProcessIdentity>(folder, names.process);
  if (leader === null) return;
  if (readRecord(folder, names.kill) === null) {
    const kill: KillRecord = { why: "shutdown", atMs: Date.now() };
    writeRecord(folder, names.kill, kill);
  }
  signalMembers(join(folder, names.run), leader, "SIGTERM");
}

/** On a full disk it waits until there is room: nobody else knows how the run ended. */
async function record(exit: ExitRecord): Promise<void> {
  for (;;) {
    try {
      writeRecord(folder, names.exit, exit);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
      await new Promise((resolve) => setTimeout(resolve, recordAgainMs));
    }
  }
}

/** Null when it ran and ended; else why it could not be started. */
function ending(child: ChildProcess): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error));
    child.once("exit", () => resolve(null));
  });
}

type Collected = { readonly flush: () => void; readonly lastError: () => string };

function collect(child: ChildProcess, output: OutputWriter): Collected {
  let lastError = "";
  const attach = (stream: ChildProcess["stdout"], source: OutputSource): (() => void) => {
    const splitter = new LineSplitter();
    const write = (lines: ReturnType<LineSplitter["push"]>): void => {
      const atMs = Date.now();
      output.write(lines.map((line) => ({ source, atMs, ...line })));
      if (source !== outputSource.stderr) return;
      lastError = lines.findLast(({ text }) => text.trim() !== "")?.text ?? lastError;
    };
    stream?.on("data", (chunk: Buffer) => write(splitter.push(chunk)));
    return () => write(splitter.end());
  };
  const flushes = [
    attach(child.stdout, outputSource.stdout),
    attach(child.stderr, outputSource.stderr),
  ];
  return {
    flush: () => {
      for (const flush of flushes) flush();
    },
    lastError: () => lastError.trim(),
  };
}

function startProblem(program: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") {
    return `the entrypoint's program ${JSON.stringify(program)} was not found on the agent's host: name one that is on its PATH`;
  }
  if (error.code === "EACCES") {
    return `the entrypoint's program ${JSON.stringify(program)} may not be run: is it executable?`;
  }
  return `the entrypoint could not be started: ${error.message}`;
}

function messageOf(code: number | null, signal: string | null, lastError: string): string {
  if (code === 0) return "";
  // Only the agent's kills are on record; the other sender of this signal is the kernel.
  const isUnexplained = signal === "SIGKILL" && readRecord(folder, names.kill) === null;
  const how =
    signal !== null
      ? `ended by ${signal}${isUnexplained ? ", perhaps because the host ran out of memory" : ""}`
      : `exited with code ${code}${code === notFound ? ", which a shell gives for a command that it does not find" : ""}`;
  return (lastError === "" ? how : `${how}: ${lastError}`).slice(0, messageCharsMax);
}
