export { byteStreamOf } from "./byte-stream.ts";
export { tunnelLimits } from "./limits.ts";
export { splice } from "./splice.ts";
export { nameOfTarget, parseTarget, type Target } from "./target.ts";
export { type OpenTarget, openTunnel, serveTunnel, type Tunnel, type TunnelEnd } from "./tunnel.ts";
export { dialWebSocket, tunnelLink, WebSocketDoor } from "./web-sockets.ts";
export type { LinkOptions } from "./web-socket-duplex.ts";
export type { WebSocket } from "ws";
