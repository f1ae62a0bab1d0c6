/** Says why metrics have no points to show: the group of a query is "training" unless it is given. */
import type { Client } from "@trainyard/client";
import { cliLimits } from "../limits.ts";
import { allPages } from "../pages.ts";

type Asked = {
  readonly trials: readonly string[];
  readonly group: string;
  readonly names: readonly string[];
};

type Why = {
  readonly text: string;
  /** Whether the query names something that the trials do not have, unlike a query for points yet to come. */
  readonly isWrong: boolean;
};

/** Returns a sentence for each of these metrics, of which the trials have no points in this group. */
export async function whyNoPoints(
  client: Client,
  { trials, group, names }: Asked,
): Promise<readonly Why[]> {
  const known = await metricsOf(client, trials);
  return names.map((name) => {
    const groups = known.filter((one) => one.name === name);
    const here = groups.filter((one) => one.group === group);
    if (known.length === 0) return { text: "There are no points yet.", isWrong: false };
    if (here.some(({ kind }) => kind === "scalar")) {
      return {
        text: `No points of ${name} in ${group} match --x, --from and --to.`,
        isWrong: false,
      };
    }
    if (here.length > 0) {
      return { text: `The values of ${name} in ${group} are not numbers.`, isWrong: true };
    }
    const others = groups.map((one) => one.group);
    const text =
      others.length > 0
        ? `No points of ${name} in ${group}; it is in ${listOf(others)}: give --group ${others[0] ?? ""}.`
        : `No points of ${name}; the metrics are ${listOf(known.map((one) => `${one.name} (${one.group})`))}.`;
    return { text, isWrong: true };
  });
}

/** Returns the metrics of the trials without duplicates, in the order of group and name. */
async function metricsOf(client: Client, trials: readonly string[]) {
  const known = new Map<string, { group: string; name: string; kind: string }>();
  for (const trial of trials) {
    const { items } = await allPages(async (start) => ({
      ...(await client.call("listTrialMetricNames", { trial, ...start })),
      position: "",
    }));
    for (const { group, name, kind } of items) {
      known.set(JSON.stringify([group, name, kind]), { group, name, kind });
    }
  }
  return [...known.values()];
}

function listOf(words: readonly string[]): string {
  const unique = [...new Set(words)];
  const more = unique.length - cliLimits.metricsNamed;
  if (more > 0) return `${unique.slice(0, cliLimits.metricsNamed).join(", ")} and ${more} more`;
  const last = unique.at(-1) ?? "";
  return unique.length < 2 ? last : `${unique.slice(0, -1).join(", ")} and ${last}`;
}
