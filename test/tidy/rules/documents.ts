import { dirname, join, normalize } from "node:path";
import type { Repository, Rule } from "../rule.ts";

export const linksHold: Rule = {
  name: "a link in a document leads to a file that is there",
  check: (repository) =>
    repository.files
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) =>
        [...withoutCode(repository.read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({
          file,
          link: match[1] ?? "",
        })),
      )
      .filter(({ link }) => !/^(https?:|mailto:|#)/.test(link))
      .filter(({ file, link }) => !leads(repository, file, link))
      .map(({ file, link }) => `${file} links to ${link}`),
  violations: { "a page that is gone": { "docs/a.md": "See [there](b.md).\n" } },
  kept: {
    "docs/a.md": "See [there](sub/b.md#part), [all](sub/) and [home](https://a.example).\n",
    "docs/sub/b.md": "",
  },
};

const withoutCode = (markdown: string): string =>
  markdown.replace(/```.*?```/gs, "").replace(/`[^`]*`/g, "");

function leads({ files }: Repository, from: string, link: string): boolean {
  const target = normalize(join(dirname(from), link.replace(/#.*$/, ""))).replace(/\/$/, "");
  return target === "." || files.some((file) => file === target || file.startsWith(`${target}/`));
}
