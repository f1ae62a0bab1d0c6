/** The options that select events, for streams of events and subscriptions. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventFilterSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { collect } from "../option-values.ts";

export type FilterOptions = {
  readonly type?: readonly string[];
  readonly object?: string;
  readonly id?: string;
  readonly experiment?: string;
  readonly workspace?: string;
  readonly label?: string;
  readonly where?: readonly string[];
};

export function addFilterOptions(command: Command): Command {
  return command
    .option(
      "--type <name>",
      "only this type, ExperimentEnded for example; may be repeated",
      collect,
    )
    .option("--object <kind>", "only of this kind: experiment, trial, run, checkpoint, …")
    .option("--id <id>", "only of this object of the kind")
    .option("--experiment <id>", "only of this experiment, its search, trials and runs")
    .option("--workspace <id>", "only of experiments that are in this workspace by then")
    .option("--label <label>", "only of experiments that have this label by then")
    .option(
      "--where <field=value>",
      "only with this value of a field, outcome=FAILED for example; may be repeated",
      collect,
    );
}

/** Whether an option of the filter is given. */
export function isFiltered(options: FilterOptions): boolean {
  return Object.values(filterOf(options)).some((part) => part.length > 0);
}

export function filterOf(options: FilterOptions) {
  const { object = "", id = "", experiment = "", workspace = "", label = "" } = options;
  const { type: types = [], where = [] } = options;
  const lists = { types: [...types], where: [...where] };
  return { ...lists, object, id, experiment, workspace, label } satisfies MessageInitShape<
    typeof EventFilterSchema
  >;
}
