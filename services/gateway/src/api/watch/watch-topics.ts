/** The topics of a watcher: how they are checked, and which of them the caller sees. */
import type { Rights } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { WatchTopic } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import type { Caller } from "../../http/caller.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { SeriesTopic } from "../../live/core/series.ts";
import type { Topic } from "../../live/core/topics.ts";
import { digestOf } from "../../live/watch-cursor.ts";
import type { Frame } from "../../live/watch-queue.ts";
import { type Filter, FilterError, readFilter } from "../../read-model/core/lists/filter.ts";
import type { ListSpec } from "../../read-model/core/lists/list-spec.ts";
import {
  agentList,
  checkpointList,
  experimentList,
  jobList,
  modelList,
  projectList,
  taskList,
  trialList,
  workspaceList,
} from "../../read-model/core/lists/lists.ts";
import { projectKey } from "../../read-model/core/views/project-space.ts";
import { findProject, findWorkspace } from "../../spaces/spaces.ts";
import { allOf, requireKnown, withoutArchived } from "../lists.ts";
import { isSeenBy, missing, type ObjectKind } from "../rights/objects.ts";
import { frameText, resetOf } from "./watch-frames.ts";
import { seriesKinds, seriesTopic } from "./watch-series.ts";

/** The lists by the kind of their topics. */
const lists: Readonly<Record<string, ListSpec>> = {
  experiments: experimentList,
  trials: trialList,
  checkpoints: checkpointList,
  models: modelList,
  agents: agentList,
  jobs: jobList,
  tasks: taskList,
  workspaces: workspaceList,
  projects: projectList,
};

/** A requested topic: a list or a series, and its first position; an empty position means the present. */
export type RequestedTopic = {
  readonly topic?: Topic;
  readonly series?: SeriesTopic;
  readonly name: string;
  readonly position: string;
  /** The objects without which the topic is answered as if it were not there. */
  readonly objects: readonly TopicObject[];
  /** The id of the only document, as the client names it; empty for a list or a series. */
  readonly id: string;
};

type TopicObject = { readonly kind: ObjectKind; readonly id: string };

/** The topics that a caller sees, by their place in the request. */
export type WatchView = { readonly rights: Rights; readonly seen: readonly boolean[] };

/** Checks a topic. Throws a Problem if it is invalid, or if the caller does not see its objects. */
export async function requestedTopic(
  backend: Backend,
  asked: Plain<WatchTopic>,
  index: number,
  { nowMs, rights }: { readonly nowMs: number; readonly rights: Rights },
): Promise<RequestedTopic> {
  const { position, id } = asked;
  const objects = objectsIn(asked);
  for (const object of objects) {
    if (!(await isSeen(backend, rights, object))) throw missing(object.kind, object.id);
  }
  if (seriesKinds.includes(asked.kind)) {
    const series = await seriesTopic(backend, asked, `topics[${index}]`);
    return { series, name: series.name, position, objects, id: "" };
  }
  const topic = await topicOf(backend, asked, index, { nowMs, rights });
  return { topic, name: digestOf(topic.key), position, objects, id };
}

/** The kinds of topics whose documents are objects of a workspace. */
const kindsOfObjects: Readonly<Record<string, ObjectKind>> = {
  experiments: "experiment",
  trials: "trial",
  checkpoints: "checkpoint",
  models: "model",
  jobs: "job",
  tasks: "task",
  workspaces: "workspace",
};

function objectsIn({ kind, experiment, workspace, id }: Plain<WatchTopic>) {
  const own = Object.hasOwn(kindsOfObjects, kind) ? kindsOfObjects[kind] : undefined;
  const objects: TopicObject[] = [];
  if (experiment !== "") objects.push({ kind: "experiment", id: experiment });
  if (workspace !== "") objects.push({ kind: "workspace", id: workspace });
  if (id !== "" && own !== undefined) objects.push({ kind: own, id });
  return objects;
}

async function isSeen(backend: Backend, rights: Rights, { kind, id }: TopicObject) {
  return rights.seesAll || isSeenBy(rights, backend, kind, id);
}

/** Returns which of the topics the caller sees now. */
export async function viewOf(
  backend: Backend,
  caller: Caller,
  asked: readonly RequestedTopic[],
): Promise<WatchView> {
  const rights = await backend.parts.access.rightsOf(caller);
  const known = new Map<string, boolean>();
  const seen: boolean[] = [];
  for (const { objects } of asked) {
    let isAll = true;
    for (const object of objects) {
      const key = `${object.kind} ${object.id}`;
      const one = known.get(key) ?? (await isSeen(backend, rights, object));
      known.set(key, one);
      isAll &&= one;
    }
    seen.push(isAll);
  }
  return { rights, seen };
}

/** The reason of a reset after a change of rights, or after a move. */
export const otherSight = "the caller sees other objects now";

/** Returns a topic as a caller with some rights watches it. */
export const seenAs = (topic: Topic, rights: Rights): Topic => ({
  ...topic,
  rights,
  sharedKey: rights.seesAll ? topic.key : `${topic.key} ${rights.sight}`,
});

export const isSameView = (a: WatchView, b: WatchView): boolean =>
  a.rights.sight === b.rights.sight && a.seen.every((one, index) => one === b.seen[index]);

/**
 * Returns the frames for topics whose view has changed. A document that went out of sight is gone. What else went out
 * of sight, came into sight, or may have other rows now, is read again by the client.
 */
export function changesOfView(
  asked: readonly RequestedTopic[],
  before: WatchView,
  after: WatchView,
): readonly Frame[] {
  const isOther = before.rights.sight !== after.rights.sight;
  return asked.flatMap(({ topic, series, id }, index) => {
    const key = topic?.key ?? series?.key ?? "";
    const [was, is] = [before.seen[index], after.seen[index]];
    if (was === is && (is === false || series !== undefined || !isOther)) return [];
    if (is === false && id !== "") {
      return [{ text: frameText({ case: "gone", value: { topic: key, id } }) }];
    }
    return [resetOf(key, otherSight)];
  });
}

async function topicOf(
  backend: Backend,
  asked: Plain<WatchTopic>,
  index: number,
  { nowMs, rights }: { readonly nowMs: number; readonly rights: Rights },
): Promise<Topic> {
  const { kind } = asked;
  const list = Object.hasOwn(lists, kind) ? lists[kind] : undefined;
  if (list === undefined) {
    const known = [...Object.keys(lists), ...seriesKinds].join(", ");
    throw invalid(`topics[${index}].kind is ${JSON.stringify(kind)}; the kinds are ${known}`);
  }
  if (asked.group !== "" || asked.names.length > 0) {
    throw invalid(`topics[${index}] has group or names, which are of points`);
  }
  if (asked.lineFilter !== undefined) {
    throw invalid(`topics[${index}] has line_filter, which is of lines`);
  }
  const scope = await scopeOf(backend, asked, list, index);
  const id = await idOf(backend, asked, list, scope);
  const filter = filterOf(asked, list, index);
  const isRelative = /[+-]\d+[smhdw]/.test(asked.filter);
  const key = JSON.stringify([
    kind,
    scope,
    asked.filter,
    id,
    asked.archived,
    ...(isRelative ? [nowMs] : []),
  ]);
  return { key, sharedKey: key, list, scope, filter, id, nowMs, isRelative, rights };
}

async function scopeOf(
  backend: Backend,
  { kind, experiment, workspace }: Plain<WatchTopic>,
  list: ListSpec,
  index: number,
): Promise<string> {
  const require = (what: string, given: string, isNeeded: boolean): void => {
    if (isNeeded === (given !== "")) return;
    const article = what === "experiment" ? "an" : "a";
    const detail = isNeeded ? `needs ${article} ${what}` : `has no ${what}`;
    throw invalid(`topics[${index}] ${detail}: it is a topic of ${kind}`);
  };
  require("experiment", experiment, list.kind === "trial" || list.kind === "checkpoint");
  require("workspace", workspace, list.kind === "project");
  if (experiment !== "") await backend.get("experiment", experiment);
  return workspace === "" ? experiment : (await findWorkspace(backend, workspace)).id;
}

/** Returns the id of the only document to watch; empty for all. */
async function idOf(
  backend: Backend,
  { id, workspace }: Plain<WatchTopic>,
  { kind }: ListSpec,
  scope: string,
): Promise<string> {
  if (id === "") return "";
  if (kind === "workspace") return (await findWorkspace(backend, id)).id;
  if (kind === "project") {
    const project = await findProject(backend, { id: scope, name: workspace }, id);
    return projectKey(scope, project.id);
  }
  if ((await backend.find(kind, id)) === undefined) throw notFound(kind, id);
  return id;
}

function filterOf(asked: Plain<WatchTopic>, list: ListSpec, index: number): Filter | null {
  try {
    const hasArchived = list.fields.some(({ name }) => name === "archived");
    const filter = allOf(readFilter(asked.filter), hasArchived ? withoutArchived(asked) : []);
    if (filter !== null) requireKnown(filter, list);
    return filter;
  } catch (error) {
    if (error instanceof FilterError) throw invalid(`topics[${index}].${error.message}`);
    throw error;
  }
}

const invalid = (detail: string): Problem => new Problem(400, "invalid_request", detail);
