import { RejectedSchema } from "@trainyard/contracts/commands";
import { assert, type Rejection } from "@trainyard/kernel";
import { decodeReply, encodeRequest } from "@trainyard/runtime";
import { atRest } from "@trainyard/testing";
import type { World } from "./world.ts";

type Message = Parameters<typeof encodeRequest>[0];

/** Sends a command to the scheduler, with a commit id of its own unless one is given. */
export async function send<Request extends Message, Reply extends Message>(
  world: World,
  request: Request,
  reply: Reply,
  message: Parameters<typeof encodeRequest<Request>>[1],
  commitId: string = crypto.randomUUID(),
): Promise<ReturnType<typeof decodeReply<Reply>> | Rejection> {
  const asker = world.hub.connect("gateway");
  const headers = { commitId, authid: "", traceparent: "", correlationid: "" };
  const body = encodeRequest(request, message);
  const answer = await asker.request("scheduler", request.name, { headers, body }, 1_000);
  await atRest();
  if (answer.kind === "ok") return decodeReply(reply, answer.body);
  assert(answer.kind === "rejected", `the scheduler answers: ${JSON.stringify(answer)}`);
  const { code: rejected, detail } = decodeReply(RejectedSchema, answer.body);
  return { rejected, detail };
}
