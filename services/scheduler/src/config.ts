import { durationSeconds } from "@trainyard/experiment-config/recorded";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  type SigningKey,
  signingKeyOf,
  signingVariables,
} from "@trainyard/runtime";
import { z } from "zod";
import { limits } from "./limits.ts";

export type SchedulerSettings = {
  /** The key that signs the tokens of runs. */
  readonly tokenKey: SigningKey;
  readonly agentSilenceMs: number;
  readonly firstWordGraceMs: number;
  /** 0 if agents that fall silent together are lost like single ones. */
  readonly massSilenceWaitMs: number;
  readonly forgetLostMs: number;
  /** The idle_timeout of tasks whose configuration and pool set none; 0 for never. Absent for that of the kind. */
  readonly taskIdleTimeoutMs?: number;
};

/** The settings of production. */
export const defaultSilence = {
  agentSilenceMs: limits.agentSilenceMs,
  firstWordGraceMs: limits.firstWordGraceMs,
  massSilenceWaitMs: limits.massSilenceWaitMs,
  forgetLostMs: limits.forgetLostMs,
} satisfies Omit<SchedulerSettings, "tokenKey" | "taskIdleTimeoutMs">;

export type SchedulerConfig = ConnectionsConfig & SchedulerSettings;

const wait = (otherwise: number) => z.coerce.number().int().min(0).default(otherwise);

/** A time, such as 30m, in milliseconds. */
const time = z.string().transform((text, context) => {
  const seconds = durationSeconds(/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  if (seconds !== null) return seconds * 1_000;
  context.addIssue({ code: "custom", message: "must be a time, such as 30m, or 0 for never" });
  return z.NEVER;
});

const schema = z.object({
  ...connectionVariables,
  ...signingVariables,
  TRAINYARD_AGENT_SILENCE_MS: z.coerce.number().int().min(1_000).default(limits.agentSilenceMs),
  TRAINYARD_AGENT_FIRST_WORD_MS: wait(limits.firstWordGraceMs),
  TRAINYARD_AGENT_MASS_SILENCE_MS: wait(limits.massSilenceWaitMs),
  TRAINYARD_AGENT_FORGET_MS: wait(limits.forgetLostMs),
  TRAINYARD_TASK_IDLE_TIMEOUT: time.optional(),
});

export function parseConfig(environment: Readonly<Record<string, string>>): SchedulerConfig {
  const env = parseEnvironment(schema, environment);
  const { TRAINYARD_TASK_IDLE_TIMEOUT: taskIdleTimeoutMs } = env;
  return {
    ...connectionsOf(env),
    tokenKey: signingKeyOf(env),
    agentSilenceMs: env.TRAINYARD_AGENT_SILENCE_MS,
    firstWordGraceMs: env.TRAINYARD_AGENT_FIRST_WORD_MS,
    massSilenceWaitMs: env.TRAINYARD_AGENT_MASS_SILENCE_MS,
    forgetLostMs: env.TRAINYARD_AGENT_FORGET_MS,
    ...(taskIdleTimeoutMs === undefined ? {} : { taskIdleTimeoutMs }),
  };
}
