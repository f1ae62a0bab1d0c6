import type { Topic } from "./protocol.ts";

/**
 * Finds the topics that caused the refusal of a whole stream: those whose number, id or experiment its message
 * contains; else those with a filter, which may be too slow; else the latest one.
 */
export function refusedTopics(detail: string, keys: readonly string[]): readonly string[] {
  const number = /topics\[(\d+)\]/.exec(detail)?.[1];
  const named = number === undefined ? undefined : keys[Number(number)];
  if (named !== undefined) return [named];
  const about = keys.filter((key) => {
    const { id = "", experiment = "" } = JSON.parse(key) as Topic;
    return [id, experiment].some((one) => one !== "" && mentions(detail, one));
  });
  if (about.length > 0) return about;
  const filtered = keys.filter((key) => ((JSON.parse(key) as Topic).filter ?? "") !== "");
  return filtered.length > 0 ? filtered : keys.slice(0, 1);
}

/** Finds the id as a whole word: 1 is not in 12 or 1.3. */
function mentions(detail: string, id: string): boolean {
  return detail.split(/[^\w.#-]+/).some((word) => word.replace(/\.$/, "") === id);
}
