import { parseEnvironment } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { kafkaOf, kafkaVariables } from "./config.ts";

const here = import.meta.filename;
const prefix = "TRAINYARD_FEEDS_KAFKA_";
const needed = { BROKERS: "kafka-1:9092", TOPIC: "events" };

function read(settings: Readonly<Record<string, string>>) {
  const named = Object.entries(settings).map(([name, value]) => [`${prefix}${name}`, value]);
  const environment = Object.fromEntries(named) as Record<string, string>;
  return kafkaOf(parseEnvironment(z.object(kafkaVariables), environment));
}

test("without brokers there is no sink for Kafka", () => {
  expect(read({})).toBeNull();
});

test("brokers and a topic are enough, and everything else is off", () => {
  const settings = { ...needed, BROKERS: "kafka-1:9092,10.0.0.7:9093" };
  const brokers = ["kafka-1:9092", "10.0.0.7:9093"];
  expect(read(settings)).toEqual({ brokers, topic: "events", sasl: null, tls: null });
});

test("a login is a mechanism, a user and a password or its file", () => {
  const login = { SASL_MECHANISM: "scram-sha-512", SASL_USERNAME: "trainyard" };
  const text = read({ ...needed, ...login, SASL_PASSWORD: "s" });
  expect(text?.sasl).toEqual({
    mechanism: "scram-sha-512",
    username: "trainyard",
    password: { text: "s" },
  });
  const file = read({ ...needed, ...login, SASL_PASSWORD_FILE: here });
  expect(file?.sasl?.password).toEqual({ file: here });
});

test("TLS is on if there is a file for it, or if it is asked for", () => {
  const none = { caFile: null, certFile: null, keyFile: null };
  expect(read({ ...needed, TLS: "on" })?.tls).toEqual(none);
  expect(read({ ...needed, TLS_CA_FILE: here })?.tls).toEqual({ ...none, caFile: here });
  const both = { TLS_CERT_FILE: here, TLS_KEY_FILE: here };
  expect(read({ ...needed, ...both })?.tls).toEqual({ ...none, certFile: here, keyFile: here });
});

test.each([
  [{ BROKERS: "kafka" }, "BROKERS: must be HOST:PORT"],
  [{ BROKERS: "[::1]:9092" }, "BROKERS: must be HOST:PORT"],
  [{ TOPIC: "a/b" }, "TOPIC: must be the name of a topic"],
  [{ TOPIC: ".." }, "TOPIC: must be the name of a topic"],
  [{ SASL_MECHANISM: "gssapi" }, "SASL_MECHANISM: must be one of plain, scram-sha-256"],
  [{ SASL_PASSWORD_FILE: "/no/such/file" }, "SASL_PASSWORD_FILE: must be a file"],
  [{ TLS: "yes" }, "TLS: must be on or off"],
  [{ TLS_CA_FILE: "/no/such/file" }, "TLS_CA_FILE: must be a file"],
  [{ SASL_MECHANISM: "plain", SASL_USERNAME: "u" }, "belong together: set all three or none"],
  [{ SASL_PASSWORD: "s" }, "belong together: set all three or none"],
  [{ SASL_PASSWORD: "s", SASL_PASSWORD_FILE: here }, "are both set: set one of them"],
  [{ TLS_CERT_FILE: here }, "TLS_CERT_FILE and TRAINYARD_FEEDS_KAFKA_TLS_KEY_FILE belong together"],
  [{ TLS: "off", TLS_CA_FILE: here }, "TLS is off, but there are files for TLS"],
])("a wrong setting of Kafka is refused in one sentence: %j", (settings, sentence) => {
  expect(() => read({ ...needed, ...settings })).toThrow(sentence);
});

test("a setting of Kafka without brokers or a topic is refused", () => {
  expect(() => read({ TOPIC: "events" })).toThrow("TOPIC is set without");
  expect(() => read({ SASL_USERNAME: "u" })).toThrow("SASL_USERNAME is set without");
  expect(() => read({ BROKERS: "kafka-1:9092" })).toThrow("BROKERS is set without");
});
