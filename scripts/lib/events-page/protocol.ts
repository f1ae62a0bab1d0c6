/**
 * The declarations of proto/, with their comments, from the image that `buf build` writes: a FileDescriptorSet as proto
 * JSON.
 */
import { runTool } from "../run-tool.ts";

export type Field = {
  /** The field's name in a stored body. */
  readonly name: string;
  /** The field's type, for example `list of Placement` or `optional uint32`. */
  readonly type: string;
  /** The full names of the messages and enumerations in the type. */
  readonly refers: readonly string[];
  readonly comment: string;
};

export type Message = {
  readonly name: string;
  readonly comment: string;
  readonly fields: readonly Field[];
};

export type Enum = {
  readonly name: string;
  readonly comment: string;
  readonly values: readonly { readonly name: string; readonly comment: string }[];
};

export type Protocol = {
  /** The messages by full name. */
  readonly messages: ReadonlyMap<string, Message>;
  readonly enums: ReadonlyMap<string, Enum>;
  /** The comments of the methods, by service and method: `trainyard.api.v1.JobService.MoveJob`. */
  readonly methods: ReadonlyMap<string, string>;
  /** The comments of the services by full name. */
  readonly services: ReadonlyMap<string, string>;
  /** The streams by category, from comments of the form `Stream trial-<id>. Owner: experiments.` */
  readonly streams: ReadonlyMap<string, { readonly shape: string; readonly owner: string }>;
};

type FieldDescriptor = {
  readonly name: string;
  readonly jsonName: string;
  readonly label?: string;
  readonly type: string;
  readonly typeName?: string;
  readonly proto3Optional?: boolean;
};
type MessageDescriptor = {
  readonly name: string;
  readonly field?: readonly FieldDescriptor[];
  readonly nestedType?: readonly MessageDescriptor[];
};
type EnumDescriptor = {
  readonly name: string;
  readonly value: readonly { readonly name: string }[];
};
type Location = {
  readonly path?: readonly number[];
  readonly leadingComments?: string;
  readonly leadingDetachedComments?: readonly string[];
};
export type FileDescriptor = {
  readonly package?: string;
  readonly messageType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly service?: readonly {
    readonly name: string;
    readonly method?: readonly { readonly name: string }[];
  }[];
  readonly sourceCodeInfo?: { readonly location?: readonly Location[] };
};

/** Throws with buf's output when proto/ does not compile. */
export async function readProtocol(): Promise<Protocol> {
  const { code, stdout, output } = await runTool("buf", ["build", "proto", "-o", "-#format=json"]);
  if (code !== 0) throw new Error(output);
  return protocolOf((JSON.parse(stdout) as { readonly file: readonly FileDescriptor[] }).file);
}

export function protocolOf(files: readonly FileDescriptor[]): Protocol {
  const messages = new Map<string, Message>();
  const enums = new Map<string, Enum>();
  const methods = new Map<string, string>();
  const services = new Map<string, string>();
  const streams = new Map<string, { shape: string; owner: string }>();
  for (const file of files) {
    const comments = commentsOf(file);
    const full = (name: string): string => `${file.package ?? ""}.${name}`;
    // Paths consist of field numbers of descriptor.proto: 4 is a message, 5 an enum, 6 a service, 2 a field of a
    // message, a value of an enum or a method of a service.
    for (const [at, message] of (file.messageType ?? []).entries()) {
      const fields = (message.field ?? []).map((field, index) => ({
        ...typeOf(field, message),
        name: field.jsonName,
        comment: comments.get(`4,${at},2,${index}`) ?? "",
      }));
      const comment = comments.get(`4,${at}`) ?? "";
      messages.set(full(message.name), { name: message.name, comment, fields });
    }
    for (const [at, { name, value }] of (file.enumType ?? []).entries()) {
      const values = value.map((one, index) => ({
        name: one.name,
        comment: comments.get(`5,${at},2,${index}`) ?? "",
      }));
      enums.set(full(name), { name, comment: comments.get(`5,${at}`) ?? "", values });
    }
    for (const [at, { name, method = [] }] of (file.service ?? []).entries()) {
      services.set(full(name), comments.get(`6,${at}`) ?? "");
      for (const [index, one] of method.entries()) {
        methods.set(`${full(name)}.${one.name}`, comments.get(`6,${at},2,${index}`) ?? "");
      }
    }
    for (const [category, stream] of streamsOf(file)) streams.set(category, stream);
  }
  return { messages, enums, methods, services, streams };
}

function commentsOf(file: FileDescriptor): ReadonlyMap<string, string> {
  return new Map(
    (file.sourceCodeInfo?.location ?? []).map(({ path = [], leadingComments = "" }) => [
      path.join(","),
      leadingComments.trim().replaceAll(/\s*\n\s*/g, " "),
    ]),
  );
}

function streamsOf(file: FileDescriptor) {
  const detached = (file.sourceCodeInfo?.location ?? []).flatMap(
    ({ leadingDetachedComments = [] }) => leadingDetachedComments,
  );
  return detached.flatMap((comment) => {
    const [, shape, owner] = /^ Stream (.+)\. Owner: ([\w-]+)\./.exec(comment) ?? [];
    if (shape === undefined || owner === undefined) return [];
    return [[shape.replace(/-.*/, ""), { shape, owner }] as const];
  });
}

type Typed = Pick<Field, "type" | "refers">;

function typeOf(field: FieldDescriptor, message: MessageDescriptor): Typed {
  const { type, refers } = elementOf(field);
  if (field.label !== "LABEL_REPEATED") {
    return { type: field.proto3Optional === true ? `optional ${type}` : type, refers };
  }
  const entry = (message.nestedType ?? []).find((one) =>
    field.typeName?.endsWith(`.${message.name}.${one.name}`),
  );
  const [key, value] = (entry?.field ?? []).map(elementOf);
  if (key === undefined || value === undefined) return { type: `list of ${type}`, refers };
  return { type: `map of ${key.type} to ${value.type}`, refers: value.refers };
}

function elementOf({ type, typeName }: FieldDescriptor): Typed {
  if (typeName === undefined) return { type: type.replace("TYPE_", "").toLowerCase(), refers: [] };
  if (typeName === ".google.protobuf.Struct") return { type: "JSON object", refers: [] };
  const name = typeName.slice(1);
  return { type: name.slice(name.lastIndexOf(".") + 1), refers: [name] };
}
