/** About how wide a text is, in pixels: enough to see whether a label fits. Han characters are as wide as high. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const character of text) width += /\p{Script=Han}|[，。：（）]/u.test(character) ? size : size * 0.56;
  return width;
}
