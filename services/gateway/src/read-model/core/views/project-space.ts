import type { DocumentSet, WorkspaceDocument } from "./documents.ts";
import type { Projections } from "./projections.ts";

/** The name of the default workspace, and of the default project of each workspace. */
export const defaultSpace = "default";

/** Sorts the default workspace and project before all others, whose ordinals are their creation times. */
const firstOrdinal = 0;

const defaultDocument: WorkspaceDocument = {
  name: defaultSpace,
  description: "",
  notes: "",
  archived: false,
  createdBy: "",
  revision: 0,
};

/**
 * Returns the id of a project's document; the workspace is part of it, because each workspace has a default project.
 */
export const projectKey = (workspace: string, project: string): string =>
  project === defaultSpace ? `${workspace}/${defaultSpace}` : project;

/** Adds the default workspace and its default project, which exist before any event. */
export function addDefaultSpaces(documents: DocumentSet): void {
  const doc = defaultDocument;
  documents.put({ kind: "workspace", id: defaultSpace, parent: "", ordinal: firstOrdinal, doc });
  addDefaultProject(defaultSpace, documents);
}

function addDefaultProject(workspace: string, documents: DocumentSet): void {
  const id = projectKey(workspace, defaultSpace);
  const doc = defaultDocument;
  documents.put({ kind: "project", id, parent: workspace, ordinal: firstOrdinal, doc });
}

export const spaceProjections: Projections = {
  WorkspaceCreated({ id, data, timeMs }, documents) {
    const { name, description, notes, by: createdBy } = data;
    const words = { name, description, notes, createdBy, createdAtMs: timeMs };
    const doc = { ...words, archived: false, revision: 0 };
    documents.put({ kind: "workspace", id, parent: "", ordinal: timeMs, doc });
    addDefaultProject(id, documents);
  },
  WorkspaceDescribed({ id, data }, documents) {
    const { description, notes, revision } = data;
    documents.update("workspace", id, () => ({ description, notes, revision }));
  },
  WorkspaceArchived({ id }, documents) {
    documents.update("workspace", id, () => ({ archived: true }));
  },
  WorkspaceUnarchived({ id }, documents) {
    documents.update("workspace", id, () => ({ archived: false }));
  },
  ProjectCreated({ id, data, timeMs }, documents) {
    const { name, description, notes, by: createdBy, workspace: parent } = data;
    const words = { name, description, notes, createdBy, createdAtMs: timeMs };
    const doc = { ...words, archived: false, revision: 0 };
    documents.put({ kind: "project", id, parent, ordinal: timeMs, doc });
  },
  ProjectDescribed({ id, data }, documents) {
    const { description, notes, revision } = data;
    documents.update("project", id, () => ({ description, notes, revision }));
  },
  ProjectArchived({ id }, documents) {
    documents.update("project", id, () => ({ archived: true }));
  },
  ProjectUnarchived({ id }, documents) {
    documents.update("project", id, () => ({ archived: false }));
  },
};
