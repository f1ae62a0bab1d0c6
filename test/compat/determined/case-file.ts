/** Files of cases: their form, and the results of running them through the product's own code. */
import { readFileSync } from "node:fs";
import { expconfDifference } from "./expconf-case.ts";
import { isExpectation, NotRun, unreadFields } from "./expressible.ts";
import { fittingChecks } from "./fitting-cases.ts";
import { checkpointGcDifference } from "./gc-cases.ts";
import { halvingChecks } from "./halving-cases.ts";
import { provisionerChecks } from "./provisioner-cases.ts";
import { olderChecks, runChecks } from "./run-cases.ts";
import { schedulerChecks } from "./scheduler-cases.ts";
import { searcherChecks } from "./searcher-cases.ts";

export type Outcome = {
  readonly section: string;
  readonly id: string;
  /** The difference between the actual and the expected result; null for none. */
  readonly difference: string | null;
};
/** A case that asks for something that the code here cannot express. */
export type Unexpressed = {
  readonly section: string;
  readonly id: string;
  readonly reason: string;
};
export type CaseRun = {
  readonly outcomes: readonly Outcome[];
  readonly notRun: readonly Unexpressed[];
  /** Sections of the file that nothing here runs, each with the number of its cases. */
  readonly unknown: readonly { readonly section: string; readonly cases: number }[];
};

type Fields = Readonly<Record<string, unknown>>;
export type Case = Fields & { readonly id: string };

/** Throws if the file cannot be read or is not a file of cases. */
export function readCases(file: string): Fields {
  const content: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new Error("the file is not a mapping of sections");
  }
  return content as Fields;
}

function isCases(value: unknown): value is readonly Case[] {
  return Array.isArray(value) && value.length > 0 && value.every(isCase);
}

function isCase(value: unknown): value is Case {
  return (
    typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"
  );
}

/** Every list of cases in a file by its path: `cases`, `searcher.grid_size`. */
function sectionsOf(content: Fields, parent = ""): ReadonlyMap<string, readonly Case[]> {
  const sections = new Map<string, readonly Case[]>();
  for (const [key, value] of Object.entries(content)) {
    const name = parent === "" ? key : `${parent}.${key}`;
    if (isCases(value)) sections.set(name, value);
    else if (parent === "" && typeof value === "object" && value !== null) {
      for (const [inner, cases] of sectionsOf(value as Fields, name)) sections.set(inner, cases);
    }
  }
  return sections;
}

type Check = (one: Case) => string | null;

const checksOf: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  searcher: { ...searcherChecks, ...halvingChecks, ...runChecks },
  searcher_legacy: olderChecks,
  scheduler: { ...schedulerChecks, ...fittingChecks },
  provisioner: provisionerChecks,
};

function checkOf(section: string): Check | undefined {
  if (section === "cases") return expconfDifference;
  if (section === "checkpoint_gc") return checkpointGcDifference;
  const [top = "", name = ""] = section.split(".");
  const checks = Object.hasOwn(checksOf, top) ? (checksOf[top] ?? {}) : {};
  return Object.hasOwn(checks, name) ? checks[name] : undefined;
}

export function runCases(content: Fields): CaseRun {
  const outcomes: Outcome[] = [];
  const notRun: Unexpressed[] = [];
  const unknown: { section: string; cases: number }[] = [];
  for (const [section, cases] of sectionsOf(content)) {
    const check = checkOf(section);
    if (check === undefined) unknown.push({ section, cases: cases.length });
    else {
      for (const one of cases) {
        const { id } = one;
        const result = resultOf(section, check, one);
        if (typeof result === "string" || result === null) {
          outcomes.push({ section, id, difference: result });
        } else notRun.push({ section, id, reason: result.notRun });
      }
    }
  }
  return { outcomes, notRun, unknown };
}

type Result = string | null | { readonly notRun: string };

/** A field that the check does not read is ignored unless it is an expectation, or the case fails without it. */
function resultOf(section: string, check: Check, one: Case): Result {
  const unread = unreadFields(section, one);
  const expectation = unread.find(isExpectation);
  if (expectation !== undefined) return { notRun: `nothing here reads ${expectation}` };
  const result = checked(check, one);
  return typeof result === "string" && unread.length > 0
    ? { notRun: `nothing here reads ${unread.join(", ")}` }
    : result;
}

/** A case that makes the code throw has failed, and the others run. */
function checked(check: Check, one: Case): Result {
  try {
    return check(one);
  } catch (error) {
    if (error instanceof NotRun) return { notRun: error.message };
    return `threw ${error instanceof Error ? error.message : String(error)}`;
  }
}
