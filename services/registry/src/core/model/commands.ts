import type { JsonObject } from "@trainyard/kernel";

/** Changes to the words of a model or version; an absent field changes nothing. */
export type WordsChange = {
  readonly description?: string | undefined;
  readonly notes?: string | undefined;
  readonly addLabels: readonly string[];
  readonly removeLabels: readonly string[];
  /** Keys to set; null removes a key. */
  readonly metadata?: JsonObject | undefined;
};

/** The complete checkpoint that becomes a version. */
export type Registered = {
  readonly checkpoint: string;
  readonly trial: string;
  readonly run: number;
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly semanticVersion: string;
};

/** Every command has the model's name, for messages, and the person or run that gives it. */
export type ModelCommand = { readonly model: string; readonly by: string } & (
  | { readonly kind: "create"; readonly words: WordsChange; readonly workspace: string }
  | { readonly kind: "move"; readonly workspace: string }
  | { readonly kind: "describe"; readonly words: WordsChange }
  | { readonly kind: "archive"; readonly reason: string }
  | { readonly kind: "unarchive" }
  | {
      readonly kind: "register";
      readonly registered: Registered;
      readonly words: WordsChange;
      /** The workspace in which the model is created if it does not exist; null if it must exist. */
      readonly createIn: string | null;
    }
  | { readonly kind: "describe_version"; readonly version: string; readonly words: WordsChange }
  | { readonly kind: "remove_version"; readonly version: string; readonly reason: string }
  | {
      readonly kind: "move_alias";
      readonly alias: string;
      readonly version: string;
      readonly reason: string;
    }
  | { readonly kind: "remove_alias"; readonly alias: string; readonly reason: string }
);
