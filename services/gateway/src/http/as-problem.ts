import { storageFaults } from "@trainyard/blob";
import { Bug, isFault } from "@trainyard/kernel";
import { isDatabaseAway, isDatabaseSlow, type Logger, retryReason } from "@trainyard/runtime";
import { Problem, unavailable } from "./problem.ts";

const databaseFull =
  "the disk of the database is full, so nothing can be recorded until it has space again";

/** Converts an error to the Problem that the caller gets. Details for operators are logged under the request's id. */
export function asProblem(error: unknown, logger: Logger, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (isFault(error) && error.retry !== "never") {
    logger.warn({ err: error, requestId }, "request_unavailable");
    // The message names the storage.
    if (error.code === "storage_away") return unavailable(error.message);
    if (error.code === "log_full") return unavailable(databaseFull);
    if (error.code === "blob_store_failed") return unavailable(`${retryReason(error)}; try again`);
    return new Problem(
      503,
      "unavailable",
      `the platform cannot answer now (${error.code}); try again`,
    );
  }
  // The operator must mend the storage first, so the caller's client should not repeat the call.
  if (isFault(error) && storageFaults.includes(error.code)) {
    logger.error({ err: error, requestId }, "storage_refuses");
    return new Problem(500, error.code, error.message);
  }
  const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Problem(413, "body_too_large", "the request is larger than this call allows");
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return new Problem(415, "not_json", "send the body as application/json");
  }
  // The server gives such a status also to the broken connection of a client, whose code may be that of a database's.
  if (
    statusCode !== undefined &&
    statusCode >= 400 &&
    statusCode < 500 &&
    !(error instanceof Bug)
  ) {
    return new Problem(statusCode, "invalid_request", (error as Error).message);
  }
  if (isDatabaseAway(error)) {
    logger.warn({ err: error, requestId }, "database_unreachable");
    return new Problem(503, "unavailable", "the database does not answer now; try again");
  }
  if (isDatabaseSlow(error)) {
    logger.warn({ err: error, requestId }, "database_too_slow");
    return new Problem(503, "unavailable", "the database did not answer in time; try again");
  }
  logger.error({ err: error, requestId }, "request_failed");
  return new Problem(
    500,
    "internal",
    `the gateway failed; its log has the details of request ${requestId}`,
  );
}
