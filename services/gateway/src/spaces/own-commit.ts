import type { CommitIdentity } from "@trainyard/runtime";
import type { RequestContext } from "../http/request-context.ts";

/** Returns the identity of a commit to a stream of the gateway. */
export function ownCommit(context: RequestContext, workspace = ""): CommitIdentity {
  return {
    commitId: context.commitId,
    meta: {
      source: "/trainyard/gateway",
      workspace,
      correlationid: "",
      causationid: context.commitId,
      authid: context.caller.authid,
      traceparent: context.traceparent,
    },
  };
}
