export type Change = { readonly addLabels: string[]; readonly removeLabels: string[] };

/** Labels can be edited as a text with commas between them unless one has a comma in it. */
export const areText = (labels: readonly string[]): boolean =>
  !labels.some((label) => label.includes(","));

/** The labels to add and to remove so that they are those of the text, which has commas between them. */
export function labelChange(before: readonly string[], text: string): Change {
  if (text === before.join(", ")) return { addLabels: [], removeLabels: [] };
  const after = new Set(
    text
      .split(",")
      .map((label) => label.trim())
      .filter((label) => label !== ""),
  );
  return {
    addLabels: [...after].filter((label) => !before.includes(label)),
    removeLabels: before.filter((label) => !after.has(label)),
  };
}
