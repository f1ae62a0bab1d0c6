/** Receives a subscription over NATS as the program of docs/integrate/nats.md does, and connects again. */
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { Journal } from "./journal.ts";

const [file = "", servers = "", user = "", pass = "", subject = ""] = process.argv.slice(2);
const retryMs = 250;
const journal = new Journal(file);

async function receive(): Promise<void> {
  const connection = await connect({ servers, user, pass });
  let last = 0;
  for await (const message of connection.subscribe(subject)) {
    const header = (name: string): string => message.headers?.get(name) ?? "";
    if (Number(header("Ty-Follows") || 0) > last) continue;
    const [id, stream, epoch] = [header("ce-id"), header("ce-subject"), header("ce-epoch")];
    last = Number(header("ce-sequence"));
    journal.write({ sequence: last, id, stream, epoch, partition: 0 });
    message.respond();
  }
}

for (;;) {
  await receive().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  await delay(retryMs);
}
