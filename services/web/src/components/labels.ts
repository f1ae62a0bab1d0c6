export type LabelChange = { readonly addLabels: string[]; readonly removeLabels: string[] };

/** The labels of a text that separates them by commas, each once. */
export function labelsOf(text: string): readonly string[] {
  return [...new Set(text.split(",").map((label) => label.trim()))].filter((label) => label !== "");
}

/** Labels can be edited as text, separated by commas, unless one contains a comma. */
export const areText = (labels: readonly string[]): boolean =>
  !labels.some((label) => label.includes(","));

/** The change from the labels to those of the text; null if they are equal. */
export function labelChange(labels: readonly string[], text: string): LabelChange | null {
  if (text === labels.join(", ")) return null;
  const wanted = labelsOf(text);
  const addLabels = wanted.filter((label) => !labels.includes(label));
  const removeLabels = labels.filter((label) => !wanted.includes(label));
  return addLabels.length + removeLabels.length === 0 ? null : { addLabels, removeLabels };
}
