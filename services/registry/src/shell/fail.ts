/**
 * Fails a checkpoint whose host can never send the rest: a sealed file is gone or has changed. The other hosts, which
 * wait for its files, get the failure with their next request. A complete checkpoint stays complete.
 */
import type { Plain } from "@trainyard/contracts";
import type { Accepted, FailCheckpoint } from "@trainyard/contracts/commands";
import { isRejection, type Rejection, reject } from "@trainyard/kernel";
import { accepted, type CommandContext } from "@trainyard/runtime";
import { registryLimits } from "../limits.ts";
import { checkpoints } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { ownCheckpoint } from "./open-checkpoint.ts";

export async function failCheckpoint(
  deps: Pick<CommandDeps, "executor" | "events">,
  request: Plain<FailCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<Accepted> | Rejection> {
  const { checkpoint, reason } = request;
  const { reasonCharactersMax } = registryLimits;
  if (reason === "" || reason.length > reasonCharactersMax) {
    return reject("invalid_request", `the reason must have 1 to ${reasonCharactersMax} characters`);
  }
  const own = await ownCheckpoint(deps, request, identity.meta.authid);
  if (isRejection(own)) return own;
  const result = await deps.executor.execute(identity, async (work) => {
    await work.decide(checkpoints, checkpoint, { kind: "fail", reason });
  });
  if (!isRejection(result)) deps.events.refused(checkpoint, reason);
  return accepted(result);
}
