import { join } from "node:path";
import { checkout } from "../home/home.ts";

/** Set for training processes alone; a cluster that is started from within one must not pass them on. */
const ofRuns =
  /^TRAINYARD_(URL|TOKEN|EXPERIMENT_ID|TRIAL_ID|RUN|RUN_DIR|TRIAL_SEED|HPARAMS|CONFIG|LATEST_CHECKPOINT|STEPS_COMPLETED|SLOT_IDS|NODE_RANK|NNODES|MASTER_ADDR|MASTER_PORT|GRANT_POSITION|SUPERVISED|ENV_FILE|HOME|CALLER_DIR)$/;

/**
 * The caller's variables as far as they are a person's: PATH, proxies, credentials of clouds, TRAINYARD_ settings. What
 * npm adds and what the files decide is left out, since a process's own variables go before those of its file.
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
  // Compiled code is kept between starts: a service is up in half the time, in less memory.
  const compiled = { NODE_COMPILE_CACHE: join(checkout, ".cache", "compiled") };
  return { ...compiled, ...Object.fromEntries(kept) };
}
