/** Calls the append function directly, without this project's client, with arbitrary columns. */
import type { Client } from "pg";
import type { AppendRequest } from "../port.ts";
import { appendArguments, appendStatement } from "../postgres/batch.ts";

/** The indexes of columns among the function's parameters. */
export const columns = { metas: 1, eventCommits: 8, eventVersions: 10 } as const;

type Column = keyof typeof columns;
type Outcome = { readonly outcome: string; readonly detail: { readonly code?: string } | null };

export async function appendByHand(
  client: Client,
  requests: readonly AppendRequest[],
  exchanged: Partial<Readonly<Record<Column, readonly unknown[]>>> = {},
): Promise<readonly Outcome[]> {
  const values: unknown[] = appendArguments(requests);
  for (const [column, content] of Object.entries(exchanged)) {
    values[columns[column as Column]] = content;
  }
  return (await client.query<Outcome>(appendStatement, values)).rows;
}
