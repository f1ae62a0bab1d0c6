/** Node's HTTP. An import of `node:http` loads all of its exports, also `fetch`'s code, which takes a process 40 ms. */
export const { createServer, get } = process.getBuiltinModule("node:http");
