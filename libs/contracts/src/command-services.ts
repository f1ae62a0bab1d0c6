/**
 * The commands over the bus: who answers each, with which message, and who may send it. All types are derived from the
 * services in proto/trainyard/command/v1/services.proto, as those of the API's calls are: a missing handler and a
 * mismatched caller do not compile.
 */
import {
  type DescMethod,
  type DescService,
  getOption,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import {
  CheckpointGcCommandService,
  CommonCommandService,
  ExperimentsCommandService,
  FeedsCommandService,
  LogsCommandService,
  MetricsCommandService,
  RegistryCommandService,
  SchedulerCommandService,
  SearcherCommandService,
} from "./gen/trainyard/command/v1/services_pb.ts";
import { command as commandOptions } from "./gen/trainyard/options/v1/command_pb.ts";
import type { Plain } from "./plain.ts";

/** The commands of each service by its name; `common` has those that several services answer. */
const commandServices = {
  common: CommonCommandService,
  "checkpoint-gc": CheckpointGcCommandService,
  experiments: ExperimentsCommandService,
  feeds: FeedsCommandService,
  logs: LogsCommandService,
  metrics: MetricsCommandService,
  registry: RegistryCommandService,
  scheduler: SchedulerCommandService,
  searcher: SearcherCommandService,
} as const;

export type CommandService = keyof typeof commandServices;

type MethodsOf<Service extends CommandService> =
  (typeof commandServices)[Service] extends GenService<infer Methods extends GenServiceMethods>
    ? Methods
    : never;

/** The names of the commands of a service: ty.cmd.<service>.<name> is the subject. */
export type CommandName<Service extends CommandService> = Capitalize<
  keyof MethodsOf<Service> & string
>;

type MethodOf<
  Service extends CommandService,
  Name extends CommandName<Service>,
> = MethodsOf<Service>[Uncapitalize<Name> & keyof MethodsOf<Service>];

export type CommandRequestOf<
  Service extends CommandService,
  Name extends CommandName<Service>,
> = Plain<MessageShape<MethodOf<Service, Name>["input"]>>;

export type CommandReplyOf<
  Service extends CommandService,
  Name extends CommandName<Service>,
> = Plain<MessageShape<MethodOf<Service, Name>["output"]>>;

/** Returns the messages of a command; undefined if the service has no such command. */
export function commandMethod(service: string, name: string): DescMethod | undefined {
  const own: DescService | undefined = services.get(service);
  return [own, CommonCommandService as DescService]
    .flatMap((one) => one?.methods ?? [])
    .find((method) => method.name === name);
}

const services = new Map<string, DescService>(Object.entries(commandServices));

/** The commands that agents may send, with the services that answer them. */
export const agentCommands: readonly { readonly service: string; readonly name: string }[] = [
  ...services,
].flatMap(([service, { methods }]) =>
  methods
    .filter((method) => getOption(method, commandOptions).forAgents)
    .map(({ name }) => ({ service, name })),
);
