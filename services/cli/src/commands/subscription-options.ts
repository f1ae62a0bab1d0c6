/** The options of subscriptions and webhooks, and the parts of a request that they make. */
import { readFileSync } from "node:fs";
import type { Plain } from "@trainyard/contracts";
import type { WebhookSettings } from "@trainyard/contracts/events";
import { type Command, Option } from "commander";
import { callerPath } from "../environment.ts";
import { collect, millisecondsOf, timeOf } from "../option-values.ts";
import { UsageError } from "../usage-error.ts";

export type FilterOptions = {
  readonly type?: readonly string[];
  readonly object?: string;
  readonly id?: string;
  readonly experiment?: string;
  readonly workspace?: string;
  readonly label?: string;
  readonly where?: readonly string[];
};

/** A filter of a request, whose lists may be changed. */
export type FilterRequest = {
  types: string[];
  object: string;
  id: string;
  experiment: string;
  workspace: string;
  label: string;
  where: string[];
};

export type StartOptions = { readonly after?: string; readonly since?: string };

export type ExpiryOptions = { readonly expiresAfter?: string };

export type SecretOptions = { readonly secretFile?: string };

export type WebhookOptions = {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly format?: string;
  readonly logPattern?: string;
  readonly queueWait?: string;
  readonly namedOnly?: boolean;
};

export function addFilterOptions(command: Command): Command {
  return command
    .option(
      "--type <name>",
      "only this type, ExperimentEnded for example; may be repeated",
      collect,
    )
    .option("--object <kind>", "only events of this kind of object: experiment, trial, run, …")
    .option("--id <id>", "only events of the object with this id: 12, 12.3, 12.3#1, …")
    .option("--experiment <id>", "only events of this experiment, its search, trials and runs")
    .option("--workspace <workspace>", "only events of the experiments in this workspace")
    .option("--label <label>", "only events of the experiments with this label")
    .option("--where <condition>", "only bodies with FIELD=VALUE; may be repeated", collect);
}

export function addStartOptions(command: Command): Command {
  return command
    .option(
      "--after <place>",
      "begin after this id of an event stream or log position; now if absent",
    )
    .option("--since <time>", "begin at this time: 10m (ago), or 2026-11-22T10:00:00Z");
}

export function addWebhookOptions(command: Command): Command {
  return command
    .option("--header <header>", '"Name: value" to send with each event; may be repeated', collect)
    .addOption(
      new Option("--format <format>", "the form of the body").choices([
        ...["standard", "slack", "discord", "determined"],
      ]),
    )
    .option("--log-pattern <regex>", "once for each run and node with a log line that matches")
    .option(
      "--queue-wait <duration>",
      "once for each run that waits for its slots for longer: 10m, 2h; never",
    )
    .option("--named-only", "only experiments whose configuration names the webhook");
}

/** Returns the filter of the options, or null if they have no part of one. */
export function filterOf(options: FilterOptions): FilterRequest | null {
  const { type, object, id, experiment, workspace, label, where } = options;
  const parts = [type, object, id, experiment, workspace, label, where];
  if (parts.every((part) => part === undefined)) return null;
  return {
    ...{ types: [...(type ?? [])], object: object ?? "", id: id ?? "" },
    ...{ experiment: experiment ?? "", label: label ?? "", where: [...(where ?? [])] },
    workspace: workspace ?? "",
  };
}

/** Returns the start of a new subscription. */
export function startOf({ after = "", since }: StartOptions): {
  readonly after: string;
  readonly fromMs?: number;
} {
  if (since === undefined) return { after };
  if (after !== "")
    throw new UsageError("--after and --since exclude each other: give one of them.");
  return { after: "", fromMs: timeOf("--since", since) };
}

export function expiryOf({ expiresAfter }: ExpiryOptions): { readonly expiresAfterMs?: number } {
  if (expiresAfter === undefined) return {};
  if (expiresAfter === "never") return { expiresAfterMs: 0 };
  return { expiresAfterMs: millisecondsOf("--expires-after", expiresAfter) };
}

/** Returns the settings of a webhook: those of `present`, with what the options change. */
export function settingsOf(
  options: WebhookOptions,
  present: Plain<WebhookSettings> = { format: "standard", logPattern: "", namedOnly: false },
): Plain<WebhookSettings> {
  const { format, logPattern, queueWait, namedOnly } = options;
  const { queueWaitMs, ...others } = present;
  return {
    ...others,
    ...(format === undefined ? {} : { format }),
    ...(logPattern === undefined ? {} : { logPattern }),
    ...waitOf(queueWait, queueWaitMs),
    ...(namedOnly === undefined ? {} : { namedOnly }),
  };
}

function waitOf(text: string | undefined, present: number | undefined) {
  if (text === "never") return {};
  const queueWaitMs = text === undefined ? present : millisecondsOf("--queue-wait", text);
  return queueWaitMs === undefined ? {} : { queueWaitMs };
}

export function changesSettings(options: WebhookOptions): boolean {
  const { format, logPattern, queueWait, namedOnly } = options;
  return [format, logPattern, queueWait, namedOnly].some((one) => one !== undefined);
}

/** Returns the headers of `--header`. A header with nothing after its colon has an empty value. */
export function headersOf({ header = [] }: WebhookOptions): Record<string, string> {
  const entries = header.map((one): readonly [string, string] => {
    const colon = one.indexOf(":");
    if (colon < 1) {
      throw new UsageError(`--header takes "Name: value", and one that was given has no name.`);
    }
    return [one.slice(0, colon).trim(), one.slice(colon + 1).trim()];
  });
  return Object.fromEntries(entries);
}

/** Returns the secret of a file, or an empty text: then the platform draws one. */
export function secretOf({ secretFile }: SecretOptions): string {
  if (secretFile === undefined) return "";
  try {
    return readFileSync(callerPath(secretFile), "utf8").trim();
  } catch {
    throw new UsageError(`--secret-file: ${secretFile} cannot be read.`);
  }
}
