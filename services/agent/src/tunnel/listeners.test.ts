import { expect, test } from "vitest";
import { couldTake, dialAddressOf, parseListeners } from "./listeners.ts";

// Lines of a real host, with a connection that is established.
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0000000000000000 100 0 0 10 0
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31338 1 0000000000000000 100 0 0 10 0
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 31339 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31340 1 0000000000000000 100 0 0 10 0`;
const table6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 100 0 0 10 0
   3: B80D0120000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4 1 0 100 0 0 10 0`;

test("the listeners on a port are read with their addresses", () => {
  expect(parseListeners(table, 8080)).toEqual([
    { address: "127.0.0.1", inode: "31337" },
    { address: "0.0.0.0", inode: "31338" },
  ]);
  expect(parseListeners(table6, 8080).map(({ address }) => address)).toEqual([
    "::1",
    "::",
    "127.0.0.1",
    "2001:db8:0:0:0:0:0:1",
  ]);
  expect(parseListeners("", 8080)).toEqual([]);
});

test("a listener on all addresses is dialled at the loopback", () => {
  const dialled = ["0.0.0.0", "::", "10.0.0.7"].map(dialAddressOf);
  expect(dialled).toEqual(["127.0.0.1", "::1", "10.0.0.7"]);
});

test.each([
  ["0.0.0.0", "127.0.0.1", true],
  ["0.0.0.0", "::1", false],
  ["::", "127.0.0.1", true],
  ["::", "::1", true],
  ["127.0.0.1", "127.0.0.1", true],
  ["10.0.0.7", "127.0.0.1", false],
])("a listener on %s could take a connection to %s: %s", (address, dialled, could) => {
  expect(couldTake({ address, inode: "" }, dialled)).toBe(could);
});
