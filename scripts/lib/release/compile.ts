/**
 * Compiles the TypeScript of a package to JavaScript. Types become blanks, so every line keeps its number and a stack
 * trace names the line of the source. Node could strip the types itself, but not below node_modules.
 */
import { stripTypeScriptTypes } from "node:module";

export function compiled(source: string): string {
  return withCompiledNames(stripTypeScriptTypes(source, { mode: "strip" }));
}

/** Renames modules and programs by their compiled file: "./x.ts" becomes "./x.js", in declarations too. */
export function withCompiledNames(text: string): string {
  return text.replace(/"([\w./-]+)\.ts"/g, '"$1.js"');
}
