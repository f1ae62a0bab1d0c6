/** The worker thread that decodes large requests over gRPC, so that the event loop stays free. */
import { gatewayRoutes } from "@trainyard/contracts/routes";
import { assert } from "@trainyard/kernel";
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { readMessageBytes } from "./message-bytes.ts";
import type { NamedMessage } from "./message-reader.ts";

const types = new Map(gatewayRoutes().map(({ request }) => [request.typeName, request]));

answerCalls(
  ({ typeName, ...encoded }: NamedMessage) => {
    const desc = types.get(typeName);
    assert(desc !== undefined, `${typeName} is a request of the API`);
    return readMessageBytes(desc, encoded);
  },
  () => [],
);
