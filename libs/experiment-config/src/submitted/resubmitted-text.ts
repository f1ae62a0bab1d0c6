/** Turns a recorded configuration into a YAML text that creates the same trials when it is submitted again. */
import { stringify } from "yaml";
import { readYaml } from "../document.ts";
import { type JsonObject, mappingAt } from "../json.ts";
import { resubmitted } from "../resubmitted.ts";
import { maskedDocument, maskedPaths } from "./secrets.ts";

/**
 * Returns the text with the seed and without secrets, whose paths are returned too. `defaulted` has the paths that the
 * submission did not contain.
 */
export function resubmittedText(
  recorded: JsonObject,
  seed: number,
  defaulted: readonly string[] = [],
): { readonly text: string; readonly masked: readonly string[] } {
  const again = resubmitted(recorded, defaulted);
  const reproducibility = { ...mappingAt(again, "reproducibility"), experiment_seed: seed };
  const document = maskedDocument({ ...again, reproducibility });
  const masked = maskedPaths(document).map(({ path }) => path);
  const yaml = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
  // If the YAML text would be read back differently, JSON is used, which is YAML too.
  const text =
    JSON.stringify(readYaml(yaml).value) === JSON.stringify(document)
      ? yaml
      : `${JSON.stringify(document, null, 2)}\n`;
  return { text, masked };
}
