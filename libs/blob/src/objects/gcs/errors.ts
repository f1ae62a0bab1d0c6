/** Translates errors of Google Cloud Storage and of the network to the port's Faults. */
import type { Fault } from "@trainyard/kernel";
import { away, bucketNotFound, credentialsMissing, refused } from "../faults.ts";

export type Failing = {
  readonly address: string;
  readonly bucket: string;
  /** A verb and its object: "read a/b". */
  readonly doing: string;
  /** The permission that the operation needs, in the notation of IAM roles. */
  readonly right: string;
};

/** An error response; `reason` is empty if the store sent none. */
type Refusal = { readonly status: number; readonly reason: string; readonly said: string };

/** Parses the error text of a JSON API response. */
export function refusalOf(status: number, text: string): Refusal {
  try {
    const { error } = JSON.parse(text) as {
      error?: { message?: string; errors?: readonly { reason?: string }[] };
    };
    return { status, reason: error?.errors?.[0]?.reason ?? "", said: error?.message ?? "" };
  } catch {
    return { status, reason: "", said: text.slice(0, saidCharactersMax) };
  }
}

const saidCharactersMax = 500;
const rateLimits = ["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"];

function mayPass({ status, reason }: Refusal): boolean {
  return status >= 500 || status === 429 || status === 408 || rateLimits.includes(reason);
}

export function faultOfAnswer(refusal: Refusal, { address, bucket, doing, right }: Failing): Fault {
  const { status, reason, said } = refusal;
  const what = `${status} ${reason} ${said}`.replaceAll(/\s+/g, " ").trim();
  if (mayPass(refusal)) return away(address, doing, what);
  if (status === 404) return bucketNotFound(address, bucket);
  if (status === 401) return refused(address, doing, `the credentials are wrong (${said})`);
  if (status === 403) {
    const sentence = `the credentials have no right to do so (${right})`;
    return refused(address, doing, reason === "forbidden" ? sentence : `${sentence}: ${what}`);
  }
  return refused(address, doing, what);
}

/** Makes a Fault from an error while credentials are searched or used. */
export function faultOfCredentials(error: unknown, { address, doing }: Failing): Fault {
  const said = error instanceof Error ? error.message : String(error);
  const response = (error as { response?: { status?: number } } | null)?.response;
  if (response?.status !== undefined && response.status < 500 && response.status !== 429) {
    return refused(address, doing, `the credentials are wrong (${said})`, error);
  }
  if (response !== undefined || isOfNetwork(error)) return away(address, doing, said, error);
  return credentialsMissing(address, said, error);
}

function isOfNetwork(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  return /^(E[A-Z]+|UND_ERR_\w+|ENOTFOUND)$/.test(code);
}

/** Makes a Fault from a network error of a request to the store. */
export function faultOfNetwork(error: unknown, { address, doing }: Failing): Fault {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const isSilent = cause instanceof Error && /^(Timeout|Abort)Error$/.test(cause.name);
  const said = cause instanceof Error ? cause.message : String(cause);
  return away(address, doing, isSilent ? "it does not answer" : said, error);
}
