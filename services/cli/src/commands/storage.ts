/** Lists the storages of checkpoints, and records that a person has mounted one of them on this machine. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import {
  adoptCommand,
  isStorageId,
  readStorageMarker,
  type StorageMark,
  type StorageOwner,
  storageMarkerName,
  writeStorageMarker,
} from "@trainyard/blob";
import type { Plain, ReplyOf } from "@trainyard/contracts";
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
    .argument("<root>", "a root of yard storage list; a directory on a host where it is mounted")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--id <id>", "the id to write, where several are known or the marker has another")
    .option("--replace <id...>", "an id that this storage had before its marker was lost")
    .description(
      "say that the directory that is mounted here, or the bucket, is the storage of the checkpoints under that root, and that it belongs to this cluster",
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
    { title: "TO DELETE", value: ({ condemned }) => String(condemned), right: true },
    { title: "LEFT OVER", value: ({ leftOver }) => String(leftOver), right: true },
    { title: "HELD", value: ({ held }) => (held === "" ? "" : "yes") },
  ]);
  for (const { root, held } of page.items) {
    if (held !== "") output.note(`nothing is removed or replaced in ${root}: ${held}`);
  }
  await noteHold(context);
  const unknown = page.items.filter(({ root, countsAs }) => isAbsolute(root) && !countsAs);
  for (const { root, checkpoints, leftOver } of unknown) {
    output.note(
      `the storage of ${checkpoints + leftOver} checkpoints under ${root} is unknown, so none of them is ever failed or deleted: run ${adoptCommand(root)} on a host where it is mounted`,
    );
  }
}

async function adopt(
  context: Context,
  args: readonly string[],
  options: AdoptOptions,
): Promise<void> {
  const page = await context.client.call("listStorages", {});
  const { items } = page;
  const given = argument(args, 0);
  // An address is no path, even if it looks like a relative one.
  const isBucket = items.some(({ root }) => root === given && !isAbsolute(root));
  const root = isBucket ? given : resolve(callerPath(given));
  const here = items.filter((one) => one.root === root);
  if (here.length === 0) throw unknownRoot(root, items);
  for (const id of options.replace ?? []) {
    if (here.some(({ storageId }) => isStorageId(id) && storageId === id)) continue;
    throw new UsageError(`No checkpoint under ${root} was written to a storage ${id}.`);
  }
  if (options.id !== undefined && !isStorageId(options.id)) {
    throw new UsageError(
      `--id takes the id of a storage, a UUID in lower case, not ${options.id}.`,
    );
  }
  if (isBucket) await adoptBucket(context, root, here, options);
  else await adoptDirectory(context, root, here, ownerIn(page), options);
}

/** The log of the cluster and a witness, for the marker. */
function ownerIn({ owner }: ReplyOf<"listStorages">): StorageOwner {
  if (owner === undefined) throw new Failure("The cluster did not name its log.");
  const { log, witnessPosition, witnessEvent } = owner;
  return { log, witness: { position: Number(witnessPosition), id: witnessEvent } };
}

/** The platform looks for the checkpoints in the bucket and writes its marker. */
async function adoptBucket(
  { client, output }: Context,
  root: string,
  here: readonly Plain<Storage>[],
  options: AdoptOptions,
): Promise<void> {
  const replacedIds = [...(options.replace ?? [])];
  if (options.dryRun === true) {
    const counted = here.filter(({ storageId }) => !replacedIds.includes(storageId));
    const [most] = counted.toSorted((a, b) => b.checkpoints - a.checkpoints);
    const id = options.id ?? (most?.countsAs || "of its marker");
    output.line(`the marker of ${root} would name the storage ${id} and this cluster`);
    return;
  }
  const request = { root, storageId: options.id ?? "", replacedIds };
  const answer = await client.call("adoptStorage", request);
  if (output.json) output.message(AdoptStorageResponseSchema, answer);
  else {
    const { storageId, checkpoints } = answer;
    output.line(
      `${root} is storage ${storageId}: ${checkpoints} checkpoints count as stored there`,
    );
  }
  noteOthers(output, root, here, answer.storageId, replacedIds);
}

async function adoptDirectory(
  { client, output }: Context,
  root: string,
  here: readonly Plain<Storage>[],
  owner: StorageOwner,
  options: AdoptOptions,
): Promise<void> {
  const chosen = await idOf(root, here, options);
  const { id, replacedIds } = chosen;
  const claimed = here.filter(
    ({ storageId }) =>
      storageId === "" || replacedIds.includes(storageId) || (!chosen.isThere && storageId === id),
  );
  const looked = lookFor(root, claimed);
  const what = `${root} is storage ${id}`;
  if (options.dryRun === true) {
    const checkpoints = claimed.reduce((sum, one) => sum + one.checkpoints, 0);
    const writes = `${join(root, storageMarkerName)} would name it and this cluster`;
    output.line(
      `${checkpoints} checkpoints would count as stored there: ${what}, and ${writes}; ${looked}`,
    );
    return;
  }
  await writeMarker(root, { id, owner });
  const request = { root, storageId: id, replacedIds: [...replacedIds] };
  const answer = await client.call("adoptStorage", request);
  if (output.json) output.message(AdoptStorageResponseSchema, answer);
  else output.line(`${what}: ${answer.checkpoints} checkpoints count as stored there; ${looked}`);
  noteOthers(output, root, here, id, replacedIds);
}

function unknownRoot(root: string, items: readonly Plain<Storage>[]): UsageError {
  const roots = [...new Set(items.map((one) => one.root))];
  const known = roots.length === 0 ? "There is none yet." : `There are: ${roots.join(", ")}.`;
  return new UsageError(`No checkpoint was declared under ${root}. ${known}`);
}

type Chosen = {
  readonly id: string;
  /** Whether the marker has this id already. */
  readonly isThere: boolean;
  readonly replacedIds: readonly string[];
};

/**
 * Returns the id in the storage's marker, unless --id names another one that checkpoints have: a run may have made the
 * marker. Without a marker it is the id that the checkpoints have, or a new one.
 */
async function idOf(
  root: string,
  here: readonly Plain<Storage>[],
  { id, replace: replacedIds = [] }: AdoptOptions,
): Promise<Chosen> {
  const seen = await readStorageMarker(root);
  if (seen.kind === "unreadable") {
    throw new Failure(`${join(root, storageMarkerName)} cannot be read here: ${seen.detail}.`);
  }
  if (seen.kind === "marked" && (id === undefined || id === seen.id)) {
    return { id: seen.id, isThere: true, replacedIds };
  }
  const ids = new Set(here.map(({ storageId, countsAs }) => countsAs || storageId));
  if (seen.kind === "marked" && id !== undefined) {
    if (!ids.has(id)) {
      throw new UsageError(
        `${root} is marked as storage ${seen.id} here, and no checkpoint under it was written to ${id}.`,
      );
    }
    // A checkpoint that was declared with the present marker counts as stored here, too.
    return { id, isThere: false, replacedIds: [...new Set([...replacedIds, seen.id])] };
  }
  const known = [...ids].filter((one) => one !== "" && !replacedIds.includes(one));
  if (id === undefined && known.length > 1) {
    throw new UsageError(
      `The checkpoints under ${root} were written to several storages: ${known.join(", ")}. Say with --id which of them is mounted here.`,
    );
  }
  return { id: id ?? known[0] ?? randomUUID(), isThere: false, replacedIds };
}

async function writeMarker(root: string, mark: StorageMark): Promise<void> {
  try {
    await writeStorageMarker(root, mark);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
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
      `${checkpoints} checkpoints under ${root} were written to storage ${storageId}, which is not the one here; if it is, and only its marker was lost, run this with --replace ${storageId}, or with --id ${storageId} to write that id`,
    );
  }
}
