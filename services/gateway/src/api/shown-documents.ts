/** Documents of a list by their ids, as the API shows them. */
import type { Plain } from "@trainyard/contracts";
import type { WatchChange } from "@trainyard/contracts/api";
import type { ListSpec } from "../core/lists/list-spec.ts";
import type { DocumentRow } from "../core/views/documents.ts";
import type { Backend } from "../shell/backend.ts";
import { shownAgent, shownCheckpoint, shownExperiment, shownModel, shownTrial } from "./shown.ts";

type ShownDocument = {
  readonly id: string;
  readonly document: Plain<WatchChange>["document"];
};

/** Those that are there, in no order. `scope` is their experiment, of trials. */
export async function shownDocuments(
  backend: Backend,
  { kind }: ListSpec,
  scope: string,
  ids: readonly string[],
): Promise<readonly ShownDocument[]> {
  const { documents, pool } = backend.parts;
  const keys = ids.map((id) => ({ kind, id }));
  const rows = await documents.fetch(pool, keys);
  const trialOf = kind === "trial" && rows.length > 0 ? await trialShower(backend, scope) : null;
  return rows.flatMap((row) => {
    const document = shownDocument(row, trialOf);
    return document === null ? [] : [{ id: row.id, document }];
  });
}

type TrialShower = (row: DocumentRow<"trial">) => ReturnType<typeof shownTrial>;

async function trialShower(backend: Backend, scope: string): Promise<TrialShower> {
  const experiment = await backend.find("experiment", scope);
  const config = await backend.configOf(scope);
  return ({ doc }) => shownTrial(doc, experiment, config);
}

/** Null for what no list has. */
function shownDocument(
  row: DocumentRow,
  trialOf: TrialShower | null,
): ShownDocument["document"] | null {
  switch (row.kind) {
    case "experiment":
      return { case: row.kind, value: shownExperiment(row.doc) };
    case "trial":
      return trialOf === null ? null : { case: row.kind, value: trialOf(row) };
    case "checkpoint":
      return { case: row.kind, value: shownCheckpoint(row.doc) };
    case "model":
      return { case: row.kind, value: shownModel(row.doc) };
    case "agent":
      return { case: row.kind, value: shownAgent(row.doc) };
    default:
      return null;
  }
}
