import { version } from "@trainyard/runtime";

/** The plain page at /, which shows that the platform runs and where to continue. It shows no stored data. */
export function statusPage(state: {
  readonly position: number;
  readonly reason: string | null;
}): string {
  const health = state.reason === null ? "ready" : `not ready: ${escapeHtml(state.reason)}`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Trainyard</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:.1em .3em}</style></head>
<body>
<h1>Trainyard ${escapeHtml(version)}</h1>
<p>This cluster is <strong>${health}</strong>. Its log is at position ${state.position}.</p>
<p>Use it from the command line: <code>yard experiment list</code>.</p>
<p>The API is described at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
</body></html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
