/** The section integrations.webhooks of a recorded configuration: webhooks that the experiment names or leaves out. */
import { isMapping, mappingAt } from "../json.ts";

export type NamedWebhooks = { readonly names: readonly string[]; readonly exclude: boolean };

/** Returns the section; null without it. */
export function recordedWebhooks(struct: unknown): NamedWebhooks | null {
  if (!isMapping(struct)) return null;
  const { webhooks } = mappingAt(struct, "integrations");
  if (!isMapping(webhooks)) return null;
  const { webhook_name: names, exclude } = webhooks;
  return { names: Array.isArray(names) ? names.map(String) : [], exclude: exclude === true };
}
