/**
 * The runs of others in answers that everybody may see: who waits for slots learns how many are taken, and not by what.
 * Names of runs are masked in texts too, since the scheduler's sentences have them.
 */
import type { Rights } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Agent, Pool } from "@trainyard/contracts/api";
import { parseRunId, parseTaskRunId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { placeOf } from "../shown.ts";
import type { DocumentKey, TaskDocument } from "../../read-model/core/views/documents.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";

/** Shown instead of the name of a hidden run. */
export const anotherWorkspace = "another workspace";

/** The names of runs in a text, some with the id of their request: 1.1#1@0193. */
const runNames = /\b(?:\d+\.\d+|t\d+)#\d+(?:@[0-9a-f-]+)?/g;

/** Runs that a caller may not see, by name. */
export class HiddenRuns {
  readonly #seen: (run: string) => boolean;

  private constructor(seen: (run: string) => boolean) {
    this.#seen = seen;
  }

  /** Looks up the experiments and tasks of all runs that the texts name, with one query. */
  static async among(
    { parts }: Backend,
    rights: Rights,
    texts: readonly string[],
  ): Promise<HiddenRuns> {
    if (rights.everywhere("experiment_view") && rights.everywhere("task_view")) {
      return new HiddenRuns(() => true);
    }
    const names = new Set(texts.flatMap((text) => text.match(runNames) ?? []));
    const keys = [...names].flatMap((name) => keyOf(name) ?? []);
    const rows = await parts.documents.fetch(parts.pool, keys);
    const seen = new Set(
      rows.flatMap((row) => {
        if (row.kind === "experiment") {
          return rights.has("experiment_view", placeOf(row.doc).workspace) ? [row.id] : [];
        }
        const { workspace } = row.doc as TaskDocument;
        return rights.has("task_view", workspace || defaultSpace) ? [row.id] : [];
      }),
    );
    return new HiddenRuns((run) => seen.has(keyOf(run)?.id ?? ""));
  }

  has(run: string): boolean {
    return run !== "" && !this.#seen(run);
  }

  /** Returns a text without the names of hidden runs. */
  masked(text: string): string {
    return text.replaceAll(runNames, (run) =>
      this.has(run) ? `a run of ${anotherWorkspace}` : run,
    );
  }
}

/** Returns the key of the experiment or task of a run; undefined for a text that is no run. */
function keyOf(name: string): DocumentKey | undefined {
  const run = name.replace(/@.*$/, "");
  const experiment = parseRunId(run)?.experiment;
  if (experiment !== undefined) return { kind: "experiment", id: experiment };
  const task = parseTaskRunId(run)?.task;
  return task === undefined ? undefined : { kind: "task", id: task };
}

/** Returns agents whose slots do not name hidden runs. */
export async function maskedAgents(
  backend: Backend,
  rights: Rights,
  agents: readonly Plain<Agent>[],
): Promise<readonly Plain<Agent>[]> {
  const texts = agents.flatMap(({ slots, notices, notPlaced = "" }) => [
    ...slots.flatMap(({ run, left = "" }) => [run, left]),
    ...notices,
    notPlaced,
  ]);
  const hidden = await HiddenRuns.among(backend, rights, texts);
  return agents.map((agent) => ({
    ...agent,
    notices: agent.notices.map((notice) => hidden.masked(notice)),
    ...(agent.notPlaced === undefined ? {} : { notPlaced: hidden.masked(agent.notPlaced) }),
    slots: agent.slots.map(({ run, left, ...slot }) => ({
      ...slot,
      run: hidden.has(run) ? anotherWorkspace : run,
      ...(left === undefined ? {} : { left: hidden.masked(left) }),
    })),
  }));
}

/** Returns pools without the quotas of hidden workspaces and the names of hidden runs. */
export async function maskedPools(
  backend: Backend,
  rights: Rights,
  pools: readonly Plain<Pool>[],
): Promise<readonly Plain<Pool>[]> {
  const texts = pools.flatMap(({ reservedFor, setAside }) => [reservedFor, setAside]);
  const hidden = await HiddenRuns.among(backend, rights, texts);
  const isSeen = ({ workspace }: { readonly workspace: string }): boolean =>
    rights.has("workspace_view", workspace);
  return pools.map(({ settings, ...pool }) => ({
    ...pool,
    quotas: pool.quotas.filter(isSeen),
    reservedFor: hidden.has(pool.reservedFor) ? anotherWorkspace : pool.reservedFor,
    setAside: hidden.masked(pool.setAside),
    ...(settings === undefined
      ? {}
      : { settings: { ...settings, quotas: settings.quotas.filter(isSeen) } }),
  }));
}
