/** The environments of runs. They are stored by digest, and named in a stream of the experiment. */
import { createHash } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import { codecOf } from "@trainyard/contracts";
import { type RunEnvironment, RunEnvironmentSchema } from "@trainyard/contracts/api";
import { isRejection, reject } from "@trainyard/kernel";
import { foldOf, refusalOfContents } from "@trainyard/runtime";
import { LRUCache } from "lru-cache";
import type { Backend } from "../backend.ts";
import { problemOf } from "../http/problem.ts";
import type { RequestContext } from "../http/request-context.ts";
import { deleted, environments } from "../streams.ts";
import { namingContents } from "./contents.ts";
import { isNewEnvironment } from "./core/environment.ts";
import { spaceLimits } from "./limits.ts";
import { ownCommit } from "./own-commit.ts";
import { loadText, storeText } from "./texts.ts";

const folder = "environments";
const codec = codecOf<Plain<RunEnvironment>>(RunEnvironmentSchema);

/** Records an environment. Returns the position of its event; 0 if an earlier run had the same environment. */
export async function recordEnvironment(
  backend: Backend,
  experiment: string,
  { run, python, packages }: Plain<RunEnvironment>,
  context: RequestContext,
): Promise<number> {
  const sorted = Object.fromEntries(
    Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const text = codec.encode({ run: "", python, packages: sorted });
  const digest = createHash("sha256").update(text).digest("hex");
  const { executor } = backend.parts;
  const { state } = await executor.cache.load(foldOf(environments), experiment);
  const gone = reject("experiment_not_found", `the experiment of run ${run} was deleted`);
  // An environment that no event would name is not stored: otherwise a script could fill the disk.
  if (!isNewEnvironment(state, digest)) return 0;
  if ((await executor.cache.load(deleted, experiment)).state) throw problemOf(gone);
  return namingContents(async () => {
    const file = await storeText(backend, folder, text);
    const result = await executor.execute(ownCommit(context), async (work) => {
      if (await work.guard(deleted, experiment)) return gone;
      const refused = await refusalOfContents(work, [file]);
      if (refused !== null) return refused;
      const decided = await work.decide(environments, experiment, { digest, run });
      return isRejection(decided) ? decided : undefined;
    });
    if (isRejection(result)) throw problemOf(result);
    return result.position;
  });
}

export async function environmentsOf(
  backend: Backend,
  experiment: string,
): Promise<readonly Plain<RunEnvironment>[]> {
  const { state } = await backend.parts.executor.cache.load(foldOf(environments), experiment);
  const found = await Promise.all(state.map((recorded) => loadEnvironment(backend, recorded)));
  return found.filter((environment) => environment !== null);
}

/** Environments that are read again and again, by digest. A digest names one content forever, so no entry expires. */
export class EnvironmentCache {
  readonly #known = new LRUCache<string, Plain<RunEnvironment>>({
    maxSize: spaceLimits.environmentsKeptCharacters,
  });

  /** Returns the environment that was recorded last; null if none was. */
  async latestOf(backend: Backend, experiment: string): Promise<Plain<RunEnvironment> | null> {
    const { state } = await backend.parts.executor.cache.load(foldOf(environments), experiment);
    const latest = state.at(-1);
    if (latest === undefined) return null;
    const { digest, run } = latest;
    const known = this.#known.get(digest);
    if (known !== undefined) return { ...known, run };
    const text = await loadText(backend, folder, digest);
    if (text === null) return null;
    const environment = codec.decode(text);
    this.#known.set(digest, environment, { size: text.length });
    return { ...environment, run };
  }
}

async function loadEnvironment(
  backend: Backend,
  { digest, run }: { readonly digest: string; readonly run: string },
): Promise<Plain<RunEnvironment> | null> {
  const text = await loadText(backend, folder, digest);
  return text === null ? null : { ...codec.decode(text), run };
}
