/** Sentences about the outcome, or the preview, of an action on several experiments. */
import type { ExperimentAction } from "@trainyard/contracts/api";
import type { Plain } from "@trainyard/contracts";

export type Action = {
  readonly verb:
    | "pause"
    | "activate"
    | "continue"
    | "cancel"
    | "kill"
    | "archive"
    | "unarchive"
    | "delete";
  readonly title: string;
  /** The verb in the past tense. */
  readonly done: string;
  /** One sentence that explains the action. */
  readonly means: string;
  /** The action ends or removes work, so the number of experiments must be typed to confirm it. */
  readonly danger: boolean;
};

export const actions: readonly Action[] = [
  {
    verb: "pause",
    title: "Pause",
    done: "paused",
    means: "Their trials stop after a checkpoint; activate continues them.",
    danger: false,
  },
  {
    verb: "activate",
    title: "Activate",
    done: "activated",
    means: "They run, or continue after a pause.",
    danger: false,
  },
  {
    verb: "continue",
    title: "Continue",
    done: "continued",
    means: "Experiments that have ended retry their failed and canceled trials.",
    danger: false,
  },
  {
    verb: "cancel",
    title: "Cancel",
    done: "canceled",
    means: "They end, their trials after a checkpoint.",
    danger: true,
  },
  {
    verb: "kill",
    title: "Kill",
    done: "killed",
    means: "They end, their trials at once, without a checkpoint.",
    danger: true,
  },
  {
    verb: "archive",
    title: "Archive",
    done: "archived",
    means: "Lists leave them out; only experiments that have ended.",
    danger: false,
  },
  {
    verb: "unarchive",
    title: "Unarchive",
    done: "taken back into lists",
    means: "Lists show them again.",
    danger: false,
  },
  {
    verb: "delete",
    title: "Delete",
    done: "deleted",
    means:
      "Their checkpoints, metrics and logs are removed after a time of grace, in which Deleted experiments brings them back.",
    danger: true,
  },
];

export type Outcome = Pick<Plain<ExperimentAction>, "experiment" | "outcome" | "detail">;

export type Summary = {
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** The refused experiments, grouped by the server's reason. */
  readonly refused: readonly { readonly detail: string; readonly experiments: readonly string[] }[];
};

export function summaryOf(items: readonly Outcome[]): Summary {
  const of = (outcome: string) => items.filter((item) => item.outcome === outcome);
  const ids = (some: readonly Outcome[]) => some.map(({ experiment }) => experiment);
  // A reason contains its experiment's id: equal reasons for several experiments are one line.
  const reasons = Map.groupBy(of("refused"), ({ experiment, detail }) =>
    detail.replace(new RegExp(`\\bexperiment ${experiment}\\b`), "it"),
  );
  return {
    changed: ids(of("changed")),
    unchanged: ids(of("unchanged")),
    refused: [...reasons].map(([detail, some]) => ({ detail, experiments: ids(some) })),
  };
}

/** Returns "1 experiment" or "3 experiments". */
export const experiments = (count: number): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? "experiment" : "experiments"}`;

/** Returns a text such as "3 experiments paused, 1 needed no change, 2 were refused." */
export function outcomeText({ done }: Pick<Action, "done">, summary: Summary): string {
  const { changed, unchanged, refused } = summary;
  const refusals = refused.reduce((sum, one) => sum + one.experiments.length, 0);
  const parts = [
    `${experiments(changed.length)} ${done}`,
    ...(unchanged.length === 0 ? [] : [`${unchanged.length} needed no change`]),
    ...(refusals === 0 ? [] : [`${refusals} ${was(refusals)} refused`]),
  ];
  return `${parts.join(", ")}.`;
}

const was = (count: number): string => (count === 1 ? "was" : "were");
