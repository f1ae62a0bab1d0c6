import process from "node:process";
import { parseArgs } from "node:util";
import { ApiError, Client, Unreachable } from "@trainyard/client";
import { Fault } from "@trainyard/kernel";
import { wrongSettings } from "@trainyard/runtime/failed-start";
import { tryWithAgent, tryWithoutAgent } from "./trials.ts";
import { freeAgent } from "./free-agent.ts";
import { Attempt, failed } from "./attempt.ts";

const defaultSeconds = 300;

/**
 * Tries a cluster: try [--timeout SECONDS] [--agent-within SECONDS]. It runs a small experiment where an agent has a
 * free slot, now or within the time, else it makes, reads and deletes one that never runs.
 */
export async function tryCluster(
  parameters: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      timeout: { type: "string", default: String(defaultSeconds) },
      "agent-within": { type: "string", default: "0" },
    },
  });
  const seconds = Number(values.timeout);
  if (!(seconds > 0)) throw wrong(`--timeout has "${values.timeout}", and must be seconds`);
  const agentWithin = Number(values["agent-within"]);
  if (!(agentWithin >= 0)) {
    throw wrong(`--agent-within has "${values["agent-within"]}", and must be seconds`);
  }
  const { TRAINYARD_URL: url = "", TRAINYARD_TOKEN: token = "" } = environment;
  if (!URL.canParse(url)) throw wrong("TRAINYARD_URL must be the address of the gateway");
  if (token === "") throw wrong("TRAINYARD_TOKEN must be an API token");
  const client = new Client({ url, token: token.trim() });
  const attempt = new Attempt(client, seconds, (line) => process.stdout.write(`${line}\n`));
  try {
    const agent = await freeAgent(attempt, agentWithin);
    await (agent === null ? tryWithoutAgent(attempt) : tryWithAgent(attempt, agent));
    return 0;
  } catch (error) {
    throw explained(error, url);
  }
}

const wrong = (told: string): Fault => new Fault(wrongSettings, told, { retry: "never" });

function explained(error: unknown, url: string): unknown {
  if (error instanceof ApiError) {
    const { status, code, detail } = error.problem;
    return failed(`the API at ${url} refuses the test with ${status} ${code}: ${detail}`);
  }
  if (error instanceof Unreachable)
    return failed(`the API at ${url} does not answer: ${error.message}`);
  return error;
}
