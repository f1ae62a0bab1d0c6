/** A recorded configuration as a YAML text that makes the same trials when it is submitted again. */
import { stringify } from "yaml";
import { readYaml } from "../document.ts";
import { type JsonObject, mappingAt } from "../json.ts";
import { resubmitted } from "../resubmitted.ts";
import { maskedDocument, maskedPaths } from "./secrets.ts";

/** With the seed, and without the secrets: their paths are beside it. */
export function resubmittedText(
  recorded: JsonObject,
  seed: number,
): { readonly text: string; readonly masked: readonly string[] } {
  const again = resubmitted(recorded);
  const reproducibility = { ...mappingAt(again, "reproducibility"), experiment_seed: seed };
  const document = maskedDocument({ ...again, reproducibility });
  const masked = maskedPaths(document).map(({ path }) => path);
  const yaml = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
  // JSON is YAML, too: for a value that the writer and our reader take for two things.
  const text =
    JSON.stringify(readYaml(yaml).value) === JSON.stringify(document)
      ? yaml
      : `${JSON.stringify(document, null, 2)}\n`;
  return { text, masked };
}
