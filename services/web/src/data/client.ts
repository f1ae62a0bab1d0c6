import { Client } from "@trainyard/client";

/** The API of the gateway that served this page; the session cookie identifies the caller. */
export const client = new Client({ url: location.origin });
