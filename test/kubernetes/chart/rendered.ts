import { cases } from "./cases.ts";
import { manifestsOf, template } from "./helm.ts";
import type { Manifest } from "./manifests.ts";

const rendered = new Map<string, Promise<readonly Manifest[]>>();

/** Returns the objects of a case, which is rendered once for all tests of a file. */
export function objectsOf(name: string): Promise<readonly Manifest[]> {
  const given = cases[name];
  if (given === undefined) throw new Error(`there is no case with ${name}`);
  const objects = rendered.get(name) ?? template(given).then(manifestsOf);
  rendered.set(name, objects);
  return objects;
}
