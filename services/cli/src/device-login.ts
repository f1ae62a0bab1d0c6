/**
 * Signs in as a person who confirms a code in a browser (RFC 8628), of this machine or of another. The program asks
 * again until the person has answered or the code has expired; the token reaches no other program.
 */
import { hostname } from "node:os";
import { ApiError, type Client, Unreachable } from "@trainyard/client";
import type { ReplyOf } from "@trainyard/contracts";
import { pause } from "@trainyard/kernel";
import type { Login } from "./logins.ts";
import { cliVersion } from "./version.ts";

/** The seconds by which the interval grows when the gateway asks for it (RFC 8628, section 3.5). */
const slowDownSeconds = 5;
/** The gateway takes no longer names of programs. */
const programCharactersMax = 100;

export async function deviceLogin(
  client: Client,
  url: string,
  note: (line: string) => void,
): Promise<Login> {
  const program = `yard ${cliVersion} on ${hostname()}`.slice(0, programCharactersMax);
  const started = await client.call("startDeviceLogin", { program });
  note(`open ${url}${started.path} in a browser, and confirm the code ${started.code}`);
  const { token, user } = await answered(client, started);
  return { url, token, user };
}

async function answered(
  client: Client,
  { secret, intervalSeconds, expiresAtMs }: ReplyOf<"startDeviceLogin">,
): Promise<ReplyOf<"finishDeviceLogin">> {
  for (let seconds = intervalSeconds; ; ) {
    await pause(client.clock, seconds * 1_000);
    try {
      return await client.call("finishDeviceLogin", { secret });
    } catch (error) {
      if (codeOf(error) === "slow_down") seconds += slowDownSeconds;
      else if (!isWorthAnotherQuestion(error) || client.clock.nowMs() > expiresAtMs) throw error;
    }
  }
}

const codeOf = (error: unknown): string => (error instanceof ApiError ? error.problem.code : "");

/** A gateway that restarts, too, is asked again. */
const isWorthAnotherQuestion = (error: unknown): boolean =>
  error instanceof Unreachable ||
  codeOf(error) === "authorization_pending" ||
  (error instanceof ApiError && error.problem.status >= 500);
