// Streams the changes of a resource. An object that a selector no longer matches is deleted for the watch, and one that
// it matches from now on is added. Source: docs, "Kubernetes API Concepts" (efficient detection of changes, watch
// bookmarks, streaming lists).
import { ApiFault } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import { apiVersionOf } from "../resources.ts";
import type { Change } from "../store/memory-store.ts";
import type { Target } from "./objects.ts";
import type { ApiRequest } from "./request.ts";
import { selectionOf } from "./selectors.ts";

export type Sent = { type: string; object: unknown };

/** Sends each event until the client leaves or the time of the request ends; then calls `end`. */
export const startWatch = (
  { store, resource }: Target,
  request: ApiRequest,
  send: (event: Sent, first: boolean) => void,
  end: () => void,
): void => {
  const { query, path, signal } = request;
  const selected = selectionOf(query, resource);
  const matches = (object: KubeObject): boolean =>
    (path.namespace === null || object.metadata.namespace === path.namespace) && selected(object);
  const given = query.get("resourceVersion") ?? "";
  const wantsInitial = query.get("sendInitialEvents") === "true";
  const isFresh = given === "" || given === "0" || wantsInitial;
  let first = true;
  const emit = (type: string, object: unknown): void => {
    send({ type, object }, first);
    first = false;
  };
  const bookmark = (annotations?: Record<string, string>): void => {
    const metadata = {
      resourceVersion: String(store.version),
      creationTimestamp: null,
      annotations,
    };
    emit("BOOKMARK", { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata });
  };
  const onChange = (change: Change): void => {
    const before = change.previous !== null && matches(change.previous);
    const after = change.type !== "DELETED" && matches(change.object);
    if (after) emit(before ? "MODIFIED" : "ADDED", change.object);
    else if (before) emit("DELETED", change.object);
  };
  if (isFresh) {
    for (const object of store.list(resource.plural, path.namespace))
      if (matches(object)) emit("ADDED", object);
    if (wantsInitial) bookmark({ "k8s.io/initial-events-end": "true" });
  }
  let stop: () => void;
  try {
    stop = store.watchChanges(resource.plural, isFresh ? null : Number(given), onChange);
  } catch (error) {
    // A watch answers 200 first, so that an old version is an event. Source: docs, "410 Gone responses".
    if (!(error instanceof ApiFault)) throw error;
    emit("ERROR", error.status);
    end();
    return;
  }
  const bookmarks =
    query.get("allowWatchBookmarks") === "true" ? setInterval(() => bookmark(), 60_000) : undefined;
  const seconds = Number(query.get("timeoutSeconds") ?? 0) || 1800;
  const finish = (): void => {
    stop();
    clearInterval(bookmarks);
    clearTimeout(timer);
    signal.removeEventListener("abort", finish);
    end();
  };
  const timer = setTimeout(finish, seconds * 1000);
  signal.addEventListener("abort", finish);
};
