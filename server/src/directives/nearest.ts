/** Help for misspelt words: the one valid name that was probably meant, or none. */
import { distance } from "fastest-levenshtein";

/**
 * The candidate nearest to `word`, compared without case; `undefined` when nothing is near enough to be more than a
 * guess (a third of the letters, one at least). `meanings` maps other common words to a candidate, e.g.
 * `batch_size` to `batch`, and wins over spelling.
 */
export function nearest(
  word: string,
  candidates: readonly string[],
  meanings: Readonly<Record<string, string>> = {},
): string | undefined {
  const wanted = word.toLowerCase();
  if (wanted.length > longestWord) return undefined;
  const meaning = Object.hasOwn(meanings, wanted) ? meanings[wanted] : undefined;
  if (meaning !== undefined) return meaning;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const far = slips(wanted, candidate.toLowerCase());
    if (far >= bestDistance) continue;
    best = candidate;
    bestDistance = far;
  }
  return best;
}

/** How many slips make one word of the other; letters in the wrong order are one, not the two of the distance. */
function slips(word: string, candidate: string): number {
  if (word === candidate) return 0;
  const isAnagram = word.length === candidate.length && sorted(word) === sorted(candidate);
  return isAnagram ? 1 : distance(word, candidate);
}

function sorted(word: string): string {
  return Array.from(word).sort().join("");
}

/** Nothing longer is a misspelt name; the comparison is quadratic in the length. */
const longestWord = 80;
