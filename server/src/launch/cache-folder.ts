/** Where programs keep what they can make again. */
import path from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder for compiled code: `NODE_COMPILE_CACHE` where it is set, else where the system keeps caches of a user.
 * Undefined with `NODE_DISABLE_COMPILE_CACHE`, and without a home. Both variables are Node's own
 * (https://nodejs.org/api/cli.html#node_compile_cachedir).
 */
export function cacheFolder(environment: Environment, platform: NodeJS.Platform): string | undefined {
  if (isSet(environment["NODE_DISABLE_COMPILE_CACHE"])) return undefined;
  const given = environment["NODE_COMPILE_CACHE"];
  const folder = isSet(given) ? given : ofUser(environment, platform);
  return folder !== undefined && path.isAbsolute(folder) ? path.join(folder, "vramlint") : undefined;
}

/** https://specifications.freedesktop.org/basedir-spec/latest/ and its like elsewhere. */
function ofUser(environment: Environment, platform: NodeJS.Platform): string | undefined {
  if (platform === "win32") return environment["LOCALAPPDATA"];
  const home = environment["HOME"];
  const given = environment["XDG_CACHE_HOME"];
  if (platform !== "darwin" && isSet(given)) return given;
  return isSet(home) ? path.join(home, platform === "darwin" ? "Library/Caches" : ".cache") : undefined;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
