/** Reads documents of a list by their ids, in the form of the API. */
import type { Plain } from "@trainyard/contracts";
import { type WatchChange, WatchChangeSchema } from "@trainyard/contracts/api";
import type { Backend } from "../backend.ts";
import type { ListSpec } from "../read-model/core/lists/list-spec.ts";
import type { DocumentRow } from "../read-model/core/views/documents.ts";
import {
  shownAgent,
  shownCheckpoint,
  shownExperiment,
  shownJob,
  shownModel,
  shownProject,
  shownTask,
  shownTrial,
  shownWorkspace,
} from "./shown.ts";

export type ShownDocument = {
  readonly id: string;
  readonly document: Plain<WatchChange>["document"];
};

/** Returns the existing documents, in no particular order. `scope` is their experiment or workspace. */
export async function shownDocuments(
  backend: Backend,
  { kind }: ListSpec,
  scope: string,
  ids: readonly string[],
): Promise<readonly ShownDocument[]> {
  const { documents, pool } = backend.parts;
  const rows = await documents.fetch(
    pool,
    ids.map((id) => ({ kind, id })),
  );
  if (rows.length === 0) return [];
  const show = await showerOf(backend, kind, scope);
  return rows.flatMap((row) => {
    const document = show(row);
    if (document === null) return [];
    const { directory } = backend.parts;
    return [{ id: row.id, ...directory.named(WatchChangeSchema, { document }) }];
  });
}

/**
 * Returns the ids that clients use: the names of workspaces and projects, which never change, or else the document ids.
 * Projects of another workspace are left out.
 */
export async function clientIds(
  backend: Backend,
  { kind }: ListSpec,
  scope: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (kind !== "workspace" && kind !== "project") return new Map(ids.map((id) => [id, id]));
  const { documents, pool } = backend.parts;
  const rows = await documents.fetch(
    pool,
    ids.map((id) => ({ kind, id })),
  );
  return new Map(
    rows.flatMap((row) => {
      const isSpace = row.kind === "workspace" || row.kind === "project";
      return isSpace && row.parent === scope ? [[row.id, row.doc.name] as const] : [];
    }),
  );
}

type Shower = (row: DocumentRow) => ShownDocument["document"] | null;

/** Returns the function that shows a document; its result is null for a document that no list has. */
async function showerOf(backend: Backend, kind: ListSpec["kind"], scope: string): Promise<Shower> {
  if (kind === "trial") {
    const experiment = await backend.find("experiment", scope);
    const config = await backend.configOf(scope);
    return (row) =>
      row.kind === kind ? { case: kind, value: shownTrial(row.doc, experiment, config) } : null;
  }
  if (kind === "project") {
    const workspace = await backend.get("workspace", scope);
    return (row) =>
      row.kind === kind ? { case: kind, value: shownProject(row.doc, workspace) } : null;
  }
  return shownAlone;
}

const shownAlone: Shower = (row) => {
  switch (row.kind) {
    case "experiment":
      return { case: row.kind, value: shownExperiment(row.doc) };
    case "checkpoint":
      return { case: row.kind, value: shownCheckpoint(row.doc) };
    case "model":
      return { case: row.kind, value: shownModel(row.doc) };
    case "agent":
      return { case: row.kind, value: shownAgent(row.doc) };
    case "job":
      return { case: row.kind, value: shownJob(row.doc, 0) };
    case "task":
      return { case: row.kind, value: shownTask(row.doc) };
    case "workspace":
      return { case: row.kind, value: shownWorkspace(row.doc) };
    default:
      return null;
  }
};
