import { isLabel } from "@trainyard/kernel";
import type { z } from "zod";

const rule = "up to 63 letters, digits, dots, dashes, underscores and slashes";

/** Parses "zone=a,rack=r3" into a mapping; an error in the text becomes an issue of the schema. */
export function readLabels(
  text: string,
  context: z.core.$RefinementCtx,
): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  const refuse = (message: string): void => {
    context.issues.push({ code: "custom", message, input: text });
  };
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [name = "", value, ...more] = entry.split("=").map((part) => part.trim());
    if (value === undefined || more.length > 0) {
      refuse(`"${entry}" is not a label: write name=value, with a comma between labels`);
    } else if (!isLabel(name) || !isLabel(value)) {
      refuse(`"${entry}" is not a label: name and value are ${rule}`);
    } else if (Object.hasOwn(labels, name)) {
      refuse(`label ${name} is there twice, as ${labels[name]} and as ${value}`);
    } else {
      labels[name] = value;
    }
  }
  return labels;
}
