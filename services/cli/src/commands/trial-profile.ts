import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Plain } from "@trainyard/contracts";
import {
  type SystemSummary,
  type TrialProfile,
  TrialProfileSchema,
} from "@trainyard/contracts/api";
import { extract } from "tar";
import { argument, type Context } from "../context.ts";
import { callerPath } from "../environment.ts";
import { cliLimits } from "../limits.ts";
import { number } from "../output.ts";
import { Failure, UsageError } from "../usage-error.ts";

const throughput = "throughput";

/** Prints min, mean and max of each metric per node of a run, the training speed, and where the traces are. */
export async function profile(
  { client, output }: Context,
  args: readonly string[],
  options: { readonly run?: number },
): Promise<void> {
  const whole = await wholeProfile(client, argument(args, 0), options.run);
  const { run } = whole;
  if (output.json) {
    output.message(TrialProfileSchema, whole);
    return;
  }
  output.table(whole.summaries, [
    { title: "NODE", value: nodeOf },
    { title: "GROUP", value: ({ group }) => group },
    { title: "DEVICE", value: ({ device }) => device },
    { title: "MEASURED", value: ({ value }) => value?.name ?? "" },
    { title: "MIN", value: ({ value }) => amount(value?.name, value?.min), right: true },
    { title: "MEAN", value: ({ value }) => amount(value?.name, value?.mean), right: true },
    { title: "MAX", value: ({ value }) => amount(value?.name, value?.max), right: true },
    { title: "SAMPLES", value: ({ samples }) => String(samples), right: true },
  ]);
  output.line("");
  output.fields([
    ["run", `${run} of ${whole.runs.join(", ")}`],
    ["pace", paceOf(whole)],
    ["traces", tracesText(whole.trial, whole.tensorboardPath, existsSync)],
  ]);
}

/** Returns the folder of the traces if it exists on this machine, or else the command that copies them. */
export function tracesText(trial: string, path: string, exists: (path: string) => boolean): string {
  if (path !== "" && exists(path)) return path;
  return `not on this machine: \`yard trial tensorboard ${trial} FOLDER\` copies what the trial has written`;
}

/** Prints only the folder of the TensorBoard files: in the storage, or where they were copied. */
export async function tensorboard(
  { client, output }: Context,
  args: readonly string[],
): Promise<void> {
  const trial = argument(args, 0);
  const path =
    args[1] === undefined ? await seenHere(client, trial) : await copy(client, trial, args[1]);
  output.note(`tensorboard --logdir ${path}`);
  if (output.json) output.line(JSON.stringify({ path }));
  else output.line(path);
}

async function seenHere(client: Context["client"], trial: string): Promise<string> {
  const { tensorboardPath } = await client.call("getTrialProfile", { trial });
  if (tensorboardPath === "") {
    throw new Failure(
      `The TensorBoard files of trial ${trial} are in an object store: give a folder as second argument to copy them to.`,
    );
  }
  if (existsSync(tensorboardPath)) return tensorboardPath;
  throw new Failure(
    `There is no ${tensorboardPath} on this machine: trial ${trial} has written no TensorBoard files, or their storage is not mounted here: give a folder as second argument to copy them to.`,
  );
}

async function copy(client: Context["client"], trial: string, shown: string): Promise<string> {
  const folder = callerPath(shown);
  const body = await client.download("downloadTensorBoard", { trial });
  await mkdir(folder, { recursive: true });
  await pipeline(Readable.fromWeb(body), createGunzip(), extract({ cwd: folder, strict: true }));
  return folder;
}

/** Returns the profile of the requested run, or of the latest profiled one, with all its pages. */
async function wholeProfile(
  client: Context["client"],
  trial: string,
  asked: number | undefined,
): Promise<Plain<TrialProfile>> {
  if (asked !== undefined && !(Number.isInteger(asked) && asked > 0)) {
    throw new UsageError("--run takes the number of a run.");
  }
  const { pageSize } = cliLimits;
  const first = await client.call("getTrialProfile", { trial, run: asked ?? 0, pageSize });
  const { run } = first;
  const summaries = [...first.summaries];
  for (let pageToken = first.nextPageToken; pageToken !== ""; ) {
    const page = await client.call("getTrialProfile", { trial, run, pageSize, pageToken });
    summaries.push(...page.summaries);
    pageToken = page.nextPageToken;
  }
  if (summaries.length === 0) throw withoutFigures(first);
  return { ...first, summaries, nextPageToken: "" };
}

function withoutFigures(whole: Plain<TrialProfile>): Failure {
  const { trial, run, runs } = whole;
  if (runs.length > 0) {
    const there = `runs ${runs.join(", ")} of trial ${trial}`;
    return new Failure(`Run ${run} was not profiled; there are figures of ${there}.`);
  }
  return new Failure(
    whole.enabled
      ? `Trial ${trial} has reported no machine metrics yet: the first figures come about 10 s after trainyard.init().`
      : `Trial ${trial} was not profiled: set profiling.enabled to true in its configuration, or call ctx.profiler.on() in its script.`,
  );
}

function nodeOf({ node, agent }: Plain<SystemSummary>): string {
  return agent === "" ? String(node) : `${node} (${agent})`;
}

/** Returns the speed in steps, from the training metrics. The table has the speeds that the script counts itself. */
function paceOf({ pace, summaries }: Plain<TrialProfile>): string {
  if (pace !== undefined) return `${number(pace.steps / pace.seconds)} steps a second`;
  const counted = summaries.some(({ group }) => group === throughput);
  return counted ? "" : "unknown: fewer than two training reports";
}

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Formats bytes in a binary unit; other values keep the unit in their name. */
function amount(name: string | undefined, value: number | undefined): string {
  if (name === undefined || value === undefined) return "";
  if (!/_bytes(_per_second)?$/.test(name)) return number(value);
  const power = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log2(Math.max(value, 1)) / 10)),
  );
  return `${number(value / 1024 ** power)} ${units[power]}`;
}
