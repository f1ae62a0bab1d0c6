/** The delivery `webhook`: it keeps URLs, headers and secrets, and sends each event as a row of its own. */
import { isRejection, type Rejection, reject } from "@trainyard/kernel";
import { feedsLimits } from "../../limits.ts";
import type { DeliveryFacts, DeliveryRoom } from "../dispatch/delivery-room.ts";
import { checkHeaders, checkSecret, checkSettings } from "./checks.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import type { WebhookFormats } from "./format.ts";
import { formatNamed, secretsAt } from "./post.ts";
import { openWebhookSink, type WebhookSinkDeps } from "./webhook-sink.ts";
import type { WebhookRow, WebhookTable } from "./webhook-table.ts";

const defaultFormat = "standard";

export type WebhookRoomDeps = WebhookSinkDeps & {
  readonly formats: WebhookFormats;
  /** Returns why events may not be sent to a URL, in one sentence; null if they may. */
  readonly checkUrl: (url: string) => string | null;
};

export function webhookRoom(deps: WebhookRoomDeps): DeliveryRoom {
  const { webhooks, deliveries, formats, clock } = deps;
  const names = Object.keys(formats);
  const urlProblem = (url: string): Rejection | null => {
    const { webhookUrlCharactersMax: most } = feedsLimits;
    const tooLong = url.length > most ? `the URL has more than ${most} characters` : null;
    const problem = tooLong ?? deps.checkUrl(url);
    return problem === null ? null : reject("invalid_request", problem);
  };
  return {
    open: openWebhookSink(deps),
    prepare: async (request, life) => {
      const { name, url, secret: given } = request;
      const format = request.webhook?.format || defaultFormat;
      const headers = checkHeaders(request.headers);
      if (isRejection(headers)) return headers;
      const problem = checkSettings(names, format, request.webhook) ?? urlProblem(url);
      if (problem !== null) return problem;
      const refused = checkSecret(formatNamed(formats, format), given);
      if (refused !== null) return refused;
      const secret = given === "" ? formatNamed(formats, format).newSecret() : given;
      // The deliveries of a deleted webhook of this name are not those of the new one.
      await purgeIfOther(webhooks, deliveries, name, life);
      return { secret: await webhooks.put({ name, life, format, url, headers, secret }) };
    },
    change: async (request) => {
      const { name } = request;
      const present = await webhooks.find(name);
      if (present === undefined) return gone(name);
      const format = request.webhook?.format || present.format;
      const headers = checkHeaders(request.headers, present.headers);
      if (isRejection(headers)) return headers;
      const problem =
        checkSettings(names, format, request.webhook) ??
        checkSecretOf(formats, present, format) ??
        (request.url === "" ? null : urlProblem(request.url));
      if (problem !== null) return problem;
      await webhooks.change(name, { format, headers, url: request.url || present.url });
      return undefined;
    },
    remove: async (name) => {
      await webhooks.remove(name);
      while (await deliveries.purgeOf(name));
    },
    facts: async (asked) => {
      const rows = await webhooks.all(asked);
      const { webhookWaitingMax } = feedsLimits;
      const waiting = await deliveries.waitingOf(asked, webhookWaitingMax);
      const nowMs = clock.nowMs();
      const factsOf = (row: WebhookRow): DeliveryFacts => ({
        url: new URL(row.url).origin,
        headerNames: Object.keys(row.headers),
        ...(secretsAt(row, nowMs).length > 1 && row.oldUntilMs !== null
          ? { oldSecretUntilMs: row.oldUntilMs }
          : {}),
        waiting: waiting.get(row.name) ?? 0,
      });
      return new Map(rows.map((row) => [row.name, factsOf(row)]));
    },
  };
}

export const gone = (name: string): Rejection =>
  reject("not_found", `there is no webhook "${name}"`);

function checkSecretOf(
  formats: WebhookFormats,
  { secret }: WebhookRow,
  format: string,
): Rejection | null {
  if (formatNamed(formats, format).checkSecret(secret) === null) return null;
  if (secret === "") {
    const detail = `the webhook has no secret, and the format ${format} signs: delete the webhook and create it in this format`;
    return reject("invalid_request", detail);
  }
  const detail = `the secret of the webhook does not suit the format ${format}: rotate it to one that begins with whsec_ first`;
  return reject("invalid_request", detail);
}

async function purgeIfOther(
  webhooks: WebhookTable,
  deliveries: DeliveryTable,
  name: string,
  life: string,
): Promise<void> {
  if ((await webhooks.lifeOf(name)) === life) return;
  while (await deliveries.purgeOf(name));
}
