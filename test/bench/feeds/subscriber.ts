/**
 * A reader of the stream of events that does as little as possible with it, so that the processor time of this process
 * is the gateway's.
 */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

export type Subscriber = Disposable & {
  /** The events that have arrived. */
  readonly arrived: number;
};

/** The end of a stream is `data: {}`. */
const eventBegin = '\ndata: {"';

type Source = { readonly address: string; readonly token: string };

/** Opens a stream. `onEvent` is called with the text of each event. */
export async function subscribe(
  { address, token }: Source,
  query: Readonly<Record<string, string>>,
  onEvent: (text: string) => void = () => {},
): Promise<Subscriber> {
  const answer = await opened({ address, token }, query);
  let rest = "";
  const subscriber = { arrived: 0, [Symbol.dispose]: () => answer.destroy() };
  answer.setEncoding("utf8").on("data", (chunk: string) => {
    const blocks = `${rest}${chunk}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (!block.includes(eventBegin)) continue;
      subscriber.arrived += 1;
      onEvent(block);
    }
  });
  answer.on("error", () => {});
  return subscriber;
}

/** Reads a stream to its end; returns the number of its events. */
export async function replayed(
  source: Source,
  query: Readonly<Record<string, string>>,
): Promise<number> {
  const answer = await opened(source, { ...query, no_follow: "true" });
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += String(chunk);
  return text.split(eventBegin).length - 1;
}

async function opened(
  { address, token }: Source,
  query: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  const request = get(`${address}/api/v1/events?${new URLSearchParams(query)}`, {
    agent: false,
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
  });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`the stream of events: ${answer.statusCode}`);
  return answer;
}
