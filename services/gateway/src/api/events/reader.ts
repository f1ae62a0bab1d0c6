import type { EventReader } from "@trainyard/outbound";
import type { RequestContext } from "../../http/request-context.ts";

/** Returns the caller as a reader of events. */
export function readerOf({ caller }: RequestContext): EventReader {
  const isUser = caller.kind === "user";
  return { owner: isUser ? caller.owner : caller.authid, tokenId: isUser ? caller.token : "" };
}
