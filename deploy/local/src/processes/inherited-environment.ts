import { join } from "node:path";
import { checkout } from "../home/home.ts";

/**
 * Variables that only training processes get; a cluster started from within a training process must not inherit them.
 */
const ofRuns =
  /^TRAINYARD_(URL|TOKEN|EXPERIMENT_ID|TRIAL_ID|RUN|RUN_DIR|TRIAL_SEED|HPARAMS|CONFIG|LATEST_CHECKPOINT|STEPS_COMPLETED|SLOT_IDS|NODE_RANK|NNODES|MASTER_ADDR|MASTER_PORT|GRANT_POSITION|SEARCH_NEEDS_METRIC|ENV_FILE|HOME|CALLER_DIR)$/;

/**
 * The caller's variables that are a person's settings: PATH, proxies, cloud credentials, TRAINYARD_ settings. Variables
 * of npm and those of the environment files are left out, since a process's variables override its file.
 */
export function inheritedEnvironment(
  caller: NodeJS.ProcessEnv,
  decided: ReadonlySet<string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(caller).filter(
    ([name]) =>
      !/^(npm_|INIT_CWD$|VITEST|NODE_OPTIONS$)/.test(name) &&
      !ofRuns.test(name) &&
      !decided.has(name),
  );
  // The cache of compiled code halves the start time of a service, and saves memory.
  const compiled = { NODE_COMPILE_CACHE: join(checkout, ".cache", "compiled") };
  return { ...compiled, ...Object.fromEntries(kept) };
}
