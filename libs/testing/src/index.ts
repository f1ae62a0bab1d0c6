export { madeOnce, postgresBinaries } from "./postgres-binaries.ts";
export { freePort } from "./free-port.ts";
export { type Decided, type Given, given } from "./given.ts";
export { atRest, ManualClock } from "./manual-clock.ts";
export { hasNginx, type RunningNginx, runNginx } from "./nginx.ts";
export { hasKcat, type MockKafka, startMockKafka } from "./mock-kafka.ts";
export { QuickClock } from "./quick-clock.ts";
export { SilentServer } from "./silent-server.ts";
export { startTestPostgres, type TestPostgres, type TestPostgresOptions } from "./postgres.ts";
