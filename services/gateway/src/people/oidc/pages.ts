import { escapeHtml } from "../../http/status-page.ts";

/** The plain pages of a sign-in: a refusal with its reason, and the question whether an identity joins a user. */
export type SignInPage = {
  readonly title: string;
  readonly text: string;
  /** The path of a form with one button; null for a page without a question. */
  readonly confirm: { readonly path: string; readonly button: string } | null;
};

export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export function signInPage({ title, text, confirm }: SignInPage): string {
  const form =
    confirm === null
      ? ""
      : `<form method="post" action="${escapeHtml(confirm.path)}"><button>${escapeHtml(confirm.button)}</button></form>\n`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(title)} · Trainyard</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}button{font:inherit}</style></head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${form}<p><a href="/">Back to Trainyard</a></p>
</body></html>
`;
}
