/**
 * The error codes of the API with their HTTP statuses, from the code that makes problems and rejections. A rejection
 * has the status of the table in problem.ts, or else 409.
 */
import type { Source } from "../events-page/readers.ts";

const problems = /new Problem\(\s*(\d{3}),\s*"([a-z_]+)"/g;
const rejections = /\breject\(\s*"([a-z_]+)"|\brejected: "([a-z_]+)"/g;
const table = /^const statusOfCode\b.*?\{\n(.*?)^\};/ms;

/** The sources whose problems and rejections become answers of the gateway. */
const answering =
  /^(services\/(?!agent|cli|web)|libs\/(runtime|experiment-config|tunnel|outbound)\/)/;

/** Returns the statuses of each code, in the order of the codes. */
export function errorCodes(
  sources: readonly Source[],
): Readonly<Record<string, readonly number[]>> {
  const codes = new Map<string, Set<number>>();
  const add = (code: string, status: number): void => {
    codes.set(code, (codes.get(code) ?? new Set()).add(status));
  };
  const tableText = sources.map(({ text }) => table.exec(text)?.[1] ?? "").join("");
  const statuses = new Map(
    [...tableText.matchAll(/^ {2}([a-z_]+): (\d{3}),$/gm)].map((row) => [row[1], Number(row[2])]),
  );
  for (const { path, text } of sources) {
    if (!answering.test(path)) continue;
    for (const [, status, code = ""] of text.matchAll(problems)) add(code, Number(status));
    for (const [, one, other = ""] of text.matchAll(rejections)) {
      const code = one ?? other;
      add(code, statuses.get(code) ?? 409);
    }
  }
  for (const [code = "", status] of statuses) add(code, status);
  if (statuses.size === 0) throw new Error("no file has the table statusOfCode");
  const byCode = [...codes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    byCode.map(([code, found]) => [code, [...found].toSorted((a, b) => a - b)] as const),
  );
}
