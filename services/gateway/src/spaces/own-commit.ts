import type { CommitIdentity } from "@trainyard/runtime";
import type { Asker } from "../backend.ts";

/** Returns the identity of a commit to a stream of the gateway. */
export function ownCommit(context: Asker, workspace = ""): CommitIdentity {
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
