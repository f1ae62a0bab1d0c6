import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Plain } from "@trainyard/contracts";
import type {
  AnalysisService,
  CheckpointService,
  ClusterService,
  ExperimentService,
  ProfileService,
  RunService,
  SearchService,
  StorageService,
  ViewService,
} from "@trainyard/contracts/api";

type MethodsOf<Service> =
  Service extends GenService<infer Methods extends GenServiceMethods> ? Methods : never;

type AllMethods = MethodsOf<typeof ExperimentService> &
  MethodsOf<typeof CheckpointService> &
  MethodsOf<typeof StorageService> &
  MethodsOf<typeof ProfileService> &
  MethodsOf<typeof RunService> &
  MethodsOf<typeof SearchService> &
  MethodsOf<typeof ClusterService> &
  MethodsOf<typeof AnalysisService> &
  MethodsOf<typeof ViewService>;

type NamesOf<Kind extends string> = {
  [Name in keyof AllMethods]: AllMethods[Name]["methodKind"] extends Kind ? Name : never;
}[keyof AllMethods];

/** The methods of the public API that answer once, by their names in lower camel case. */
export type UnaryName = NamesOf<"unary">;
/** The methods whose answer is a stream of messages. */
export type StreamName = NamesOf<"server_streaming">;

/** What may be left out of a request has its default. */
export type RequestOf<Name extends keyof AllMethods> = MessageInitShape<AllMethods[Name]["input"]>;
export type ReplyOf<Name extends keyof AllMethods> = Plain<
  MessageShape<AllMethods[Name]["output"]>
>;
