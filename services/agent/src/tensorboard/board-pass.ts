/** One pass over a TensorBoard's trials, which brings the copies of their files up to date. */
import { limits } from "../limits.ts";
import { type BoardFolder, isCurrent, placeOf } from "./board-folder.ts";
import type { BoardFile, BoardSource, BoardTrial } from "./board-source.ts";

export type PassDeps = {
  readonly source: BoardSource;
  readonly folder: BoardFolder;
  /** The most bytes of all copies. */
  readonly bytesMax: number;
};

/** The outcome of a pass, as far as people should know it. */
export type PassResult = {
  /** The experiments none of whose chosen trials has a file. */
  readonly withoutFiles: readonly string[];
  /** The first trial whose files do not fit; null if all do. */
  readonly leftOut: string | null;
  /** Why files of a trial are missing, each as a sentence. */
  readonly problems: readonly string[];
};

export async function passOnce(deps: PassDeps, signal: AbortSignal): Promise<PassResult> {
  const { source, folder } = deps;
  const filesOf = new Map<string, number>();
  const problems: string[] = [];
  const seen = new Set<string>();
  let leftOut: string | null = null;
  let areAllListed = true;
  for await (const trial of source.trials(signal)) {
    const known = filesOf.get(trial.experiment) ?? 0;
    const pass = await copyTrial(deps, trial, signal);
    for (const path of pass.seen) seen.add(path);
    if (pass.problem !== "") problems.push(`trial ${trial.trial}: ${pass.problem}`);
    areAllListed &&= pass.isListed;
    if (pass.isLeftOut) leftOut ??= trial.trial;
    filesOf.set(trial.experiment, known + pass.seen.length);
  }
  if (areAllListed) await folder.keepOnly(seen);
  const withoutFiles = [...filesOf].flatMap(([experiment, files]) =>
    files === 0 ? experiment : [],
  );
  return { withoutFiles, leftOut, problems };
}

async function copyTrial(
  { source, folder, bytesMax }: PassDeps,
  trial: BoardTrial,
  signal: AbortSignal,
) {
  const seen: string[] = [];
  let problem = "";
  let isListed = true;
  let isLeftOut = false;
  for await (const page of source.files(trial.trial, signal)) {
    problem ||= page.problem;
    isListed &&= page.problem === "";
    for (const file of page.files) {
      const path = placeOf(trial, file.path);
      if (path === null) continue;
      seen.push(path);
      const held = await folder.copyOf(path);
      if (isCurrent(held, file)) continue;
      const bytes = (await folder.bytes()) - (held?.bytes ?? 0) + file.bytes;
      const isNew = held === undefined;
      if (bytes > bytesMax || (isNew && (await folder.count()) >= limits.boards.filesMax)) {
        isLeftOut = true;
        continue;
      }
      const read = (offset: number) => source.read(trial.trial, file, offset, signal);
      const unusable = await updated(folder, path, file, read);
      problem ||= unusable;
    }
  }
  return { seen, problem, isListed, isLeftOut };
}

/** The codes of names that this disk cannot have: an object store may have both a and a/b. */
const unusableNames: ReadonlySet<unknown> = new Set(["ENOTDIR", "EISDIR", "ENAMETOOLONG"]);

/** Returns why a file cannot be here; empty if it is. */
async function updated(
  folder: BoardFolder,
  path: string,
  ...more: [BoardFile, (offset: number) => AsyncIterable<Uint8Array>]
): Promise<string> {
  try {
    await folder.update(path, ...more);
    return "";
  } catch (error) {
    if (!unusableNames.has((error as NodeJS.ErrnoException).code)) throw error;
    folder.forget();
    return `the disk of this agent has no room for the name ${JSON.stringify(path)}`;
  }
}
