/** The words for states in tables and fields; the JSON output has the API's names. */
const words: Readonly<Record<string, string>> = {
  STOPPING_COMPLETED: "STOPPING",
  STOPPING_CANCELED: "CANCELING",
  STOPPING_KILLED: "KILLING",
  CONDEMNED: "TO BE DELETED",
  PARTIALLY_DELETED: "PARTLY DELETED",
  condemned: "to be deleted",
};

export const stateWord = (state: string): string => words[state] ?? state;
