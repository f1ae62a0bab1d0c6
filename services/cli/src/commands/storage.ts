/** Lists the storages of checkpoints, and records that a person has mounted one of them on this machine. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import {
  isStorageId,
  markStorage,
  mendStorageMarker,
  readStorageMarker,
  storageMarkerName,
} from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import {
  AdoptStorageResponseSchema,
  ListStoragesResponseSchema,
  type Storage,
} from "@trainyard/contracts/api";
import { type Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { Failure, UsageError } from "../usage-error.ts";
import { addReleaseCommand, noteHold } from "./storage-release.ts";

export function addStorageCommands(program: Command): void {
  const group = program.command("storage").description("where checkpoints are stored");
  group
    .command("list")
    .alias("ls")
    .description("the roots that checkpoints were written under, and which storage was seen there")
    .action(withPlatform(list));
  group
    .command("adopt")
    .argument("<path>", "a root of yard storage list, on a host where that storage is mounted")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--id <id>", "the id to write, where its marker is lost and several are known")
    .option("--replace <id...>", "an id that this storage had before its marker was lost")
    .description(
      "say that the storage that is mounted here is the one of the checkpoints under that path",
    )
    .action(withPlatform<AdoptOptions>(adopt));
  addReleaseCommand(group);
}

type AdoptOptions = {
  readonly dryRun?: boolean;
  readonly id?: string;
  readonly replace?: readonly string[];
};

async function list(context: Context): Promise<void> {
  const { client, output } = context;
  const page = await client.call("listStorages", {});
  if (output.json) {
    output.message(ListStoragesResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "ROOT", value: ({ root }) => root },
    { title: "STORAGE", value: ({ storageId }) => storageId || "not declared" },
    { title: "COUNTS AS", value: (one) => (one.countsAs === one.storageId ? "" : one.countsAs) },
    { title: "CHECKPOINTS", value: ({ checkpoints }) => String(checkpoints), right: true },
    { title: "CONDEMNED", value: ({ condemned }) => String(condemned), right: true },
    { title: "LEFT OVER", value: ({ leftOver }) => String(leftOver), right: true },
  ]);
  await noteHold(context);
  const unknown = page.items.filter(({ root, countsAs }) => isAbsolute(root) && !countsAs);
  for (const { root, checkpoints, leftOver } of unknown) {
    output.note(
      `the storage of ${checkpoints + leftOver} checkpoints under ${root} is unknown, so none of them is ever failed or deleted: run "yard storage adopt ${root}" on a host where it is mounted`,
    );
  }
}

async function adopt(
  { client, output }: Context,
  args: readonly string[],
  options: AdoptOptions,
): Promise<void> {
  const root = resolve(callerPath(argument(args, 0)));
  const replacedIds = options.replace ?? [];
  const { items } = await client.call("listStorages", {});
  const here = items.filter((one) => one.root === root);
  if (here.length === 0) throw unknownRoot(root, items);
  for (const id of replacedIds) {
    if (here.some(({ storageId }) => isStorageId(id) && storageId === id)) continue;
    throw new UsageError(`No checkpoint under ${root} was written to a storage ${id}.`);
  }
  const { id, marked, damaged } = await idOf(root, here, options, replacedIds);
  const claimed = here.filter(
    ({ storageId }) =>
      storageId === "" || replacedIds.includes(storageId) || (!marked && storageId === id),
  );
  const looked = lookFor(root, claimed);
  const what = `${root} is storage ${id}`;
  if (options.dryRun === true) {
    const checkpoints = claimed.reduce((sum, one) => sum + one.checkpoints, 0);
    const writes = marked ? "" : `, and ${join(root, storageMarkerName)} would be written`;
    output.line(
      `${checkpoints} checkpoints would count as stored there: ${what}${writes}; ${looked}`,
    );
    return;
  }
  if (!marked) await writeMarker(root, id, damaged);
  const answer = await client.call("adoptStorage", {
    root,
    storageId: id,
    replacedIds: [...replacedIds],
  });
  if (output.json) output.message(AdoptStorageResponseSchema, answer);
  else output.line(`${what}: ${answer.checkpoints} checkpoints count as stored there; ${looked}`);
  noteOthers(output, root, here, id, replacedIds);
}

function unknownRoot(root: string, items: readonly Plain<Storage>[]): UsageError {
  const roots = [...new Set(items.map((one) => one.root))];
  const known = roots.length === 0 ? "There is none yet." : `There are: ${roots.join(", ")}.`;
  return new UsageError(`No checkpoint was declared under ${root}. ${known}`);
}

/** Returns the id in the storage's marker. Without a marker it is the id that the checkpoints have, or a new one. */
async function idOf(
  root: string,
  here: readonly Plain<Storage>[],
  { id }: AdoptOptions,
  replacedIds: readonly string[],
): Promise<{ readonly id: string; readonly marked: boolean; readonly damaged: boolean }> {
  if (id !== undefined && !isStorageId(id)) {
    throw new UsageError(`--id takes the id of a storage, a UUID in lower case, not ${id}.`);
  }
  const seen = await readStorageMarker(root);
  if (seen.kind === "unreadable") {
    throw new Failure(`${join(root, storageMarkerName)} cannot be read here: ${seen.detail}.`);
  }
  if (seen.kind === "marked") {
    if (id === undefined || id === seen.id) return { id: seen.id, marked: true, damaged: false };
    throw new UsageError(`${root} is marked as storage ${seen.id} here, not as ${id}.`);
  }
  const ids = new Set(here.map(({ storageId, countsAs }) => countsAs || storageId));
  const known = [...ids].filter((one) => one !== "" && !replacedIds.includes(one));
  if (id === undefined && known.length > 1) {
    throw new UsageError(
      `The checkpoints under ${root} were written to several storages: ${known.join(", ")}. Say with --id which of them is mounted here.`,
    );
  }
  const damaged = seen.kind === "damaged";
  return { id: id ?? known[0] ?? randomUUID(), marked: false, damaged };
}

async function writeMarker(root: string, id: string, damaged: boolean): Promise<void> {
  try {
    if (damaged) await mendStorageMarker(root, id);
    else if ((await markStorage(root, id)) !== id) {
      throw new Failure(`${root} was marked by a training in the meantime. Run the command again.`);
    }
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error;
    throw new Failure(`The marker of ${root} could not be written: ${error.message}.`);
  }
}

/** Throws a Failure unless some of the checkpoints are in the folder: an empty mount point has none. */
function lookFor(root: string, claimed: readonly Plain<Storage>[]): string {
  if (claimed.length === 0) return "all counted as stored there already";
  const examples = claimed.flatMap((one) => one.examples);
  const found = examples.filter((checkpoint) => existsSync(join(root, checkpoint)));
  const [example] = examples;
  if (example !== undefined && found.length === 0) {
    throw new Failure(
      `None of ${examples.length} checkpoints that were written under ${root}, such as ${example}, is there on this host: is their storage mounted here? Nothing was changed.`,
    );
  }
  if (example === undefined) return "none of them is complete, so none was looked for";
  return `${found.length} of the ${examples.length} that were looked for are there`;
}

function noteOthers(
  output: Context["output"],
  root: string,
  here: readonly Plain<Storage>[],
  id: string,
  replacedIds: readonly string[],
): void {
  for (const { storageId, countsAs, checkpoints } of here) {
    if (storageId === "" || countsAs === id || replacedIds.includes(storageId)) continue;
    output.note(
      `${checkpoints} checkpoints under ${root} were written to storage ${storageId}, which is not the one here; if it is, and only its marker was lost, run this with --replace ${storageId}`,
    );
  }
}
