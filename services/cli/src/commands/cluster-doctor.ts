import { lstatSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { storageMarkerName } from "@trainyard/blob";
import { clientAt } from "../connection.ts";
import type { Output } from "../output.ts";
import { Failure } from "../usage-error.ts";
import { sentenceOf } from "./storage-release.ts";

/** Prints the checks of this machine and its cluster. Throws a Failure if one of them found something to repair. */
export async function doctor(output: Output): Promise<void> {
  const { clusterAccess, clusterDoctor } = await import("@trainyard/local-cluster");
  const access = clusterAccess();
  const held = access === null ? [] : await heldDeletions(access);
  const storages = access === null ? [] : await storageFindings(access);
  const agents = access === null ? [] : await agentFindings(access);
  const findings = [...clusterDoctor(), ...held, ...storages, ...agents];
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
    const { hold } = await clientAt({ url: api, token }).call("getDeletionHold", { pageSize: 1 });
    if (hold === undefined) return [{ check, state: "ok", detail: "nothing holds them" }];
    return [{ check, state: "problem", detail: sentenceOf(hold) }];
  } catch {
    return [{ check, state: "note", detail: "the cluster does not say now whether they are held" }];
  }
}

/** Checks whether agents do not report and are waited for. */
async function agentFindings({ api, token }: { readonly api: string; readonly token: string }) {
  const check = "agents";
  try {
    const { items } = await clientAt({ url: api, token }).call("listAgents", {});
    const reasons = new Set(items.flatMap(({ silence }) => silence?.reason ?? []));
    if (reasons.size === 0) return [];
    const silent = items.filter(({ silence }) => silence !== undefined).map(({ name }) => name);
    const detail = `${silent.length} do not report and are waited for (${[...reasons].join("; ")}): ${silent.slice(0, 10).join(", ")}`;
    return [{ check, state: "problem", detail }];
  } catch {
    return [{ check, state: "note", detail: "the cluster does not say now whether they report" }];
  }
}

type StorageFinding = {
  readonly check: string;
  readonly state: "ok" | "note" | "problem";
  readonly detail: string;
};

/** Checks whether the cluster may remove files in its storages, and whether a run can replace a marker. */
export async function storageFindings({
  api,
  token,
}: {
  readonly api: string;
  readonly token: string;
}): Promise<readonly StorageFinding[]> {
  const check = "storages";
  try {
    const { items } = await clientAt({ url: api, token }).call("listStorages", {});
    const held = items.flatMap(({ root, held }) =>
      held === "" ? [] : [`nothing is removed or replaced in ${root}: ${held}`],
    );
    const owned = [...new Set(items.map(({ root }) => root))].flatMap(ownedByRun);
    const problems = [...new Set([...held, ...owned])];
    if (problems.length === 0) return [{ check, state: "ok", detail: "nothing holds them" }];
    return problems.map((detail) => ({ check, state: "problem", detail }));
  } catch {
    return [{ check, state: "note", detail: "the cluster does not say now whether they are held" }];
  }
}

/**
 * Where runs have users of their own, the folder of a storage has the sticky bit, and only the owners of the folder and
 * of the marker can replace the marker.
 */
function ownedByRun(root: string): readonly string[] {
  if (!isAbsolute(root)) return [];
  const path = join(root, storageMarkerName);
  const [folder, marker] = [root, path].map((one) => lstatSync(one, { throwIfNoEntry: false }));
  if (folder === undefined || marker === undefined || (folder.mode & 0o1000) === 0) return [];
  if (marker.uid === 0 || marker.uid === folder.uid) return [];
  return [
    `${path} belongs to the user ${marker.uid} of a run, who can replace it: chown ${folder.uid} ${path}`,
  ];
}
