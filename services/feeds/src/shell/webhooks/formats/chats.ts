/**
 * Messages to Slack and Discord. Texts may come from training code, so they are shown as they are: they mention nobody,
 * link nothing and have no markup. The URL is the secret, and nothing is signed.
 */
import type { LeavingEvent } from "@trainyard/outbound";
import type { WebhookFormat } from "../format.ts";
import { sentenceOf } from "./sentence.ts";

/** The longest text of a block of Slack, and of a message of Discord. */
const slackCharactersMax = 2_900;
const titleCharactersMax = 500;
const discordCharactersMax = 1_900;

export const slack: WebhookFormat = chat((event) => {
  const { title, lines } = sentenceOf(event);
  const body = lines.filter((line) => line !== "").join("\n");
  const block = (text: string) => ({
    type: "section",
    text: { type: "plain_text", text: unlinked(text).slice(0, slackCharactersMax), emoji: false },
  });
  return {
    // Clients without blocks, and notifications, show this text.
    text: escapedForSlack(title.slice(0, titleCharactersMax)),
    blocks: [block(title), ...(body === "" ? [] : [block(body)])],
    unfurl_links: false,
    unfurl_media: false,
  };
});

export const discord: WebhookFormat = chat((event) => {
  const { title, lines } = sentenceOf(event);
  const text = [title, ...lines.filter((line) => line !== "")].join("\n");
  return {
    content: escapedForDiscord(text).slice(0, discordCharactersMax),
    allowed_mentions: { parse: [] },
    // Links of the text are shown without a preview.
    flags: 4,
  };
});

function chat(messageOf: (event: LeavingEvent) => object): WebhookFormat {
  return {
    requestOf: (event) => ({
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify(messageOf(event)),
    }),
    checkSecret: () => null,
    newSecret: () => "",
  };
}

/** Slack reads `&`, `<` and `>` as control characters, and a link or a mention begins with them. */
export function escapedForSlack(text: string): string {
  return unlinked(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[*_~`]/g, "$&\u200b");
}

/** A backslash takes a character's meaning. */
export function escapedForDiscord(text: string): string {
  return unlinked(text).replace(/[\\*_~`|>#[\]()<-]/g, "\\$&");
}

/** A space without width breaks mentions, addresses and the names of hosts, which chats turn into links. */
function unlinked(text: string): string {
  return text.replace(/@|:(?=\/\/)|\.(?=[a-z])/giu, "$&\u200b");
}
