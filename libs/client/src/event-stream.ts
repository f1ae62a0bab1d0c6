/** A reader of server-sent events (WHATWG HTML §9.2.6), limited to the parts of the format that the gateway uses. */
export type ServerSentEvent = {
  readonly type: string;
  readonly id: string;
  readonly data: string;
};

/** Yields the events until the connection ends or breaks. Reconnecting is up to the caller. */
export async function* readEvents(response: Response): AsyncGenerator<ServerSentEvent> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  // A reader instead of `for await`, which not all browsers offer for the body of an answer.
  const body: ReadableStream<Uint8Array> = response.body;
  const chunks = body.getReader();
  try {
    for (;;) {
      const chunk = await chunks.read().catch(() => null); // A broken connection is the end of it.
      if (chunk === null || chunk.done) return;
      rest += decoder.decode(chunk.value, { stream: true });
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const event = parseEvent(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (event !== null) yield event;
      }
    }
  } finally {
    // A reader that stops early closes the connection: an open connection would keep its process alive.
    await chunks.cancel().catch(() => {});
  }
}

/** Parses the lines of one event; null for a comment. An id without data is a place after which a reader continues. */
function parseEvent(block: string): ServerSentEvent | null {
  let type = "message";
  let id = "";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
    else if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("event:")) type = line.slice(6).trim();
  }
  return data.length === 0 && id === "" ? null : { type, id, data: data.join("\n") };
}
