/** Reads a pull subscription as the notifier of docs/integrate/subscriptions.md, and opens a broken stream again. */
import { setTimeout as delay } from "node:timers/promises";
import { Journal } from "./journal.ts";

const [file = "", api = "", token = "", name = ""] = process.argv.slice(2);
const retryMs = 250;
const journal = new Journal(file);
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

let dealtWith = "";
let acknowledging = false;

/** Acknowledges the latest place; a failed acknowledgement is made up for by a later one. */
async function acknowledge(): Promise<void> {
  if (acknowledging) return;
  acknowledging = true;
  for (let place = ""; place !== dealtWith; ) {
    place = dealtWith;
    const body = JSON.stringify({ position: place });
    await fetch(`${api}/api/v1/subscriptions/${name}:ack`, { method: "POST", headers, body }).catch(
      () => delay(retryMs), // Away.
    );
  }
  acknowledging = false;
}

async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

type Event = {
  readonly sequence: string;
  readonly id: string;
  readonly subject: string;
  readonly epoch: string;
};

async function follow(): Promise<void> {
  const response = await fetch(`${api}/api/v1/events?subscription=${name}`, { headers });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  let place = "";
  let data = "";
  for await (const line of lines(response.body)) {
    if (line.startsWith("id: ")) place = line.slice(4);
    else if (line.startsWith("data: ")) data = line.slice(6);
    else if (line === "" && place !== "") {
      if (data !== "") {
        const { sequence, id, subject, epoch } = JSON.parse(data) as Event;
        journal.write({ sequence: Number(sequence), id, stream: subject, epoch, partition: 0 });
      }
      dealtWith = place;
      void acknowledge();
      [place, data] = ["", ""];
    }
  }
}

for (;;) {
  await follow().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  await delay(retryMs);
}
