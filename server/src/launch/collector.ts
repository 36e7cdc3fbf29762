/** How V8 collects the garbage of our programs. */
import v8 from "node:v8";

/** The first and the last version of V8 that are known to have the flag; others would complain on stderr. */
const knownVersions = { first: 11, last: 14 };

/**
 * Has V8 make all objects young. Of its own accord it makes objects old at once where it has seen many of their kind live for
 * long: a text's nodes, when a collection fell into its check. Whatever something old points to, dead or not, lives until the
 * next full collection, so the facts of each file that is checked from then on would be kept, and copied on the way: twice the
 * memory for a whole tree, and every twentieth edit in an editor would wait for it (`allocation_site_pretenuring` in V8's
 * src/flags/flag-definitions.h). False where this V8 is not known.
 */
export function makeObjectsYoung(version: string = process.versions.v8): boolean {
  const major = Number.parseInt(version, 10);
  if (!(major >= knownVersions.first && major <= knownVersions.last)) return false;
  v8.setFlagsFromString("--no-allocation-site-pretenuring");
  return true;
}
