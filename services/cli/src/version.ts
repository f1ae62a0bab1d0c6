import own from "../package.json" with { type: "json" };

export const cliVersion: string = own.version;
