import { Client } from "@trainyard/client";
import type { Output } from "../output.ts";
import { Failure } from "../usage-error.ts";
import { sentenceOf } from "./storage-release.ts";

/** Prints the checks of this machine and its cluster. Throws a Failure if one of them found something to repair. */
export async function doctor(output: Output): Promise<void> {
  const { clusterAccess, clusterDoctor } = await import("@trainyard/local-cluster");
  const access = clusterAccess();
  const held = access === null ? [] : await heldDeletions(access);
  const findings = [...clusterDoctor(), ...held];
  if (output.json) output.line(JSON.stringify({ findings }));
  else
    for (const { check, state, detail } of findings) output.line(`${state}  ${check}: ${detail}`);
  const problems = findings.filter(({ state }) => state === "problem").length;
  if (problems > 0) throw new Failure(`The cluster has ${problems} of these to mend.`);
}

/** Checks whether the log of the running cluster went back. */
async function heldDeletions({ api, token }: { readonly api: string; readonly token: string }) {
  const check = "deletions";
  try {
    const { hold } = await new Client({ url: api, token }).call("getDeletionHold", { pageSize: 1 });
    if (hold === undefined) return [{ check, state: "ok", detail: "nothing holds them" }];
    return [{ check, state: "problem", detail: sentenceOf(hold) }];
  } catch {
    return [{ check, state: "note", detail: "the cluster does not say now whether they are held" }];
  }
}
