import { expect, test } from "vitest";
import { agentCommands, commandMethod } from "./command-services.ts";
import { file_trainyard_command_v1_services as file } from "./gen/trainyard/command/v1/services_pb.ts";

/** CheckpointGcCommandService has the commands of checkpoint-gc. */
function nameOf(service: string): string {
  const words = service.replace(/CommandService$/, "").match(/[A-Z][a-z]*/g) ?? [];
  return words.join("-").toLowerCase();
}

test("each command in proto is found by its service and its name", () => {
  for (const { name, methods } of file.services) {
    for (const method of methods) {
      expect(commandMethod(nameOf(name), method.name)).toBe(method);
    }
  }
});

test("each command has the name of its message", () => {
  const methods = file.services.flatMap((service) => service.methods);
  expect(methods.map(({ name }) => name)).toEqual(methods.map(({ input }) => input.name));
});

test("agents may send only the commands of this list", () => {
  expect(agentCommands).toEqual([
    { service: "logs", name: "WriteLines" },
    { service: "registry", name: "PlanContextDownload" },
  ]);
});

test("a service has the commands that several services answer, and no other service's", () => {
  expect(commandMethod("relay", "VerifyViews")?.output.name).toBe("ViewsVerified");
  expect(commandMethod("relay", "WriteLines")).toBeUndefined();
});
