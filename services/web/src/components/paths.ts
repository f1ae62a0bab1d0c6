/** The paths of the pages of objects. */
export const experimentPath = (id: string): string => `/experiments/${encodeURIComponent(id)}`;
export const trialPath = (id: string): string => `/trials/${encodeURIComponent(id)}`;
export const modelPath = (name: string): string => `/models/${encodeURIComponent(name)}`;
