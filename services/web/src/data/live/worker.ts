/** The SharedWorker of all tabs of this browser, which holds their live stream. */
import { browserHub } from "./browser-hub.ts";
import type { FromTab } from "./protocol.ts";

const hub = browserHub();

globalThis.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  const hear = hub.attach((message) => port.postMessage(message));
  port.addEventListener("message", ({ data }: MessageEvent<FromTab>) => hear(data));
  port.start();
});
