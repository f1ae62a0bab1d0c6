import type { Plain } from "@trainyard/contracts";
import { LinePageSchema, type QueryLines, QueryLinesSchema } from "@trainyard/contracts/commands";
import { isExperimentId, parseTrialId, type Rejection, reject } from "@trainyard/kernel";
import { type CommandSpec, command } from "@trainyard/runtime";
import { beginning, isCursor } from "../core/cursor.ts";
import { fittingFirst, fittingLast } from "../core/page.ts";
import { logsLimits } from "../limits.ts";
import type { LineQuery, LineTable } from "./line-table.ts";
import { encodedBytes, storedLine } from "./stored-line.ts";

export function queryCommands(table: LineTable): Readonly<Record<string, CommandSpec>> {
  return {
    QueryLines: command(QueryLinesSchema, LinePageSchema, async (asked) => {
      const task = taskOf(asked.task);
      if ("rejected" in task) return task;
      const after = asked.after === "" ? beginning : asked.after;
      if (!isCursor(after)) {
        return reject("invalid_request", `${after} is not a cursor of a page of lines`, [
          { path: "after", detail: "is not a cursor" },
        ]);
      }
      if ((asked.contains ?? "").length > logsLimits.containsCharactersMax) {
        const detail = `is more than ${logsLimits.containsCharactersMax} characters`;
        return reject("invalid_request", `contains ${detail}`, [{ path: "contains", detail }]);
      }
      return answer(table, asked, { ...task, after });
    }),
  };
}

type Task = Pick<LineQuery, "experiment" | "trial">;

function taskOf(task: string): Task | Rejection {
  if (isExperimentId(task)) return { experiment: task, trial: null };
  const trial = parseTrialId(task);
  if (trial !== null) return { experiment: trial.experiment, trial: task };
  return reject("invalid_request", `${task} is neither a trial nor an experiment`, [
    { path: "task", detail: "is a trial's id, as 12.3, or an experiment's, as 12" },
  ]);
}

async function answer(
  table: LineTable,
  asked: Plain<QueryLines>,
  { after, ...task }: Task & { readonly after: string },
) {
  const fromEnd = asked.tail > 0;
  const limit = (fromEnd ? asked.tail : asked.limit) || logsLimits.linesPerPageMax;
  const { rows, more } = await table.select({
    ...task,
    run: asked.run ?? null,
    nodeRank: asked.nodeRank ?? null,
    source: asked.source ?? null,
    contains: asked.contains ?? null,
    from: fromEnd ? "end" : { after },
    limit: Math.min(limit, logsLimits.linesPerPageMax),
  });
  const found = rows.map(storedLine);
  const fitting = fromEnd ? fittingLast : fittingFirst;
  const lines = fitting(found, encodedBytes, logsLimits.pageBytesMax);
  // After the last lines there are no more, whatever is before them.
  return { lines, more: !fromEnd && (more || lines.length < found.length) };
}
