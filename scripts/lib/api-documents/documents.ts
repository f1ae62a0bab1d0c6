/** Makes the documents that describe the API to programs. The gateway serves them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readProtocol } from "../events-page/protocol.ts";
import { runningCode } from "../events-page/readers.ts";
import { root } from "../root.ts";
import { asyncApi } from "./asyncapi.ts";
import { errorCodes } from "./codes.ts";
import { examples } from "./examples.ts";
import { openApi } from "./openapi.ts";
import type { Schema } from "./schemas.ts";
import { type AsyncApi, type OpenApi, surfaceOf } from "./surface.ts";

/** The folder of the committed documents. */
export const documentsFolder = "services/gateway/src/http/gen";

export type ApiDocument = { readonly path: string; readonly text: string };

/** Imports the generated code late: `generate` may have just rewritten it. */
export async function apiDocuments(): Promise<readonly ApiDocument[]> {
  const [{ eventTypes }, { gatewayRoutes }, api, protocol] = await Promise.all([
    import("@trainyard/contracts"),
    import("@trainyard/contracts/routes"),
    import("@trainyard/contracts/api"),
    readProtocol(),
  ]);
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { readonly version: string };
  const openapi = openApi({
    ...{ version, protocol, routes: gatewayRoutes(), problem: api.ProblemSchema },
    ...{ examples, codes: errorCodes(runningCode()) },
  });
  const asyncapi = asyncApi({
    ...{
      version,
      protocol,
      eventTypes,
      event: api.EventSchema,
      watch: api.WatchEventsRequestSchema,
    },
    bodyOf: storedBody,
  });
  return [document("openapi.json", openapi), document("asyncapi.json", asyncapi)];
}

/** Returns the frozen body of a type, with no folder of a host: the page of an example is read by people. */
function storedBody(type: string): unknown {
  const text = readFileSync(join(root, "test/compat/events", `${type}.body`), "utf8");
  return JSON.parse(text.replaceAll(/"\/mnt\b/g, '"'));
}

/** Returns the surface of the committed documents. */
export function apiSurface(): readonly string[] {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(root, documentsFolder, name), "utf8"));
  return surfaceOf(read("openapi.json") as OpenApi, read("asyncapi.json") as AsyncApi);
}

const document = (name: string, value: Schema): ApiDocument => ({
  path: `${documentsFolder}/${name}`,
  text: `${JSON.stringify(value, null, 1)}\n`,
});
