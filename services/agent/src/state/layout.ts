/**
 * The agent's state folder. Its layout is version 1 and does not change: an agent of a later version adopts what runs
 * under an earlier one. Nothing here is needed by anyone else, and all of it may be deleted while nothing runs.
 *
 *   VERSION                     "1"
 *   agent.json                  {epoch}: the highest lease epoch of the scheduler that was seen
 *   folder.json                 {id, startedMs}: drawn once, and when the last agent started here, in milliseconds
 *                               since 1970. Written at each start; without it the folder is another one to the
 *                               scheduler
 *   uptime.json                 {upMs}: how long agents have been up on this folder; written every minute
 *   contexts/<sha256>.tar.gz    packed model code, checked; touched when used, the oldest removed beyond a total size
 *   packages/<name>/            the packages of a page's server for one Python and lock file; complete once it has this
 *                               name, and read by all users
 *   runs/<run>/                 one folder per run, mode 0700. Its name is <allocation>@<request>, with every byte but
 *                               letters, digits, ".", "_" and "-" written as + and two hex digits: 12.3#2 is 12.3+232
 *     spec.json                 {version: 1, launch}: the launch as proto JSON, with the run's token. Written by
 *                               rename, first of all; a folder without it is nothing
 *     supervisor.json           {pid, started, boot}: who may start the process. Created by link, so that exactly one
 *                               ever claims the run; pid 0 when the agent ended the run before it started
 *     group.json                {mechanism: "cgroup", path} | {mechanism: "parent", parent: {pid, started, boot}} |
 *                               {mechanism: "container", socket, name}: how all processes of the run are found, see
 *                               run-group.ts; written before the run starts
 *     process.json              {pid, started, boot, atMs}: the leader of the process group, written right after its
 *                               start
 *     output/<first>.ndjson     lines, in files of about 16 MiB, named by the number of their first line in 12 digits.
 *                               A line is [source, atMs, text] or [source, atMs, text, 1] where the text continues in
 *                               the source's next line; source 1 is stdout, 2 stderr, 3 the agent. Numbers rise by one
 *                               from 1
 *     shipped.json              {segment, offset, sequence}: up to where the logs service has acknowledged. Files
 *                               before that segment are removed
 *     stop.json                 {why: "shutdown", atMs}: the run was asked to stop by itself; written by the agent,
 *                               before the copy for the SDK, run/stop.json
 *     kill.json                 {why: "asked" | "ended" | "wanted" | "shutdown", atMs, graceMs?}: written before the
 *                               first signal, by the agent, or by a supervisor that received SIGTERM
 *     ready.json                {atMs}: the server of a task's page has answered
 *     end.json                  {reason: "error" | "idle", message}: why the agent ended the run of a task, before
 *                               kill.json has "ended"
 *     notice.json               {text, said}: slots of the run that the agent does not offer any more, as a sentence,
 *                               or empty once they are back, and lines about other processes on its devices, which are
 *                               only added to; the supervisor writes each new text and line. None where nothing
 *                               happened
 *     exit.json                 {kind, code, signal, message, atMs, lacking?, lasting?}: over, and none of its
 *                               processes lives; atMs is the leader's end. Written by rename, after the last line
 *     .<record>.reserved        room for process, kill, exit and shipped.json, so that a disk that has become full
 *                               takes them; where that is so the file becomes the record
 *     idle.json                 {usedMs, held, silentMs, boot}: of a task with an idle_timeout, the last use by the
 *                               uptime of the host's boot (idle/use-rule.ts)
 *     delivered.json            {reports: "delivered" | "refused" | "given_up"}: no report of the spool is left to
 *                               deliver
 *     forgotten.json            {atMs, upMs}: the scheduler has recorded the end, at that uptime; kept for a while,
 *                               never launched again
 *     supervisor.log            what the supervisor itself said, which is nothing unless it failed
 *     work/<n>/                 the unpacked model code, in which the process runs; n is 1 but where an agent was
 *                               killed while it unpacked. Removed when the run is forgotten
 *     work/kept/                instead of it, the folder of a task that keeps its work: its HOME, which is saved. It
 *                               has this name once it is whole. Unsaved, it stays for a week, and while its last save
 *                               is undelivered
 *     saves/                    of a task that keeps its work: spool/, as the SDK's in run/, last.json, what the last
 *                               save had, checkpoints/, saves for an object store, and fetched/, while one is unpacked
 *     save.json                 {number}: the number of the last save that was begun
 *     work-end.json             {unsaved, checkpoint}: the save after the end of the processes, or the sentence why not
 *     holder/                   of a task: the programs of its holder, which its user may read
 *     pipes/                    of a run in a container: the named pipes stdout and stderr, and started once its shell
 *                               is up
 *     run/                      TRAINYARD_RUN_DIR: the SDK's spool/ and end.json, the agent's stop.json; of a task
 *                               holder.sock and page.sock, the sockets of its holder and of its page's server, and
 *                               packages.json, {python}, the packages that this server needs
 *     tensorboard/              of a TensorBoard: copies of its trials' files, which the run's user may read; removed
 *                               with work/
 *     home/                     HOME of a run with a user of its own
 *     tmp/                      /tmp of a run that has its own, and TMPDIR of one with its own user; removed with work/
 *
 * A run has a user of its own where its run/ belongs to another than the agent's (ADR 30). Then run/, home/, tmp/,
 * saves/ and work/<n>/ are that user's, and the folders that lead to them have mode 0711; all else is the agent's, in
 * files of mode 0600.
 *
 * `started` is the process's start in clock ticks since boot and `boot` the kernel's boot id, so that a pid that was
 * used again is not taken for ours. Files are replaced by rename and not synced: they survive the death of any process,
 * and after a power cut nothing runs any more and the scheduler starts the runs again. Only spec.json is flushed, in
 * the background: the checkpoints that a run left are delivered with its token.
 */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type RequestedRun, runKeyOf } from "@trainyard/contracts/agent";

export const layoutVersion = 1;

/** The block size of most disks, which is the least that a file uses; no record with reserved space is longer. */
const reservedBytes = 4_096;

export const names = {
  version: "VERSION",
  agent: "agent.json",
  folder: "folder.json",
  uptime: "uptime.json",
  contexts: "contexts",
  packages: "packages",
  runs: "runs",
  spec: "spec.json",
  supervisor: "supervisor.json",
  group: "group.json",
  process: "process.json",
  output: "output",
  shipped: "shipped.json",
  stop: "stop.json",
  kill: "kill.json",
  ready: "ready.json",
  end: "end.json",
  notice: "notice.json",
  exit: "exit.json",
  idle: "idle.json",
  delivered: "delivered.json",
  forgotten: "forgotten.json",
  supervisorLog: "supervisor.log",
  work: "work",
  kept: "kept",
  saves: "saves",
  fetched: "fetched",
  save: "save.json",
  workEnd: "work-end.json",
  run: "run",
  holder: "holder",
  home: "home",
  tmp: "tmp",
  tensorboard: "tensorboard",
} as const;

export type ShippedRecord = {
  readonly segment: number;
  readonly offset: number;
  readonly sequence: number;
};

export function folderNameOf(run: RequestedRun): string {
  return [...Buffer.from(runKeyOf(run))]
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const kept = index === 0 ? /[A-Za-z0-9_-]/ : /[A-Za-z0-9._-]/;
      if (kept.test(character)) return character;
      return `+${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

/** The key of the run whose folder has this name. */
export function keyOfFolder(name: string): string {
  const text = (codes: string): string =>
    Buffer.from(codes.replaceAll("+", ""), "hex").toString("utf8");
  return name.replaceAll(/(?:\+[0-9A-F]{2})+/g, text);
}

/** Null if the file does not exist, or is not JSON: then it is a torn file of another writer. */
export function readRecord<T>(folder: string, name: string): T | null {
  try {
    return JSON.parse(readFileSync(join(folder, name), "utf8")) as T;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

/** Writes a record; on a full disk it uses the space reserved for it, if any. */
export function writeRecord(folder: string, name: string, record: object): void {
  const draft = join(folder, `.${name}.${process.pid}.new`);
  const text = `${JSON.stringify(record)}\n`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, join(folder, name));
  } catch (error) {
    rmSync(draft, { force: true });
    if (!isDiskFull(error) || !writeReserved(folder, name, text)) throw error;
  }
}

/** Makes a record survive a power cut, together with its folder. A failure leaves it to the system's own writes. */
export async function flushRecord(folder: string, name: string): Promise<void> {
  for (const path of [join(folder, name), folder, dirname(folder)]) {
    const handle = await open(path, "r").catch(() => null);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

/** Reserves the space of a record that has to be written later, even if the disk is full by then. */
export function reserveRecord(folder: string, name: string): void {
  writeFileSync(reservedPath(folder, name), " ".repeat(reservedBytes), { mode: 0o600 });
}

export function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** A sentence about an error; it explains errors of this disk. */
export function textOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isDiskFull(error) ? `the disk of its state folder is full (${message})` : message;
}

function writeReserved(folder: string, name: string, text: string): boolean {
  const path = reservedPath(folder, name);
  if (Buffer.byteLength(text) > reservedBytes || !existsSync(path)) return false;
  const file = openSync(path, "r+");
  try {
    writeSync(file, text, 0);
    ftruncateSync(file, Buffer.byteLength(text));
  } finally {
    closeSync(file);
  }
  renameSync(path, join(folder, name));
  return true;
}

function reservedPath(folder: string, name: string): string {
  return join(folder, `.${name}.reserved`);
}

export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
