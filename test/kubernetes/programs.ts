/** The clients of Kubernetes that tests run. */
import { absent, missingPrograms, notRun, type Skip } from "@trainyard/testing/needs";

const clients = ["kubectl", "helm"];

/** The clients that are not here; null if all are. With TRAINYARD_REQUIRE=helm a missing one is an error. */
export function programsProblem(names: readonly string[] = clients): string | null {
  const missing = missingPrograms(...names);
  if (missing.length === 0) return null;
  return absent("helm", `${missing.join(" and ")} (.ci/run installs them)`);
}

/** Without the clients here a test is skipped. */
export function needPrograms(skip: Skip, names: readonly string[] = clients): void {
  const problem = programsProblem(names);
  if (problem !== null) notRun(skip, problem);
}

export const needHelm = (skip: Skip): void => needPrograms(skip, ["helm"]);
