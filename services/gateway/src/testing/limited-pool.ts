/** A pool whose statements the server cancels after a short time, as it cancels those of a busy database. */
import { runtimeLimits } from "@trainyard/runtime";
import pg from "pg";

export type LimitedPool = {
  readonly pool: pg.Pool;
  /** The longest statement so far, and how many were canceled. */
  readonly statements: { longestMs: number; canceled: number };
};

export function limitedPool(url: string, statementMs: number): LimitedPool {
  const statements = { longestMs: 0, canceled: 0 };
  const pool = new pg.Pool({
    connectionString: url,
    max: 18,
    statement_timeout: statementMs,
    query_timeout: runtimeLimits.answerTimeoutMs,
  });
  pool.on("error", () => {}); // The server's end breaks idle connections.
  pool.on("connect", (client) => {
    client.on("error", () => {});
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
    const measured = async (...given: unknown[]): Promise<unknown> => {
      const beganMs = performance.now();
      try {
        return await query(...given);
      } catch (error) {
        if ((error as { code?: string }).code === "57014") statements.canceled += 1;
        throw error;
      } finally {
        statements.longestMs = Math.max(statements.longestMs, performance.now() - beganMs);
      }
    };
    client.query = measured as typeof client.query;
  });
  return { pool, statements };
}
