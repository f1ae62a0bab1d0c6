import { client } from "../client.ts";
import { clock } from "../clock.ts";
import { LiveHub } from "./hub.ts";

/** Creates the hub with the browser's clock and the API's client. */
export function browserHub(): LiveHub {
  return new LiveHub({
    stream: (request, signal) => client.stream("watch", request, { signal }),
    nowMs: () => clock.nowMs(),
    after: (ms, then) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
  });
}
