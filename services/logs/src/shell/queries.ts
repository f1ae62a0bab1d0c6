import type { Plain } from "@trainyard/contracts";
import type { QueryLines } from "@trainyard/contracts/commands";
import {
  type FieldProblem,
  isExperimentId,
  isRejection,
  isTaskId,
  parseTrialId,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import { isCursor } from "../core/cursor.ts";
import { fittingFirst } from "../core/page.ts";
import { wordsOf } from "../core/words.ts";
import { logsLimits } from "../limits.ts";
import type { RetentionTable } from "./retention-table.ts";
import type { LineFinder, LineSearch } from "./line-search.ts";
import type { LineFilter } from "./line-table.ts";
import type { Patterns } from "./patterns.ts";
import { encodedBytes, storedLine } from "./stored-line.ts";

export function queryCommands(finder: LineFinder, kept: RetentionTable, patterns: Patterns) {
  return {
    QueryLines: async (asked) => {
      const search = await searchOf(asked, patterns);
      if (isRejection(search)) return search;
      const page = await answer(finder, search);
      // The epoch is read after the lines, so that lines of a restored table never come with the old epoch.
      const { epoch, removed } = await kept.about(search.filter.experiment);
      return { ...page, epoch, ...(removed === null ? {} : { removed }) };
    },
  } satisfies Partial<CommandTable<"logs">>;
}

async function searchOf(
  asked: Plain<QueryLines>,
  patterns: Patterns,
): Promise<LineSearch | Rejection> {
  const task = taskOf(asked.task);
  if (isRejection(task)) return task;
  const [problem] = await problemsOf(asked, patterns);
  if (problem !== undefined) {
    return reject("invalid_request", `${problem.path} ${problem.detail}`, [problem]);
  }
  const { after, before, tail, limit, matches, search } = asked;
  const backwards = tail > 0;
  return {
    filter: { ...task, ...conditionsOf(asked) },
    // The last lines do not depend on the cursor `after`.
    after: after === "" || backwards ? null : after,
    before: before === "" ? null : before,
    backwards,
    limit: Math.min(
      (backwards ? tail : limit) || logsLimits.linesPerPageMax,
      logsLimits.linesPerPageMax,
    ),
    matches: matches ?? null,
    words: wordsOf(search ?? ""),
  };
}

function conditionsOf(asked: Plain<QueryLines>): Omit<LineFilter, "experiment" | "trial"> {
  return {
    run: asked.run ?? null,
    nodeRank: asked.nodeRank ?? null,
    rank: asked.rank ?? null,
    source: asked.source ?? null,
    level: asked.level ?? null,
    fromMs: asked.fromMs ?? null,
    untilMs: asked.untilMs ?? null,
    contains: asked.contains ?? null,
  };
}

async function problemsOf(
  asked: Plain<QueryLines>,
  patterns: Patterns,
): Promise<readonly FieldProblem[]> {
  const problems: FieldProblem[] = [];
  const { contains = "", matches = "", search = "" } = asked;
  for (const [path, cursor] of Object.entries({ after: asked.after, before: asked.before })) {
    if (cursor !== "" && !isCursor(cursor)) {
      problems.push({ path, detail: `is ${cursor}, which is not a line's cursor` });
    }
  }
  for (const [path, text] of Object.entries({ contains, matches, search })) {
    if (text.length > logsLimits.containsCharactersMax) {
      const detail = `is more than ${logsLimits.containsCharactersMax} characters`;
      problems.push({ path, detail });
    }
  }
  if (search !== "" && wordsOf(search).size === 0) {
    problems.push({ path: "search", detail: "has no word: write letters, digits or underscores" });
  }
  // An expression that is too long is not compiled.
  const isRead = problems.length === 0 && matches !== "";
  const wrong = isRead ? await patterns.problem(matches) : null;
  if (wrong !== null) {
    problems.push({ path: "matches", detail: `is not a valid RE2 expression: ${wrong}` });
  }
  return problems;
}

type Task = Pick<LineFilter, "experiment" | "trial">;

function taskOf(task: string): Task | Rejection {
  if (isExperimentId(task)) return { experiment: task, trial: null };
  const trial = parseTrialId(task);
  if (trial !== null) return { experiment: trial.experiment, trial: task };
  if (isTaskId(task)) return { experiment: task, trial: task };
  const detail =
    "must be the id of a trial, as 12.3, of an experiment, as 12, or of a task, as t12";
  return reject("invalid_request", `${task} is neither a trial, an experiment nor a task`, [
    { path: "task", detail },
  ]);
}

async function answer(finder: LineFinder, search: LineSearch) {
  const { rows, scannedTo, exhausted } = await finder.find(search);
  const found = rows.map(storedLine);
  const fitting = fittingFirst(found, encodedBytes, logsLimits.pageBytesMax);
  const isCut = fitting.length < found.length;
  const end = isCut ? (fitting.at(-1)?.cursor ?? null) : scannedTo;
  const isMore = isCut || !exhausted;
  if (search.backwards) {
    // No lines follow the last ones, so a backwards answer has no more.
    return { lines: fitting.toReversed(), more: false, next: isMore ? (end ?? "") : "" };
  }
  return { lines: fitting, more: isMore, next: end ?? search.after ?? "" };
}
