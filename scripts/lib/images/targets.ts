/** The images: one for each service, one that migrates, and one for agents. */
import { services } from "@trainyard/kernel/services";

export type Target = {
  /** The stage of deploy/images/Containerfile, and the last part of the image's name. */
  readonly name: string;
  /** The packages of the workspace whose programs the image starts. */
  readonly packages: readonly string[];
  /** Whether the image has the built pages of the Web UI. */
  readonly hasPages: boolean;
  /** Whether the image has the Python package, and a base with Python. */
  readonly hasSdk: boolean;
};

const plain = { hasPages: false, hasSdk: false };

export const targets: readonly Target[] = [
  ...services.map(({ name }) => ({
    ...plain,
    name,
    packages: [`services/${name}`],
    hasPages: name === "gateway",
  })),
  {
    ...plain,
    name: "migrate",
    packages: ["deploy/install"],
  },
  {
    ...plain,
    name: "agent",
    packages: ["services/agent"],
    hasSdk: true,
  },
];
