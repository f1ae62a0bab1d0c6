/**
 * The objects of others in answers that callers may see: the owner of a waiting run learns how many slots are taken,
 * and not by which runs. Sentences of other services name objects too, so their names are masked in the texts.
 */
import type { Rights } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { Agent, Pool } from "@trainyard/contracts/api";
import { isTaskId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { placeOf } from "../shown.ts";
import type {
  DocumentKey,
  DocumentRow,
  TaskDocument,
} from "../../read-model/core/views/documents.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";

/** Shown instead of the name of a hidden run. */
export const anotherWorkspace = "another workspace";

/**
 * The objects that a sentence names: runs, some with the id of their request (1.1#1@0193); experiments, trials and
 * tasks after the word; and versions of models that hold a checkpoint.
 */
const names =
  /\b(?:run )?((?:\d+\.\d+|t\d+)#\d+(?:@[0-9a-f-]+)?)|\b(experiment|trial|task) (t?\d+(?:\.\d+)?)\b|\bmodel-version:(\S+)\/\d+/g;

type Named = {
  readonly noun: string;
  /** The experiment, task or model that decides about the sight. */
  readonly key: DocumentKey;
};

/** The objects that a caller may not see, of those that texts name. */
export class HiddenNames {
  readonly #seen: (key: DocumentKey) => boolean;

  private constructor(seen: (key: DocumentKey) => boolean) {
    this.#seen = seen;
  }

  /** Looks up what the texts name, with one query. */
  static async among(
    { parts }: Backend,
    rights: Rights,
    texts: readonly string[],
  ): Promise<HiddenNames> {
    const sights = ["experiment_view", "task_view", "model_view"] as const;
    if (sights.every((permission) => rights.everywhere(permission))) {
      return new HiddenNames(() => true);
    }
    const found = texts.flatMap((text) => [...text.matchAll(names)]).flatMap(namedBy);
    const keys = new Map(found.map(({ key }) => [textOf(key), key]));
    const rows = await parts.documents.fetch(parts.pool, [...keys.values()]);
    const seen = new Set(rows.filter((row) => isSeenRow(rights, row)).map(textOf));
    return new HiddenNames((key) => seen.has(textOf(key)));
  }

  /** Whether a text is the name of a hidden run. */
  has(run: string): boolean {
    return this.masked(run) !== run;
  }

  /** Returns a text without the names of hidden objects. */
  masked(text: string): string {
    return text.replaceAll(names, (name: string, ...groups: string[]) => {
      const [named] = namedBy([name, ...groups.slice(0, 4)]);
      if (named === undefined || this.#seen(named.key)) return name;
      return `${named.noun} of ${anotherWorkspace}`;
    });
  }
}

const textOf = ({ kind, id }: DocumentKey): string => `${kind} ${id}`;

/** Returns what a match names. */
function namedBy([, run, noun, id, model]: readonly (string | undefined)[]): readonly Named[] {
  if (model !== undefined) return [{ noun: "a model version", key: { kind: "model", id: model } }];
  const key = keyOf(run?.replace(/#.*$/, "") ?? id ?? "");
  const word = noun === undefined ? "a run" : `${noun === "experiment" ? "an" : "a"} ${noun}`;
  return [{ noun: word, key }];
}

/** Returns the key of the experiment or task of a trial, a task or an experiment. */
function keyOf(id: string): DocumentKey {
  if (isTaskId(id)) return { kind: "task", id };
  return { kind: "experiment", id: id.split(".")[0] ?? "" };
}

function isSeenRow(rights: Rights, row: DocumentRow): boolean {
  switch (row.kind) {
    case "experiment":
      return rights.has("experiment_view", placeOf(row.doc).workspace);
    case "task":
      return rights.has("task_view", row.doc.workspace || defaultSpace);
    case "model":
      return rights.has("model_view", row.doc.workspace || defaultSpace);
    default:
      return false;
  }
}

/** Returns trials or tasks of which no waiting run names hidden runs. */
export async function maskedWaits<Running extends Pick<TaskDocument, "runs">>(
  backend: Backend,
  rights: Rights,
  documents: readonly Running[],
): Promise<readonly Running[]> {
  const texts = documents.flatMap(({ runs }) => runs.map(({ waitsFor }) => waitsFor));
  if (texts.every((text) => text === "")) return documents;
  const hidden = await HiddenNames.among(backend, rights, texts);
  return documents.map((document) => ({
    ...document,
    runs: document.runs.map((run) => ({ ...run, waitsFor: hidden.masked(run.waitsFor) })),
  }));
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
  const hidden = await HiddenNames.among(backend, rights, texts);
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
  const hidden = await HiddenNames.among(backend, rights, texts);
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
