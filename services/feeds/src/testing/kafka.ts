/** Kafka for tests: mock brokers, a certificate, and a consumer that is another program than the service's client. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { hasKcat, type MockKafka, startMockKafka } from "@trainyard/testing";
import { absent, notRun, type Skip } from "@trainyard/testing/needs";

/** The partitions of a topic of the mock brokers. */
export const mockPartitions = 4;

export type Received = {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly payload: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

/** Starts mock brokers. Without kcat the test is skipped, or fails with TRAINYARD_REQUIRE=kafka. */
export async function mockKafka(skip: Skip): Promise<MockKafka> {
  if (hasKcat()) return await startMockKafka();
  return notRun(skip, absent("kafka", "kcat, from the distribution"));
}

/**
 * Reads a partition from an offset to its end, or until `take` answers false: then the program is killed. Each message
 * that the program has written is offered at most once.
 */
export async function readPartition(
  kafka: MockKafka,
  topic: string,
  partition: number,
  offset: number,
  take: (message: Received) => boolean,
): Promise<void> {
  const where = ["-C", "-b", kafka.brokers.join(","), "-t", topic, "-p", String(partition)];
  const how = ["-o", String(offset), "-J", "-e", "-q", "-X", "fetch.wait.max.ms=10"];
  const child = spawn("kcat", [...where, ...how], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    if (take(messageOf(line))) continue;
    child.kill("SIGKILL");
    break;
  }
  await ended;
}

/** Reads all messages of a topic, each partition in its order. */
export async function readTopic(kafka: MockKafka, topic: string): Promise<readonly Received[]> {
  const read = Array.from({ length: mockPartitions }, async (_, partition) => {
    const messages: Received[] = [];
    await readPartition(kafka, topic, partition, 0, (message) => messages.push(message) > 0);
    return messages;
  });
  return (await Promise.all(read)).flat();
}

function messageOf(line: string): Received {
  const { headers = [], ...rest } = JSON.parse(line) as Omit<Received, "headers"> & {
    readonly headers?: readonly string[];
  };
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : []));
  return { ...rest, headers: Object.fromEntries(pairs) as Record<string, string> };
}

export type Certificate = Disposable & {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
};

/** Makes a certificate for 127.0.0.1, signed by itself, that was valid until a day in the past or in the future. */
export function certificate(until: "2020-01-02" | "2049-01-02"): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-certificate-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...options: readonly string[]): void => {
    execFileSync("openssl", [...options], { cwd: folder, stdio: "ignore" });
  };
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  openssl(
    "req",
    "-new",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    "key",
    "-out",
    "csr",
    ...subject,
  );
  writeFileSync(at("index"), "");
  writeFileSync(at("serial"), "01\n");
  writeFileSync(at("settings"), settings);
  const dates = [
    "-startdate",
    "20200101000000Z",
    "-enddate",
    `${until.replaceAll("-", "")}000000Z`,
  ];
  const names = ["-config", "settings", "-in", "csr", "-keyfile", "key", "-out", "cert"];
  openssl("ca", "-batch", "-selfsign", ...names, ...dates);
  return {
    certFile: at("cert"),
    keyFile: at("key"),
    cert: readFileSync(at("cert"), "utf8"),
    key: readFileSync(at("key"), "utf8"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const settings = `
[ca]
default_ca = here
[here]
new_certs_dir = .
database = index
serial = serial
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
`;
