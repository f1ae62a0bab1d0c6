import { readFileSync } from "node:fs";
import { Fault } from "@trainyard/kernel";
import type { z } from "zod";
import { wrongSettings } from "./failed-start.ts";

/**
 * Returns the process's variables, over those in the file that TRAINYARD_ENV_FILE names (KEY=VALUE lines, # for
 * comments). TRAINYARD_NATS_PASSWORD may be in a file of its own, where several processes have one description.
 */
export function readEnvironment(): Readonly<Record<string, string>> {
  const file = process.env["TRAINYARD_ENV_FILE"];
  const fromFile = file === undefined ? {} : parseEnvFile(readFileSync(file, "utf8"));
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const variables = { ...fromFile, ...Object.fromEntries(own) };
  const passwordFile = variables["TRAINYARD_NATS_PASSWORD_FILE"] ?? "";
  return passwordFile === ""
    ? variables
    : { ...variables, TRAINYARD_NATS_PASSWORD: passwordIn(passwordFile) };
}

function passwordIn(file: string): string {
  const wrong = (why: string, cause?: unknown): Fault =>
    new Fault(wrongSettings, `TRAINYARD_NATS_PASSWORD_FILE: ${why}`, { retry: "never", cause });
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error), error);
  }
  if (text === "") throw wrong(`${file} is empty`);
  return text;
}

export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    if (at > 0 && !line.startsWith("#")) values[line.slice(0, at).trim()] = line.slice(at + 1);
  }
  return values;
}

/** Parses a service's configuration from its variables; throws a Fault that names each missing or wrong variable. */
export function parseEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string>>,
): z.output<Schema> {
  const parsed = schema.safeParse(environment, {
    error: ({ input }) => (input === undefined ? "is not set" : undefined),
  });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new Fault(wrongSettings, `environment variables are wrong: ${problems.join("; ")}`, {
    retry: "never",
  });
}
