import type { Plain } from "@trainyard/contracts";
import type { ModelAliasMove } from "@trainyard/contracts/api";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { parseTrialId } from "@trainyard/kernel";
import { type DocumentSet, type VersionDocument, versionKey } from "./documents.ts";
import type { Projections } from "./projections.ts";

export const modelProjections: Projections = {
  ModelCreated({ id, data, timeMs }, documents) {
    const { description, notes, labels, metadata = {}, workspace, by } = data;
    documents.put({
      kind: "model",
      id,
      parent: "",
      ordinal: timeMs,
      doc: {
        name: id,
        description,
        notes,
        labels,
        metadata,
        workspace,
        createdBy: by,
        createdAtMs: timeMs,
        changedAtMs: timeMs,
        archived: false,
        versions: 0,
        latestNumber: 0,
        aliases: {},
        moves: 0,
      },
    });
  },
  ModelDescribed({ id, data, timeMs }, documents) {
    const { description, notes, labels, metadata = {} } = data;
    const words = { description, notes, labels, metadata };
    documents.update("model", id, () => ({ ...words, changedAtMs: timeMs }));
  },
  ModelArchived({ id, timeMs }, documents) {
    documents.update("model", id, () => ({ archived: true, changedAtMs: timeMs }));
  },
  ModelUnarchived({ id, timeMs }, documents) {
    documents.update("model", id, () => ({ archived: false, changedAtMs: timeMs }));
  },
  ModelMoved({ id, data, timeMs }, documents) {
    const { workspace } = data;
    documents.update("model", id, () => ({ workspace, changedAtMs: timeMs }));
  },
  VersionRegistered({ id, data, timeMs }, documents) {
    const { number, trial, run, step } = data;
    const { uploadedBy, task } = documents.get("checkpoint", data.checkpoint) ?? {};
    documents.update("model", id, (doc) => ({
      versions: doc.versions + 1,
      latestNumber: number,
      changedAtMs: timeMs,
    }));
    documents.put({
      kind: "version",
      id: versionKey(id, number),
      parent: id,
      ordinal: number,
      doc: {
        model: id,
        number,
        semanticVersion: data.semanticVersion,
        aliases: [],
        checkpoint: data.checkpoint,
        trial,
        run,
        stepsCompleted: step,
        metrics: data.metrics,
        ...lineageOf(trial, documents),
        ...(uploadedBy === undefined ? {} : { uploadedBy }),
        ...(task === undefined ? {} : { task }),
        description: data.description,
        notes: data.notes,
        labels: data.labels,
        metadata: data.metadata ?? {},
        registeredBy: data.by,
        registeredAtMs: timeMs,
        state: "REGISTERED",
        reason: "",
      },
    });
    const version = { model: id, number, run, step };
    documents.update("trial", trial, ({ versions }) => ({ versions: [...versions, version] }));
  },
  VersionDescribed({ id, data, timeMs }, documents) {
    const { number, description, notes, labels, metadata = {} } = data;
    const words = { description, notes, labels, metadata };
    documents.update("version", versionKey(id, number), () => words);
    documents.update("model", id, () => ({ changedAtMs: timeMs }));
  },
  VersionRemoved({ id, data, timeMs }, documents) {
    const { number, reason } = data;
    documents.update("version", versionKey(id, number), () => ({ state: "REMOVED", reason }));
    documents.update("model", id, ({ versions }) => ({
      versions: versions - 1,
      changedAtMs: timeMs,
    }));
  },
  AliasMoved({ id, data, timeMs }, documents) {
    const { alias, number, fromNumber, reason, by } = data;
    documents.update("model", id, ({ aliases }) => ({ aliases: { ...aliases, [alias]: number } }));
    changeAliases(documents, id, fromNumber, (aliases) => aliases.filter((one) => one !== alias));
    changeAliases(documents, id, number, (aliases) => [...aliases, alias].toSorted());
    recordMove(documents, id, { alias, number, fromNumber, reason, by, atMs: timeMs });
  },
  AliasRemoved({ id, data, timeMs }, documents) {
    const { alias, number, reason, by } = data;
    documents.update("model", id, ({ aliases: { [alias]: _removed, ...aliases } }) => ({
      aliases,
    }));
    changeAliases(documents, id, number, (aliases) => aliases.filter((one) => one !== alias));
    recordMove(documents, id, { alias, number: 0, fromNumber: number, reason, by, atMs: timeMs });
  },
  ValidationReported({ data }, documents) {
    const { trial, run, step, scalars } = data;
    for (const version of documents.get("trial", trial)?.versions ?? []) {
      if (version.run !== run || version.step !== step) continue;
      documents.update("version", versionKey(version.model, version.number), ({ metrics }) => ({
        metrics: { ...metrics, ...scalars },
      }));
    }
  },
};

type Lineage = Pick<
  VersionDocument,
  "experiment" | "hyperparameters" | "data" | "codeDigest" | "searcherMetric" | "smallerIsBetter"
>;

/** Returns the origin of a checkpoint: the facts of its trial and experiment from their creation. */
function lineageOf(trialId: string, documents: DocumentSet): Lineage {
  const experimentId = parseTrialId(trialId)?.experiment ?? "";
  const hyperparameters = documents.get("trial", trialId)?.hyperparameters;
  const experiment = documents.get("experiment", experimentId);
  const config = documents.get("config", experimentId)?.config;
  const data = config === undefined ? {} : recordedConfig(config).data;
  return {
    experiment: experimentId,
    codeDigest: experiment?.contextDigest ?? "",
    searcherMetric: experiment?.metric ?? "",
    smallerIsBetter: experiment?.smallerIsBetter ?? true,
    ...(hyperparameters === undefined ? {} : { hyperparameters }),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
}

function changeAliases(
  documents: DocumentSet,
  model: string,
  number: number,
  change: (aliases: readonly string[]) => readonly string[],
): void {
  documents.update("version", versionKey(model, number), ({ aliases }) => ({
    aliases: change(aliases),
  }));
}

function recordMove(documents: DocumentSet, model: string, move: Plain<ModelAliasMove>): void {
  const moves = (documents.get("model", model)?.moves ?? 0) + 1;
  documents.update("model", model, () => ({ moves, changedAtMs: move.atMs }));
  const id = versionKey(model, moves);
  documents.put({ kind: "aliasMove", id, parent: model, ordinal: moves, doc: move });
}
