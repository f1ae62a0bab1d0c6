// Writes field-numbers.json: where a protobuf body has the fields of api-schema.json, as kubectl's own descriptors say,
// which it has compressed in its program:
//   node test/kubernetes/api/schemas/generate-numbers-main.ts "$(command -v kubectl)"
// "3" is field 3 of the type's message; "2.6" is field 6 of the message in field 2, which JSON shows without a name.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { type StructSchema, structOf, typeNames } from "./schema.ts";

const program = readFileSync(process.argv[2] ?? "kubectl");
const GZIP = Buffer.from("1f8b08000000000002ff", "hex");

const messages = new Map<string, DescriptorProto>();
for (let at = program.indexOf(GZIP); at >= 0; at = program.indexOf(GZIP, at + 4)) {
  const content = unpacked(program.subarray(at, at + 200_000));
  if (!content?.subarray(0, 80).includes("k8s.io/")) continue;
  const file = fromBinary(FileDescriptorProtoSchema, content);
  for (const message of file.messageType) messages.set(`.${file.package}.${message.name}`, message);
}

/** Null for bytes that only look like the beginning of a compressed file. */
function unpacked(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes, { finishFlush: 2 });
  } catch {
    return null;
  }
}

const collect = (
  message: DescriptorProto,
  struct: StructSchema,
  before: string,
): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const { name: declared, number, type, typeName } of message.field) {
    const name = declared === "uID" ? "uid" : declared;
    const there = `${before}${number}`;
    const inner = messages.get(typeName);
    if (struct.fields.has(name)) found[name] = there;
    else if (type === FieldDescriptorProto_Type.MESSAGE && inner && before.length < 4) {
      // A message that the type lacks by name may be written out in it.
      for (const [field, path] of Object.entries(collect(inner, struct, `${there}.`)))
        found[field] ??= path;
    }
  }
  return found;
};

const numbers: Record<string, Record<string, string>> = {};
for (const name of typeNames()) {
  const message = messages.get(`.${name.replace(/^io\.k8s\./, "k8s.io.")}`);
  if (message) numbers[name] = collect(message, structOf(name), "");
}
writeFileSync(
  join(import.meta.dirname, "field-numbers.json"),
  `${JSON.stringify(numbers, null, 1)}\n`,
);
