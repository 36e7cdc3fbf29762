/** The JSON schema of a settings file: `vramlint.toml`, or the table `[tool.vramlint]`. */
import { deviceNames } from "../server/src/memory/devices";
import { languageWords } from "../server/src/workspace/settings";
import type { settingsKeys } from "../server/src/workspace/settings";

interface Named {
  readonly name: string;
  readonly summary: string;
}

/** As text, as it lies in `schemas/`. Rules and groups are sorted as lists show them. */
export function settingsSchema(groups: readonly Named[], rules: readonly Named[]): string {
  const selectors = [{ name: "all", summary: "Every rule." }, ...groups, ...rules];
  const list = (description: string) => ({ description, type: "array", items: { $ref: "#/$defs/selector" } });
  const properties: Record<(typeof settingsKeys)[number], unknown> = {
    select: list("Rules that run: names, groups or all. All of them when absent."),
    ignore: list("Rules that do not run."),
    levels: {
      description: "Levels of rules. A rule's name wins over its group, a group over all.",
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(
        selectors.map(({ name, summary }) => [name, { $ref: "#/$defs/level", description: summary }]),
      ),
    },
    exclude: {
      description:
        "Files and folders that are left out. A pattern without a slash holds at any depth, one with a slash from the folder of this file on.",
      type: "array",
      items: { $ref: "#/$defs/pattern" },
    },
    "per-file-ignores": {
      description: "Rules that do not run in the files that a pattern names.",
      type: "object",
      propertyNames: { $ref: "#/$defs/pattern" },
      additionalProperties: { type: "array", items: { $ref: "#/$defs/selector" } },
    },
    device: {
      description: "A card, or usable bytes, for files whose `# vram:` header names none.",
      anyOf: [{ $ref: "#/$defs/size" }, { type: "string", enum: deviceNames }, { type: "string" }],
    },
    budget: {
      description: "What a training run may use, for files whose `# vram:` header names none.",
      $ref: "#/$defs/size",
    },
    language: {
      description: "The language of messages; auto is that of the editor or the locale.",
      enum: languageWords,
    },
  };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "vramlint settings",
    description: "vramlint.toml, or the table [tool.vramlint] of pyproject.toml",
    type: "object",
    additionalProperties: false,
    properties,
    $defs: {
      selector: { type: "string", enum: selectors.map(({ name }) => name) },
      level: { type: "string", enum: ["error", "warning", "information", "hint", "off"] },
      pattern: { type: "string", minLength: 1, not: { pattern: "^!|(^|/)\\.\\.(/|$)" } },
      size: { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?[ ]*([KMGTkmgt]?[Ii]?[Bb])$" },
    },
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
