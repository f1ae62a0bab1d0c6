/** Checks what a person says about a webhook. A refusal is one sentence and repeats no secret. */
import { validateHeaderName, validateHeaderValue } from "node:http";
import type { Plain } from "@trainyard/contracts";
import type { WebhookSettings } from "@trainyard/contracts/events";
import { logPatternProblem } from "@trainyard/experiment-config";
import { isLine, type Rejection, reject } from "@trainyard/kernel";
import { feedsLimits } from "../../limits.ts";
import type { WebhookFormat } from "./format.ts";

/** The headers that connections and formats set themselves. */
const reserved =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|user-agent|webhook-.*|x-determined-ai-.*)$/;

/** Returns the present headers with the new ones, of which an empty one is removed. */
export function checkHeaders(
  given: Readonly<Record<string, string>>,
  present: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | Rejection {
  const { webhookHeadersMax, webhookHeaderCharactersMax: most } = feedsLimits;
  const headers = new Map(Object.entries(present));
  for (const [text, value] of Object.entries(given)) {
    const name = text.toLowerCase();
    if (!isValid(() => validateHeaderName(name))) {
      return invalid(`"${text}" is not the name of a header`);
    }
    if (reserved.test(name)) return invalid(`the header ${name} is set by the platform`);
    if (!isValid(() => validateHeaderValue(name, value)) || value.length > most) {
      return invalid(
        `the value of the header ${name} must be one line of at most ${most} characters`,
      );
    }
    if (value === "") headers.delete(name);
    else headers.set(name, value);
  }
  if (headers.size > webhookHeadersMax) {
    return invalid(`a webhook has at most ${webhookHeadersMax} headers of its own`);
  }
  return Object.fromEntries(headers);
}

/** Returns why the settings are refused; null if they are not. */
export function checkSettings(
  formatNames: readonly string[],
  format: string,
  settings: Plain<WebhookSettings> | undefined,
): Rejection | null {
  if (!formatNames.includes(format)) {
    return invalid(
      `"${format}" is not a format of webhooks: it is one of ${formatNames.join(", ")}`,
    );
  }
  if (settings === undefined) return null;
  const { logPattern, queueWaitMs } = settings;
  const problem = logPattern === "" ? null : logPatternProblem(logPattern);
  if (problem !== null) return invalid(`log_pattern ${problem}`);
  if (queueWaitMs !== undefined && !(queueWaitMs > 0)) {
    return invalid("queue_wait_ms must be a duration above 0");
  }
  return null;
}

/** Returns why a secret cannot sign in a format; null if it can, and for none. */
export function checkSecret(format: WebhookFormat, secret: string): Rejection | null {
  const { webhookSecretCharactersMax: most } = feedsLimits;
  if (secret === "") return null;
  if (!isLine(secret) || secret.length > most) {
    return invalid(`the secret must be one line of at most ${most} characters`);
  }
  const problem = format.checkSecret(secret);
  return problem === null ? null : invalid(problem);
}

function isValid(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false; // Node throws for each invalid name and value.
  }
}

const invalid = (detail: string): Rejection => reject("invalid_request", detail);
