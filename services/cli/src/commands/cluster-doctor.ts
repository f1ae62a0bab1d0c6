import type { Output } from "../output.ts";
import { Failure } from "../usage-error.ts";

/** Prints the checks of this machine. Throws a Failure if one of them found something to repair. */
export async function doctor(output: Output): Promise<void> {
  const { clusterDoctor } = await import("@trainyard/local-cluster");
  const findings = clusterDoctor();
  if (output.json) output.line(JSON.stringify({ findings }));
  else
    for (const { check, state, detail } of findings) output.line(`${state}  ${check}: ${detail}`);
  const problems = findings.filter(({ state }) => state === "problem").length;
  if (problems > 0) throw new Failure(`The cluster has ${problems} of these to mend.`);
}
