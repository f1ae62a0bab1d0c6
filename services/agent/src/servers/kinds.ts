/** The kinds of tasks whose command is a server of the agent's, with a page. */
export const pageKinds = ["notebook", "tensorboard"] as const;
export type PageKind = (typeof pageKinds)[number];

export const isPageKind = (kind: string): kind is PageKind => pageKinds.some((one) => one === kind);
