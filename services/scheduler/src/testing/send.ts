import type {
  CommandName,
  CommandReplyOf,
  CommandRequestOf,
} from "@trainyard/contracts/command-services";
import { assert, type Rejection } from "@trainyard/kernel";
import { decodeReply, encodeRequest, readRejected } from "@trainyard/runtime";
import { atRest } from "@trainyard/testing";
import type { World } from "./world.ts";

/** Sends a command to the scheduler, with a commit id of its own unless one is given. */
export async function send<Name extends CommandName<"scheduler">>(
  world: World,
  name: Name,
  message: CommandRequestOf<"scheduler", Name>,
  commitId: string = crypto.randomUUID(),
): Promise<CommandReplyOf<"scheduler", Name> | Rejection> {
  const asker = world.hub.connect("gateway");
  const headers = { commitId, authid: "", traceparent: "", correlationid: "" };
  const body = encodeRequest("scheduler", name, message);
  const answer = await asker.request("scheduler", name, { headers, body }, 1_000);
  await atRest();
  if (answer.kind === "ok") return decodeReply("scheduler", name, answer.body);
  assert(answer.kind === "rejected", `the scheduler answers: ${JSON.stringify(answer)}`);
  const { rejected, detail } = readRejected(answer.body);
  return { rejected, detail };
}
