/**
 * The right to read an event: a caller has it who may see the event's object where the object is now. The workspace in
 * the envelope is where the object was at the event.
 */
import { authidOf, type Rights, type Sight } from "@trainyard/access";
import { categoryOf, idOf } from "@trainyard/kernel";
import type { LeavingEvent } from "./leaving-event.ts";

/** The facts of an object at present: where it is, or whose it is. */
export type ObjectFacts =
  | { readonly sight: Sight; readonly workspace: string }
  | { readonly owner: string };

/** The facts of objects by the names of their streams, for example experiment-12. */
export type KnownObjects = ReadonlyMap<string, ObjectFacts>;

/** The readers of streams that have no object: everybody who is signed in, or admins of the cluster and of users. */
type Readers = "everybody" | "admins";

/** Returns the object of a stream by the stream's id, as the name of the object's own stream. */
type ObjectOf = (id: string) => string;

/** The experiment or task of a run, a trial, or itself. */
export const jobOf: ObjectOf = (id) => {
  const [, job = ""] = /^(t?\d+)/.exec(id) ?? [];
  return `${job.startsWith("t") ? "task" : "experiment"}-${job}`;
};

const own =
  (category: string): ObjectOf =>
  (id) =>
    `${category}-${id}`;

/** The object or the readers of each category of streams. Streams of other categories are for admins. */
export const readersOf: Readonly<Record<string, ObjectOf | Readers>> = {
  experiment: jobOf,
  trial: jobOf,
  task: jobOf,
  search: jobOf,
  allocation: jobOf,
  measurement: jobOf,
  logsignal: jobOf,
  environment: jobOf,
  policy: jobOf,
  checkpoint: own("checkpoint"),
  retention: own("checkpoint"),
  model: own("model"),
  workspace: own("workspace"),
  project: own("project"),
  agent: "everybody",
  pool: "everybody",
  user: own("user"),
  token: own("token"),
  access: "admins",
  subscription: "admins",
  storage: "admins",
  hold: "admins",
  content: "admins",
  name: "admins",
};

/** The categories whose events name runs of others: they are for those who may see all of these runs. */
const namingRuns: ReadonlySet<string> = new Set(["agent", "pool", "allocation"]);

const isAdmin = (rights: Rights): boolean =>
  rights.everywhere("cluster_admin") || rights.everywhere("user_admin");

/** Whether a caller may read every event, so that no facts are needed. */
export const readsAll = (rights: Rights): boolean => isAdmin(rights) && rights.seesAll;

/** Returns the objects whose facts decide about the event, by the names of their streams. */
export function objectsOf(event: LeavingEvent): readonly string[] {
  const { stream } = event.stored;
  const named = namingRuns.has(categoryOf(stream)) ? jobsNamedIn(event) : [];
  return [...objectsOfStream(stream), ...named];
}

/** Returns the object of a stream by the name of the object's own stream; none if the stream has none. */
export function objectsOfStream(stream: string): readonly string[] {
  const readers = readersOfStream(stream);
  return typeof readers === "function" ? [readers(idOf(stream))] : [];
}

/** Whether the caller may read the event. `known` has the facts of its objects that exist. */
export function mayRead(rights: Rights, event: LeavingEvent, known: KnownObjects): boolean {
  if (readsAll(rights)) return true;
  const { stream } = event.stored;
  if (!mayReadStream(rights, stream, known)) return false;
  const isNaming = namingRuns.has(categoryOf(stream));
  if (!isNaming || rights.everywhere("cluster_admin")) return true;
  return jobsNamedIn(event).every((job) => maySee(rights, job, known));
}

/** Whether the caller may read a stream, so that it exists for the caller. */
export function mayReadStream(rights: Rights, stream: string, known: KnownObjects): boolean {
  const readers = readersOfStream(stream);
  if (readers === "everybody") return true;
  return readers === "admins" ? isAdmin(rights) : maySee(rights, readers(idOf(stream)), known);
}

function readersOfStream(stream: string): ObjectOf | Readers {
  const category = categoryOf(stream);
  return (Object.hasOwn(readersOf, category) ? readersOf[category] : undefined) ?? "admins";
}

/** Whether the caller may see an object. Everybody sees its own user and tokens. */
export function maySee(rights: Rights, object: string, known: KnownObjects): boolean {
  const category = categoryOf(object);
  if (category === "user") return isAdmin(rights) || authidOf(idOf(object)) === rights.owner;
  const facts = known.get(object);
  if (category === "token") {
    const owner = facts !== undefined && "owner" in facts ? facts.owner : "";
    return isAdmin(rights) || (owner !== "" && owner === rights.owner);
  }
  if (facts === undefined || !("sight" in facts)) return false;
  return rights.has(facts.sight, facts.workspace);
}

/** The fields that have the id of an experiment or task. */
const jobFields: ReadonlySet<string> = new Set(["job", "anchor", "experiments"]);
const run = /(?<![\w.])(?:(\d+)\.\d+#\d+|(t\d+)#\d+)/g;

/** Returns the experiments and tasks whose runs a body names, also in sentences. */
export function jobsNamedIn({ data }: LeavingEvent): readonly string[] {
  const found = new Set<string>();
  const look = (value: unknown, field: string): void => {
    if (typeof value === "string") {
      if (jobFields.has(field)) found.add(jobOf(value));
      for (const [, experiment, task = ""] of value.matchAll(run))
        found.add(jobOf(experiment ?? task));
    } else if (Array.isArray(value)) {
      for (const one of value) look(one, field);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, one] of Object.entries(value)) look(one, name);
    }
  };
  look(data, "");
  return [...found];
}
