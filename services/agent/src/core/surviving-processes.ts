/** A process that was killed and still exists. */

export type SurvivingProcess = {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
};

const namedMax = 5;

/** Returns a sentence about the survivors; empty for none. The states are those of proc(5). */
export function describeSurvivors(left: readonly SurvivingProcess[]): string {
  if (left.length === 0) return "";
  const named = left.slice(0, namedMax).map(({ pid, name, state }) => {
    return `${pid} (${name}${state === "D" ? ", in the kernel" : ""})`;
  });
  const more = left.length > namedMax ? ` and ${left.length - namedMax} more` : "";
  const [what, these, them] =
    left.length === 1
      ? ["process", "was killed and is", "it is"]
      : ["processes", "were killed and are", "they are"];
  return `${what} ${named.join(", ")}${more} ${these} still there: the run's slots stay taken until ${them} gone`;
}
