/** The sentence about processes that were killed and are still there. */

export type SurvivingProcess = {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
};

const namedMax = 5;

/** Empty where nothing is left. The states are proc(5)'s. */
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
