/** The forms in which webhooks receive events, by name. */
import type { WebhookFormats } from "../format.ts";
import { discord, slack } from "./chats.ts";
import { determined } from "./determined.ts";
import { standard } from "./standard.ts";

export const formats: WebhookFormats = { standard, slack, discord, determined };
