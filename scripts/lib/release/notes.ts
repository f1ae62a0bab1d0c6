/** The notes of a release: its section of the CHANGELOG. */

/** The lines below `## title` up to the next section; null for a missing or empty section. */
export function sectionOf(changelog: string, title: string): string | null {
  const lines = changelog.split("\n");
  const start = lines.findIndex(
    (line) => line === `## ${title}` || line.startsWith(`## ${title} `),
  );
  if (start < 0) return null;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("## "));
  const text = (end < 0 ? rest : rest.slice(0, end)).join("\n").trim();
  return text === "" ? null : text;
}

/** Accepts versions that both npm and pip accept: 1.2.3 or 1.2.3-rc.1 (pip reads the second as 1.2.3rc1). */
export function isVersion(text: string): boolean {
  return /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-(a|b|rc)\.\d+)?$/.test(text);
}

/** Converts a version to Python's form (PEP 440). */
export function pythonVersion(version: string): string {
  return version.replace(/-(a|b|rc)\.(\d+)$/, "$1$2");
}
