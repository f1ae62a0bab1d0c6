/** Files of cases: what they look like, and what comes of running one through the product's own code. */
import { readFileSync } from "node:fs";
import { expconfDifference } from "./expconf-case.ts";
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
  /** What is not as the case says; null when all is. */
  readonly difference: string | null;
};
export type CaseRun = {
  readonly outcomes: readonly Outcome[];
  /** Sections of the file that nothing here runs, each with the number of its cases. */
  readonly unknown: readonly { readonly section: string; readonly cases: number }[];
};

type Fields = Readonly<Record<string, unknown>>;
export type Case = Fields & { readonly id: string };

/** Throws where the file cannot be read or is no file of cases. */
export function readCases(file: string): Fields {
  const content: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new Error("it is not a mapping of sections");
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

/** Every list of cases in a file by the way to it: `cases`, `searcher.grid_size`. */
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
  const unknown: { section: string; cases: number }[] = [];
  for (const [section, cases] of sectionsOf(content)) {
    const check = checkOf(section);
    if (check === undefined) unknown.push({ section, cases: cases.length });
    else {
      for (const one of cases) {
        outcomes.push({ section, id: one.id, difference: differenceOf(check, one) });
      }
    }
  }
  return { outcomes, unknown };
}

/** A case that breaks the code has failed, and the others go on. */
function differenceOf(check: Check, one: Case): string | null {
  try {
    return check(one);
  } catch (error) {
    return `threw ${error instanceof Error ? error.message : String(error)}`;
  }
}
