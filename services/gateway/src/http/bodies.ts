/** Bodies of requests: JSON, of a depth that can be written again; or none. */
import type { FastifyInstance } from "fastify";
import { gatewayLimits } from "../limits.ts";
import { Problem } from "./problem.ts";

/** A command without fields may come without a body, whatever its content type says. */
export function acceptJson(server: FastifyInstance): void {
  server.removeContentTypeParser("application/json");
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    if (body.length === 0) {
      done(null, null);
      return;
    }
    let parsed: unknown;
    try {
      parsed = JSON.parse(body.toString("utf8"));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      done(new Problem(400, "invalid_request", `the body is not JSON: ${detail}`));
      return;
    }
    const most = gatewayLimits.bodyDepthMax;
    if (!isDeeper(parsed, most)) {
      done(null, parsed);
      return;
    }
    const detail = `the body is nested more than ${most} levels deep; make it flatter`;
    done(new Problem(400, "invalid_request", detail));
  });
}

/** Level by level, since a call for each level could exhaust the stack. */
function isDeeper(value: unknown, most: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? (Object.values(one) as unknown[]) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
