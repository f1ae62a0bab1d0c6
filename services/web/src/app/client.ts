import { Client } from "@trainyard/client";

/** The gateway that served this page; the session cookie says who calls. */
export const client = new Client({ url: location.origin });
