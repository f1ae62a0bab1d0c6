/** The gateway's command `copy-blobs`: copies a folder of blobs to the object store that replaces it. */
import { parseArgs } from "node:util";
import {
  blobPlace,
  type Copied,
  copyBlobs,
  openObjectBlobs,
  StoreBrake,
  storeSettings,
} from "@trainyard/blob";
import { type Clock, Fault } from "@trainyard/kernel";
import {
  databaseOf,
  databaseVariables,
  digestOfContentKey,
  LogIdentity,
  openLog,
  parseEnvironment,
  storesOf,
  storesVariables,
} from "@trainyard/runtime";
import { wrongSettings } from "@trainyard/runtime/failed-start";
import { z } from "zod";

type Environment = Readonly<Record<string, string>>;

export type CopyDeps = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly say: (line: string) => void;
};

export const copyUsage = "usage: copy-blobs --from FOLDER, with TRAINYARD_BLOB_STORAGE";

const schema = z.object({ ...databaseVariables, ...storesVariables });
/** Files between two lines about the progress. */
const saidEvery = 1_000;
const othersSaidMax = 20;

/** Returns the folder of the command's arguments; null for wrong ones. */
export function copiedFolder(given: readonly string[]): string | null {
  try {
    const { values } = parseArgs({ args: [...given], options: { from: { type: "string" } } });
    return values.from ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns whether every blob of the folder is in the store. Throws the Fault of a store that cannot be used, or that
 * another cluster has claimed.
 */
export async function copyFolder(
  folder: string,
  { environment, clock, say }: CopyDeps,
): Promise<boolean> {
  const { TRAINYARD_BLOB_DIR: _stillSet, ...settings } = environment;
  const place = settings["TRAINYARD_BLOB_STORAGE"] ? blobPlace(settings) : null;
  if (place?.kind !== "store") throw new Fault(wrongSettings, copyUsage, { retry: "never" });
  const env = parseEnvironment(schema, environment);
  const { credentialsFile } = storesOf(env);
  await using log = openLog(databaseOf(env), "gateway");
  const own = new LogIdentity(log);
  // An empty log claims nothing, so the copy could be in the place of another cluster.
  await own.latest();
  await using opened = openObjectBlobs(place, {
    ...{ clock, writes: true, stores: { credentialsFile, kinds: storeSettings(environment) } },
    brake: new StoreBrake({ clock, restMs: 0, atOnceMax: Number.POSITIVE_INFINITY }),
    log: own,
  });
  await opened.answers(new AbortController().signal);
  const copied = await copyBlobs({
    ...{ folder, to: opened.blobs, digestOf: digestOfContentKey },
    onProgress: (done, of) => {
      if (done % saidEvery === 0 && done < of) say(`${done} of ${of} files`);
    },
  });
  for (const line of linesOf(copied, place.address)) say(line);
  return copied.left.length === 0;
}

function linesOf({ copied, copiedBytes, there, gone, left, others }: Copied, to: string) {
  const shown = others.slice(0, othersSaidMax);
  return [
    `${copied} files (${copiedBytes} bytes) copied to ${to}; ${there} were there already`,
    ...(gone === 0 ? [] : [`${gone} were deleted from the folder meanwhile`]),
    ...left.map(({ key, why }) => `not copied: ${key}: ${why}`),
    ...shown.map((path) => `no file of Trainyard: ${path}`),
    ...(others.length > shown.length
      ? [`and ${others.length - shown.length} more such files`]
      : []),
    left.length === 0 ? "nothing is left to copy" : `${left.length} files are left`,
  ];
}
