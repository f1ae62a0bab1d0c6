import { absent, notRun, type Skip } from "@trainyard/testing/needs";
import { pythonEnvironment } from "../../scripts/lib/python-environment.ts";

/** Returns a Python with PyTorch. Without one the test is skipped, or fails with TRAINYARD_REQUIRE=torch. */
export function needTorch(skip: Skip): string {
  const environment = pythonEnvironment();
  if (environment.python !== null) return environment.python;
  return notRun(skip, absent("torch", environment.why));
}
