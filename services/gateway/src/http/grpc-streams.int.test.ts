/** Uploads, downloads and reflection over gRPC, with a simulated experiments service. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  create,
  createFileRegistry,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  CreateExperimentResponseSchema,
  CreateExperimentWithCodeRequestSchema,
  HttpBodySchema,
} from "@trainyard/contracts/api";
import type { CreateExperiment } from "@trainyard/contracts/commands";
import { assert, limits } from "@trainyard/kernel";
import { create as createTar } from "tar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created } from "../testing/example-events.ts";
import { type GrpcAnswer, GrpcConnection } from "../testing/grpc-call.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let connection: GrpcConnection;
const asked: Plain<CreateExperiment>[] = [];
/** A packed folder of 1 MiB that does not compress. */
let code: Buffer;

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  connection = stack.use(new GrpcConnection(gateway.grpcUrl));
  let number = 0;
  stack.use(
    await gateway.serving("experiments", {
      CreateExperiment: async (request) => {
        asked.push(request);
        number += 1;
        const { paused: _paused, config = {}, parent, ...given } = request;
        const stream = `experiment-${number}`;
        const made = created({ ...given, config, ...(parent && { parent }) });
        return { position: await gateway.append(stream, made), stream };
      },
    }),
  );
  const cwd = await mkdtemp(join(tmpdir(), "trainyard-upload-"));
  stack.defer(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "train.py"), "print('train')\n");
  await writeFile(join(cwd, "data.bin"), randomBytes(1024 * 1024));
  const file = join(cwd, "code.tar.gz");
  await createTar({ cwd, file, gzip: true, portable: true }, ["train.py", "data.bin"]);
  code = await readFile(file);
});

afterAll(() => stack.disposeAsync());

const config = `name: iris
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_time: 4}
`;

type Part = NonNullable<MessageInitShape<typeof CreateExperimentWithCodeRequestSchema>["part"]>;

const start = (archiveBytes: number): Part => ({
  case: "start",
  value: { request: { config }, archiveBytes },
});

const piecesOf = (bytes: Buffer): readonly Part[] =>
  Array.from({ length: Math.ceil(bytes.length / 100_000) }, (_, n) => ({
    case: "piece",
    value: bytes.subarray(n * 100_000, (n + 1) * 100_000),
  }));

const bearer = () => ({ authorization: `Bearer ${gateway.token}` });

const upload = (parts: readonly Part[], headers: Readonly<Record<string, string>> = {}) =>
  connection.call("/trainyard.api.v1.UploadService/CreateExperimentWithCode", {
    messages: parts.map((part) =>
      toBinary(
        CreateExperimentWithCodeRequestSchema,
        create(CreateExperimentWithCodeRequestSchema, { part }),
      ),
    ),
    headers: { ...bearer(), ...headers },
  });

const experimentIn = ({ messages: [bytes] }: GrpcAnswer) => {
  assert(bytes !== undefined, "the upload was answered");
  return codecOf<object>(CreateExperimentResponseSchema).toFullJson(
    fromBinary(CreateExperimentResponseSchema, bytes),
  );
};

describe("an experiment whose code is sent in pieces", () => {
  test("is that of the same request over REST, and its code is downloaded in pieces", async () => {
    const answer = await upload([start(code.length), ...piecesOf(code)]);
    expect(answer.code, answer.message).toBe(0);
    const body = { config, context: code.toString("base64") };
    expect((await gateway.call("POST", "/api/v1/experiments", { body })).status).toBe(200);
    const [first, second] = asked.slice(-2);
    expect(first?.contextDigest).toMatch(/^[0-9a-f]{64}$/);
    expect({ ...first, seed: 0, config: null }).toEqual({ ...second, seed: 0, config: null });
    const { experiment } = experimentIn(answer) as { experiment: { id: string } };
    const download = await connection.call(
      "/trainyard.api.v1.SubmissionService/DownloadExperimentCode",
      { messages: [Buffer.from([0x0a, 1, experiment.id.charCodeAt(0)])], headers: bearer() },
    );
    const pieces = download.messages.map((bytes) => fromBinary(HttpBodySchema, bytes));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces[0]?.contentType).toBe("application/gzip");
    expect(Buffer.concat(pieces.map(({ data }) => data))).toEqual(code);
    expect(download.metadata["content-disposition"]).toContain(".tar.gz");
  });

  test("is made once for each idempotency key, whose other uses are refused", async () => {
    const parts = [start(code.length), ...piecesOf(code)];
    const key = { "idempotency-key": "upload-1" };
    const first = await upload(parts, key);
    const made = asked.length;
    expect(await upload(parts, key)).toMatchObject({ code: 0, messages: first.messages });
    expect(asked).toHaveLength(made);
    const other = Buffer.concat([code.subarray(0, -1), Buffer.from([7])]);
    const refused = await upload([start(other.length), ...piecesOf(other)], key);
    expect(refused.metadata["trainyard-code"]).toBe("idempotency_key_reused");
  });

  test.each([
    ["that begins with a piece", () => piecesOf(code), "invalid_request"],
    [
      "with fewer bytes than announced",
      () => [start(code.length + 1), ...piecesOf(code)],
      "invalid_request",
    ],
    ["with more bytes than announced", () => [start(9), ...piecesOf(code)], "invalid_request"],
    ["that starts twice", () => [start(9), start(9)], "invalid_request"],
    ["that ends before it starts", () => [], "invalid_request"],
    ["larger than code may be", () => [start(limits.contextBytesMax + 1)], "context_too_large"],
  ])("%s is refused", async (_what, parts, refusal) => {
    const before = asked.length;
    expect((await upload(parts())).metadata["trainyard-code"]).toBe(refusal);
    expect(asked).toHaveLength(before);
  });

  test("waits for no memory: it is refused with a retry while other bodies fill it, and their memory comes back", async () => {
    const large = limits.contextBytesMax;
    const head = toBinary(
      CreateExperimentWithCodeRequestSchema,
      create(CreateExperimentWithCodeRequestSchema, { part: start(large) }),
    );
    const framed = Buffer.concat([Buffer.alloc(5), head]);
    framed.writeUInt32BE(head.length, 1);
    const open = () =>
      connection.call("/trainyard.api.v1.UploadService/CreateExperimentWithCode", {
        ...{ bytes: framed, headers: bearer(), untilMs: 1_500 },
      });
    const codes = await Promise.all([open(), open(), open()]);
    expect(codes.map(({ metadata }) => metadata["trainyard-code"]).toSorted()).toEqual([
      "busy",
      undefined,
      undefined,
    ]);
    await expect
      .poll(async () => (await upload([start(code.length), ...piecesOf(code)])).code)
      .toBe(0);
  });
});

/** Asks the reflection service. Returns the bytes of a field of each of its answers. */
async function reflected(
  field: number,
  text: string,
  answer: readonly number[],
): Promise<readonly Uint8Array[]> {
  const request = new BinaryWriter().tag(field, WireType.LengthDelimited).string(text).finish();
  const { messages } = await connection.call(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    { messages: [request] },
  );
  let found: readonly Uint8Array[] = messages;
  for (const wanted of answer) found = found.flatMap((bytes) => fieldsOf(bytes, wanted));
  return found;
}

function fieldsOf(bytes: Uint8Array, wanted: number): readonly Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type, field);
  }
  return found;
}

test("a client that knows only reflection lists, submits and follows an experiment", async () => {
  const services = (await reflected(7, "", [6, 1, 1])).map((name) => Buffer.from(name).toString());
  expect(services).toContain("trainyard.api.v1.EventService");
  const files = new Map<string, FileDescriptorProto>();
  const read = async (field: number, name: string): Promise<void> => {
    for (const bytes of await reflected(field, name, [4, 1])) {
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
      if (files.has(file.name)) continue;
      files.set(file.name, file);
      for (const imported of file.dependency) if (!files.has(imported)) await read(3, imported);
    }
  };
  for (const name of services) await read(4, name);
  const ordered = inOrder(files);
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: ordered }));
  const methodNamed = (service: string, name: string): DescMethod => {
    const method = registry
      .getService(`trainyard.api.v1.${service}`)
      ?.methods.find((one) => one.name === name);
    assert(method !== undefined, `reflection has ${name}`);
    return method;
  };
  const ask = async (method: DescMethod, fields: Record<string, unknown>, few?: number) => {
    const { messages } = await connection.call(`/${method.parent.typeName}/${method.name}`, {
      messages: [toBinary(method.input, create(method.input, fields))],
      headers: bearer(),
      ...(few !== undefined && { enough: ({ length }) => length >= few }),
    });
    return messages.map((bytes) =>
      toJson(method.output, fromBinary(method.output, bytes), { registry }),
    ) as {
      [key: string]: unknown;
    }[];
  };
  const [made] = await ask(methodNamed("ExperimentService", "CreateExperiment"), { config });
  assert(made !== undefined, "the experiment was made");
  const { id } = made["experiment"] as { id: string };
  const [list] = await ask(methodNamed("ExperimentService", "ListExperiments"), {
    minPosition: made["position"],
  });
  expect(list?.["items"]).toContainEqual(expect.objectContaining({ id }));
  const events = await ask(methodNamed("EventService", "WatchEvents"), { after: "0" }, 2);
  expect(events.length).toBeGreaterThanOrEqual(2);
});

/** Returns files after those that they import. */
function inOrder(files: ReadonlyMap<string, FileDescriptorProto>): FileDescriptorProto[] {
  const done = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto | undefined): void => {
    if (file === undefined || done.has(file)) return;
    for (const name of file.dependency) add(files.get(name));
    done.add(file);
  };
  for (const file of files.values()) add(file);
  return [...done];
}
