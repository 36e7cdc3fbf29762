/** Tables of names as text: shorter to read and to extend than one string a line. */

/** The words of a text as a set, each with `prefix` before it. */
export function words(text: string, prefix = ""): ReadonlySet<string> {
  return new Set(
    text
      .trim()
      .split(/\s+/)
      .map((word) => prefix + word),
  );
}
