/** Header records as the client wants them. The values are encoded already, so its checks of each are left out. */
import type { MsgHdrs } from "@nats-io/nats-core";
import { MsgHdrsImpl } from "@nats-io/nats-core/internal";

export function wireHeaders(record: Readonly<Record<string, string>>): MsgHdrs {
  const headers = new MsgHdrsImpl();
  for (const name in record) headers.headers.set(name, [record[name] ?? ""]);
  return headers;
}
