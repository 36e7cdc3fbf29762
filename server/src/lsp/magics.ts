/** IPython's lines in notebook cells (`%magic`, `!command`, `name?`), which are no Python. */

/** The text with such lines turned into comments of the same length: offsets stay. */
export function blankMagics(text: string): string {
  return text.replace(
    /^[ \t]*(?:%|!|\?).*$|^[ \t]*[\w.]+\?{1,2}[ \t]*$/gm,
    (line) => `#${" ".repeat(line.length - 1)}`,
  );
}
