/** Refuses an experiment whose entrypoint starts a Python script that its code does not have: each run would fail. */
import { normalize } from "node:path/posix";
import { closest, entrypointScript, type NormalisedConfig } from "@trainyard/experiment-config";
import { Problem } from "../../http/problem.ts";
import { apiLimits } from "../limits.ts";

/** Looks at the entries of an archive while it is read. */
export type ScriptCheck = {
  readonly see: (path: string, type: string) => void;
  /** Throws a Problem if no entry was, or could be, the script. */
  readonly refuse: () => void;
};

/** A hook may make the script, or change the folder. */
const hook = "startup-hook.sh";

/** Returns the check of a configuration's script; null if its entrypoint names none. */
export function scriptCheck(config: NormalisedConfig): ScriptCheck | null {
  const script = entrypointScript(config);
  if (script === null) return null;
  const base = script.split("/").at(-1) ?? script;
  const alike: string[] = [];
  let isPossible = false;
  const see = (entry: string, type: string): void => {
    const path = normalize(entry).replace(/\/$/, "");
    const isLinkAbove = type === "SymbolicLink" && script.startsWith(`${path}/`);
    if (path === script || path.startsWith(`${script}/`) || path === hook || isLinkAbove) {
      isPossible = true;
    }
    const isAlike = path.endsWith(`/${base}`) || Math.abs(path.length - script.length) <= 3;
    if (path.endsWith(".py") && isAlike && alike.length < apiLimits.scriptsComparedMax) {
      alike.push(path);
    }
  };
  const refuse = (): void => {
    if (isPossible) return;
    const meant = alike.find((path) => path.endsWith(`/${base}`)) ?? closest(script, alike);
    const detail = `starts ${script}, which is not in the submitted code${meant === null ? "" : `; "${meant}" is`}`;
    const problems = [{ path: "entrypoint", detail }];
    throw new Problem(400, "script_not_found", `entrypoint ${detail}`, { problems });
  };
  return { see, refuse };
}
