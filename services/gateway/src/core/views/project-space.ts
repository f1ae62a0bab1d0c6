import type { Projections } from "./projections.ts";

export const spaceProjections: Projections = {
  WorkspaceCreated({ id, data, timeMs }, documents) {
    const { name, description, notes, by: createdBy } = data;
    const words = { name, description, notes, createdBy, createdAtMs: timeMs };
    const doc = { ...words, archived: false, revision: 0 };
    documents.put({ kind: "workspace", id, parent: "", ordinal: timeMs, doc });
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
