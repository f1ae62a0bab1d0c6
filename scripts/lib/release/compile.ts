/**
 * JavaScript from the TypeScript of a package. Types are blanked out, so that every line stays where it is and a stack
 * trace names the line of the source. Node strips types by itself, but not below node_modules.
 */
import { stripTypeScriptTypes } from "node:module";

export function compiled(source: string): string {
  return withCompiledNames(stripTypeScriptTypes(source, { mode: "strip" }));
}

/** Modules and programs are named by their file: "./x.ts" is "./x.js" there, in declarations too. */
export function withCompiledNames(text: string): string {
  return text.replace(/"([\w./-]+)\.ts"/g, '"$1.js"');
}
