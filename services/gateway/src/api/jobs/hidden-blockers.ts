/** Hides the runs of others in the explanation of a job: they read as slots of another workspace. */
import type { Rights } from "@trainyard/access";
import type { ReplyOf } from "@trainyard/contracts";
import { parseRunId, parseTaskRunId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { DocumentKey } from "../../read-model/core/views/documents.ts";
import { anotherWorkspace, HiddenRuns } from "../rights/masks.ts";

type Explanation = ReplyOf<"explainJob">;

export async function maskedExplanation(
  backend: Backend,
  rights: Rights,
  explanation: Explanation,
): Promise<Explanation> {
  const { runs } = explanation;
  const texts = runs.flatMap(({ blockers, detail, limit, startsWhen }) => [
    ...blockers,
    ...[detail, limit, startsWhen],
  ]);
  const hidden = await HiddenRuns.among(backend, rights, texts);
  const blockers = new Set(runs.flatMap((run) => run.blockers.filter((one) => hidden.has(one))));
  const slots = await slotsOf(backend, [...blockers]);
  const shown = (run: string): string => {
    if (!hidden.has(run)) return run;
    const held = slots.get(run) ?? 0;
    return `${anotherWorkspace}, ${held} ${held === 1 ? "slot" : "slots"}`;
  };
  return {
    ...explanation,
    runs: runs.map((run) => ({
      ...run,
      blockers: run.blockers.map(shown),
      detail: hidden.masked(run.detail),
      limit: hidden.masked(run.limit),
      startsWhen: hidden.masked(run.startsWhen),
    })),
  };
}

/** Returns how many slots the runs hold, with one query. */
async function slotsOf(
  { parts }: Backend,
  runs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const keys = runs.flatMap((run): readonly DocumentKey[] => {
    const trial = parseRunId(run)?.trial;
    const task = parseTaskRunId(run)?.task;
    if (trial !== undefined) return [{ kind: "trial", id: trial }];
    return task === undefined ? [] : [{ kind: "task", id: task }];
  });
  const rows = await parts.documents.fetch(parts.pool, keys);
  return new Map(
    rows.flatMap((row) =>
      row.kind === "trial" || row.kind === "task"
        ? row.doc.runs.map(({ id, placements }) => {
            const held = placements.reduce((sum, { slots }) => sum + slots.length, 0);
            return [id, held] as const;
          })
        : [],
    ),
  );
}
