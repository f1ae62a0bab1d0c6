/** The request that starts a notebook, from the texts of its form: pure. */
import type { RequestInitOf } from "@trainyard/contracts";

export type NotebookForm = {
  readonly name: string;
  /** Empty for the default one. */
  readonly workspace: string;
  readonly pool: string;
  readonly slots: string;
  readonly image: string;
  /** The folder in which it starts: absolute, or below its own. */
  readonly folder: string;
};

export const emptyForm: NotebookForm = {
  name: "",
  workspace: "",
  pool: "",
  slots: "1",
  image: "",
  folder: "",
};

/** Returns the error in the slots; undefined for none. */
export function slotsFault({ slots }: NotebookForm): string | undefined {
  return /^\d{1,6}$/.test(slots.trim()) ? undefined : "Enter a whole number, 0 for none.";
}

/** The configuration is JSON, which is YAML: no text of the form is read as anything but a text. */
export function notebookRequest(form: NotebookForm): RequestInitOf<"createTask"> {
  const { name, workspace, pool, image, folder } = form;
  const config = {
    ...filled("name", name),
    ...filled("work_dir", folder),
    resources: { slots: Number(form.slots), ...filled("resource_pool", pool) },
    ...(image.trim() === "" ? {} : { environment: filled("image", image) }),
  };
  return { kind: "notebook", config: JSON.stringify(config), ...filled("workspace", workspace) };
}

function filled(key: string, text: string): Readonly<Record<string, string>> {
  const value = text.trim();
  return value === "" ? {} : { [key]: value };
}
