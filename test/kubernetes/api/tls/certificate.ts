// Makes the server's certificate, which is its own authority, for a day. Node.js makes keys and signatures, and no
// certificates; this is the DER of the few fields that clients check. Source: RFC 5280; X.690 (DER).
import { createSign, generateKeyPairSync, randomBytes } from "node:crypto";
import { isIP } from "node:net";

export type Certificate = { certificate: string; key: string };

export const createCertificate = (names: readonly string[]): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
  const subject = sequence(
    tagged(0x31, sequence(oid("2.5.4.3"), tagged(0x0c, Buffer.from("kube-apiserver")))),
  );
  const now = Date.now();
  const day = 24 * 3600 * 1000;
  const body = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    subject,
    sequence(time(now - day), time(now + day)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions(names))),
  );
  const signature = createSign("sha256").update(body).sign(privateKey);
  const der = sequence(body, algorithm, bits(signature));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
};

const extensions = (names: readonly string[]): Buffer[] => {
  const alternatives = names.map((name) =>
    isIP(name) === 4
      ? tagged(0x87, Buffer.from(name.split(".").map(Number)))
      : tagged(0x82, Buffer.from(name)),
  );
  const critical = tagged(0x01, Buffer.of(0xff));
  const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
    sequence(oid(id), ...(isCritical ? [critical] : []), tagged(0x04, value));
  return [
    extension("2.5.29.19", true, sequence(critical)),
    // Signatures, and certificates of others.
    extension("2.5.29.15", true, tagged(0x03, Buffer.of(2, 0x84))),
    extension("2.5.29.37", false, sequence(oid("1.3.6.1.5.5.7.3.1"))),
    extension("2.5.29.17", false, sequence(...alternatives)),
  ];
};

const tagged = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const size =
    body.length < 128
      ? Buffer.of(body.length)
      : body.length < 256
        ? Buffer.of(0x81, body.length)
        : Buffer.of(0x82, body.length >> 8, body.length & 0xff);
  return Buffer.concat([Buffer.of(tag), size, body]);
};

const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, ...parts);
const integer = (value: Buffer): Buffer => tagged(0x02, value);
const bits = (value: Buffer): Buffer => tagged(0x03, Buffer.of(0), value);

const oid = (text: string): Buffer => {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = rest.flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return tagged(0x06, Buffer.of(first * 40 + second, ...bytes));
};

const time = (milliseconds: number): Buffer =>
  tagged(
    0x17,
    Buffer.from(`${new Date(milliseconds).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`),
  );
