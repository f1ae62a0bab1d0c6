/** Parses the body of a report request, or returns each problem with its path. */
import { codecOf, type Plain } from "@trainyard/contracts";
import { type RunReport, RunReportSchema } from "@trainyard/contracts/api";
import { type FieldProblem, type Rejection, reject } from "@trainyard/kernel";
import { type Aggregation, aggregations } from "./columns/table.ts";
import { asStored, type JsonObject, metricsText, numbersBytes } from "./values.ts";
import type { NewReport } from "./writes.ts";

export type ReportLimits = {
  readonly reportsPerRequestMax: number;
  readonly metricsBytesMax: number;
  readonly nameCharactersMax: number;
  readonly metricNameBytesMax: number;
  readonly namesPerReportMax: number;
  readonly systemValuesMax: number;
  readonly systemValueMax: number;
};

export const validationGroup = "validation";

const problemsMax = 16;
const codec = codecOf<Plain<RunReport>>(RunReportSchema);

export type ParsedReports = {
  readonly reports: readonly NewReport[];
  /** The invalid reports, if the request asks to refuse them alone. */
  readonly refused: readonly Refused[];
};

export type Refused = { readonly key: string; readonly reason: string };

/** Parses a request; `body` is its JSON. */
export function parseReports(body: unknown, limits: ReportLimits): ParsedReports | Rejection {
  const reports = listOf(body);
  const alone = isAlone(body);
  if (reports === null) {
    return invalid([{ path: "reports", detail: "must be a list of reports" }]);
  }
  if (reports.length > limits.reportsPerRequestMax) {
    const detail = `holds ${reports.length} reports; a request may have at most ${limits.reportsPerRequestMax}`;
    return reject("too_many_reports", `reports ${detail}`, [{ path: "reports", detail }]);
  }
  const problems: FieldProblem[] = [];
  const parsed: NewReport[] = [];
  const refused: Refused[] = [];
  for (const [index, json] of reports.entries()) {
    const own: FieldProblem[] = [];
    const report = parseReport(json, `reports[${index}]`, limits, own);
    const key = alone && own.length > 0 ? keyOf(json, limits) : null;
    if (report !== null) parsed.push(report);
    else if (key !== null) refused.push({ key, reason: reasonText(own) });
    else problems.push(...own);
    if (problems.length >= problemsMax) break;
  }
  return problems.length > 0
    ? invalid(problems.slice(0, problemsMax))
    : { reports: parsed, refused };
}

/** Returns the report's key, or null for a missing or invalid one: the report cannot be identified then. */
function keyOf(json: unknown, { nameCharactersMax }: ReportLimits): string | null {
  if (typeof json !== "object" || json === null) return null;
  const { key } = json as { readonly key?: unknown };
  return typeof key === "string" && isName(key, nameCharactersMax) ? key : null;
}

/** Describes the mistakes by their fields. */
const reasonText = (problems: readonly FieldProblem[]): string =>
  problems
    .map(({ path, detail }) => `${path.replace(/^reports\[\d+\]\.?/, "")} ${detail}`.trim())
    .join("; ");

function listOf(body: unknown): readonly unknown[] | null {
  if (typeof body !== "object" || body === null) return null;
  const { reports } = body as { readonly reports?: unknown };
  return Array.isArray(reports) ? reports : null;
}

/** Reads the option under both names that proto JSON allows. */
function isAlone(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  const { refuseAlone, refuse_alone: original } = body as Readonly<Record<string, unknown>>;
  return refuseAlone === true || original === true;
}

function invalid(problems: readonly FieldProblem[]): Rejection {
  const [first] = problems;
  return reject("invalid_request", `${first?.path} ${first?.detail}`, problems);
}

function parseReport(
  json: unknown,
  path: string,
  limits: ReportLimits,
  problems: FieldProblem[],
): NewReport | null {
  let report: Plain<RunReport>;
  let metrics: JsonObject;
  let text: string | null;
  let bytes: number;
  try {
    report = codec.fromJson(json as never); // The codec itself refuses what is not JSON of a report.
    metrics = report.metrics ?? {};
    const most = numbersBytes(metrics);
    text = most !== null && most <= limits.metricsBytesMax ? null : metricsText(metrics);
    bytes = text === null ? (most ?? 0) : utf8Length(text);
    if (text !== null) metrics = asStored(metrics);
  } catch (error) {
    // A report that is nested too deeply also fails here: writing it overflows the stack.
    problems.push({ path, detail: `cannot be parsed: ${reasonOf(error)}` });
    return null;
  }
  const found = [
    ...problemsOf(report, limits),
    ...(text === null ? [] : textProblemsOf(text, bytes, limits)),
  ];
  for (const { path: field, detail } of found) problems.push({ path: `${path}.${field}`, detail });
  if (found.length > 0) return null;
  return {
    key: report.key,
    group: report.group,
    step: report.stepsCompleted,
    atMs: report.atMs,
    metrics,
    bytes,
    rank: report.rank,
    aggregation: aggregationOf(report.aggregation) ?? "mean",
    system: report.system ?? null,
  };
}

/** Returns undefined for an unknown name. */
function aggregationOf(name: string): Aggregation | undefined {
  return name === "" ? "mean" : aggregations.find((known) => known === name);
}

/** The innermost cause has the decoder's message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function problemsOf(report: Plain<RunReport>, limits: ReportLimits): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const claim = (holds: boolean, path: string, detail: string): void => {
    if (!holds) problems.push({ path, detail });
  };
  const { metrics, stepsCompleted, atMs } = report;
  const names = `is 1 to ${limits.nameCharactersMax} characters without control characters`;
  claim(isName(report.key, limits.nameCharactersMax), "key", names);
  claim(isName(report.group, limits.nameCharactersMax), "group", names);
  claim(
    Number.isFinite(stepsCompleted) && stepsCompleted >= 0,
    "stepsCompleted",
    "is a number of 0 or more",
  );
  claim(Number.isFinite(atMs), "atMs", "is milliseconds since 1970");
  claim(
    metrics === undefined || (typeof metrics === "object" && !Array.isArray(metrics)),
    "metrics",
    "is an object of names and values",
  );
  claim(
    aggregationOf(report.aggregation) !== undefined,
    "aggregation",
    `is one of ${aggregations.join(", ")}`,
  );
  const metricNames = Object.keys(metrics ?? {});
  claim(
    metricNames.length <= limits.namesPerReportMax,
    "metrics",
    `has more than ${limits.namesPerReportMax} names`,
  );
  claim(
    metricNames.every((name) => hasBytes(name, limits.metricNameBytesMax)),
    "metrics",
    `has a name of more than ${limits.metricNameBytesMax} bytes`,
  );
  if (report.system !== undefined) problems.push(...systemProblemsOf(report, limits));
  return problems;
}

/** Finds the problems of a report's metrics, which are JSON text. */
function textProblemsOf(
  text: string,
  bytes: number,
  { metricsBytesMax }: ReportLimits,
): readonly FieldProblem[] {
  const wrong = [
    text.includes("\\u") && unstorable.test(text)
      ? "contains the character U+0000 or half a character, which cannot be stored"
      : "",
    bytes > metricsBytesMax ? `is more than ${metricsBytesMax} bytes` : "",
  ];
  return wrong.filter((detail) => detail !== "").map((detail) => ({ path: "metrics", detail }));
}

function systemProblemsOf(
  { system, metrics }: Plain<RunReport>,
  { nameCharactersMax, systemValuesMax, systemValueMax }: ReportLimits,
): readonly FieldProblem[] {
  if (system === undefined) return [];
  const { device, samples, values } = system;
  const size = (value: number): boolean => Math.abs(value) <= systemValueMax;
  const wrong = [
    Object.keys(metrics ?? {}).length > 0 ? "comes with metrics; a report holds one of them" : "",
    device !== "" && !isName(device, nameCharactersMax) ? "has an invalid device name" : "",
    samples < 1 || samples >= 2 ** 31 ? "has no samples, or too many" : "",
    values.length < 1 || values.length > systemValuesMax
      ? `has ${values.length} values, not 1 to ${systemValuesMax}`
      : "",
    new Set(values.map(({ name }) => name)).size < values.length ? "names a value twice" : "",
    values.every(({ name }) => isName(name, systemNameCharactersMax))
      ? ""
      : "has a value without a name, or with too long a one",
    values.every(({ min, mean, max }) => size(min) && size(mean) && size(max))
      ? ""
      : `has a value that is not a number of at most ${systemValueMax} in size`,
  ];
  return wrong.filter((detail) => detail !== "").map((detail) => ({ path: "system", detail }));
}

/** A system metric's name is a quantity with its unit. */
const systemNameCharactersMax = 64;

/**
 * Matches JSON text that jsonb rejects: the escape of U+0000, or of a lone surrogate (only lone ones are escaped). Read
 * models store names as jsonb. An even run of backslashes before the u is an escaped backslash, followed by plain text.
 */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function isName(name: string, charactersMax: number): boolean {
  if (name.length === 0 || !name.isWellFormed()) return false;
  // A character takes one or two UTF-16 units.
  if (name.length > charactersMax && [...name].length > charactersMax) return false;
  // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
  return !/[\u0000-\u001f\u007f]/.test(name);
}

/** Reports whether the text has at most `most` bytes in UTF-8. One UTF-16 unit takes at most three. */
const hasBytes = (text: string, most: number): boolean =>
  text.length * 3 <= most || utf8Length(text) <= most;

/** The size of a text in UTF-8 bytes; the core has neither Buffer nor TextEncoder. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair counts two bytes, so the pair counts four.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}
