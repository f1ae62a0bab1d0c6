/** The configuration of an agent that a test starts. */
import { type AgentConfig, parseConfig } from "../config.ts";
import { newFolder } from "./examples.ts";

type Variables = Readonly<Record<string, string>>;

/** The address of a service that does not answer. */
export const nowhere = "http://127.0.0.1:1";

/** The mark of the test run, by which a process ends when the test runner is killed. */
export function markOfRun(): Variables {
  const { TY_TEST_RUN } = process.env;
  return TY_TEST_RUN === undefined ? {} : { TY_TEST_RUN };
}

/** The variables that a test's agent, its supervisors and its runs get from the process of the test. */
export function ownVariables(): Variables {
  return { PATH: process.env["PATH"] ?? "", ...markOfRun() };
}

/** An agent of the platform at this address, with two CPU slots and a new folder, unless `more` says otherwise. */
export function agentConfig(platformUrl: string, more: Variables = {}): AgentConfig {
  return parseConfig({
    ...ownVariables(),
    TRAINYARD_NATS_URL: "unused",
    TRAINYARD_AGENT_NAME: "rack",
    TRAINYARD_AGENT_DIR: more["TRAINYARD_AGENT_DIR"] ?? newFolder(),
    TRAINYARD_AGENT_SLOT_TYPE: "cpu",
    TRAINYARD_AGENT_SLOTS: "2",
    TRAINYARD_API_URL: platformUrl,
    TRAINYARD_METRICS_URL: platformUrl,
    ...more,
  });
}
