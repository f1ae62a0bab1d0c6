import { openOverWebSocket, startProxy } from "./contract/fixture.ts";
import { tunnelContract } from "./contract/index.ts";

tunnelContract("a WebSocket", (options) =>
  openOverWebSocket(options, async (port) => ({ port, server: null })),
);

tunnelContract("a WebSocket through a proxy that knows HTTP/1.1", (options) =>
  openOverWebSocket(options, startProxy),
);
