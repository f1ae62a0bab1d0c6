/** Accepts a submitted configuration: valid keys, and a space that can be searched. */
import {
  invalidConfig,
  type ParsedExperiment,
  type ParseOptions,
  parseExperiment,
} from "@trainyard/experiment-config";
import { isRejection, type Rejection } from "@trainyard/kernel";
import { spaceFindings } from "./findings.ts";

export function acceptExperiment(
  yamlText: string,
  options: ParseOptions = {},
): ParsedExperiment | Rejection {
  const parsed = parseExperiment(yamlText, options);
  if (isRejection(parsed)) return parsed;
  const { problems, warnings } = spaceFindings(parsed.config);
  if (problems.length > 0) return invalidConfig(problems);
  return { config: parsed.config, warnings: [...parsed.warnings, ...warnings] };
}
