/** The pages that the gateway itself answers with on a task's host. They load nothing, and no page may frame them. */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";

/** The path of the platform's own pages on a task's host. */
export const ownPath = "/.trainyard/";

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}" +
  "code{background:#eee;padding:.1em .3em}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#141414}code{background:#2a2a2a}}";

/**
 * The script takes the code from the address, where no server sees it, and removes it there before anything else, so
 * that it stays in no history.
 */
const script = `
const code = new URLSearchParams(location.hash.slice(1)).get("code");
history.replaceState(null, "", location.pathname);
const say = (text) => { document.querySelector("p").textContent = text; };
fetch("${ownPath}session", { method: "POST", body: code ?? "", headers: { "content-type": "text/plain" } })
  .then(async (answer) => {
    if (answer.ok) location.replace("/");
    else say((await answer.json()).detail);
  })
  .catch(() => say("The cluster does not answer. Try again."));
`;

/** Answers with the page that exchanges the code of a link for a session. */
export function sendOpenPage(response: ServerResponse): void {
  send(response, 200, "Opening …", "Opening the page of the task …", script);
}

/** Answers a browser that opens a page with a sentence. */
export function sendSentence(response: ServerResponse, status: number, sentence: string): void {
  send(response, status, "Trainyard", sentence, "");
}

function send(
  response: ServerResponse,
  status: number,
  title: string,
  sentence: string,
  code: string,
): void {
  const nonce = randomBytes(16).toString("base64");
  const policy = `default-src 'none'; connect-src 'self'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  response.end(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title><meta name="viewport" content="width=device-width">
<style nonce="${nonce}">${style}</style></head>
<body><p>${escaped(sentence)}</p>${code === "" ? "" : `<script nonce="${nonce}">${code}</script>`}</body></html>
`);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
