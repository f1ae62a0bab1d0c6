/** The packages of the compared experiments' environments, against those of a chosen one. */
import type { Answer } from "./comparison.ts";

export type PackageRow = {
  readonly name: string;
  /** The version in each experiment; empty if it is not installed. */
  readonly versions: readonly string[];
};

/** Returns the packages whose version differs from that of the base in any experiment, and Python first if it does. */
export function packagesThatDiffer(
  environments: Answer["environments"],
  base: string,
  others: readonly string[],
): readonly PackageRow[] {
  const found = [base, ...others].map((id) =>
    environments.find(({ experiment }) => experiment === id),
  );
  const names = new Set(found.flatMap((one) => Object.keys(one?.packages ?? {})));
  const rows: readonly PackageRow[] = [
    { name: "python", versions: found.map((one) => one?.python ?? "") },
    ...[...names].toSorted().map((name) => ({
      name,
      versions: found.map((one) => versionIn(one?.packages, name)),
    })),
  ];
  return rows.filter(({ versions }) =>
    // An experiment without a recorded environment differs in nothing.
    versions.some((version, at) => found[at] !== undefined && version !== versions[0]),
  );
}

function versionIn(packages: Readonly<Record<string, string>> | undefined, name: string): string {
  return packages !== undefined && Object.hasOwn(packages, name) ? (packages[name] ?? "") : "";
}
