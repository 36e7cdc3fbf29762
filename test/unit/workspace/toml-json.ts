import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";

/** What a JSON schema sees of a TOML text. */
export function parse(text: string): unknown {
  return getStaticTOMLValue(parseTOML(text));
}
