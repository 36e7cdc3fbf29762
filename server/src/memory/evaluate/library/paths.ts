/** Paths of files as far as scripts put them together: `os.path` and `pathlib.Path`. Nothing is looked up on a disk. */
import { isUnknown } from "../../unknown";
import type { Interpreter } from "../interpreter";
import { NativeFunction, ObjectValue, PropertyValue, type Native, type Value } from "../values";
import { libraryClass } from "./library-class";

const pathType = libraryClass("PosixPath", {});

/** The text of a path, given as text or as a `Path`; undefined for all else. */
export function pathText(value: Value | undefined): string | undefined {
  if (typeof value === "string") return value;
  const inner = value instanceof ObjectValue && value.type === pathType ? value.payload : undefined;
  return typeof inner === "string" ? inner : undefined;
}

/** `os.path.join`: what comes before an absolute part is dropped. */
function joined(parts: readonly string[]): string {
  const first = parts.findLastIndex((part) => part.startsWith("/"));
  return parts
    .slice(Math.max(0, first))
    .filter((part) => part !== "" && part !== ".")
    .join("/")
    .replaceAll(/\/\/+/g, "/");
}

/** Of a path without folders that is the folder it is run in. */
function folderOf(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "" : path.slice(0, at) || "/";
}

/** `Path.parent` of a path that was made absolute: above where the script lies. */
function parentOf(path: string): string {
  const last = lastPart(path);
  if (path === "" || path === ".") return "..";
  return last === ".." ? `${path}/..` : folderOf(path) || ".";
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function extensionOf(path: string): string {
  return /[^.](\.[^.]*)$/.exec(lastPart(path))?.[1] ?? "";
}

function makePath(text: string): ObjectValue {
  const path = new ObjectValue(pathType);
  path.payload = text;
  return path;
}

/** A function of the paths that it is given; what is no path makes the result unknown. */
function ofPaths(name: string, run: (...paths: string[]) => Value): Native {
  return (interpreter, args, span) => {
    const texts = args.positional.map(pathText);
    const unclear = args.unknown();
    if (unclear !== undefined) return unclear;
    return texts.every((text) => text !== undefined)
      ? run(...texts)
      : interpreter.unknown("call", span, { name });
  };
}

const property = (name: string, run: (path: string) => Value): PropertyValue =>
  new PropertyValue(new NativeFunction(name, ofPaths(name, run)));

/** Whether a file is there is known of configuration files alone. */
const exists: Native = (interpreter, args, span) => {
  const path = args.at(0);
  const name = pathText(path);
  if (name !== undefined && interpreter.world.readBeside?.(name) !== undefined) return true;
  return path !== undefined && isUnknown(path) ? path : interpreter.unknown("call", span, { name: "os" });
};

const same = (name: string): Native => ofPaths(name, (path = "") => makePath(path));

pathType.addMethods({
  __truediv__: ofPaths("Path", (...parts) => makePath(joined(parts))),
  __rtruediv__: ofPaths("Path", (right = "", left = "") => makePath(joined([left, right]))),
  __str__: ofPaths("str", (path = "") => path),
  __fspath__: ofPaths("str", (path = "") => path),
  as_posix: ofPaths("str", (path = "") => path),
  joinpath: ofPaths("Path", (...parts) => makePath(joined(parts))),
  resolve: same("Path"),
  absolute: same("Path"),
  expanduser: same("Path"),
  exists,
  is_file: exists,
  mkdir: () => null,
});
for (const [name, run] of Object.entries({
  parent: (path: string) => makePath(parentOf(path)),
  name: lastPart,
  suffix: extensionOf,
  stem: (path: string) => lastPart(path).slice(0, lastPart(path).length - extensionOf(path).length),
}))
  pathType.attributes.set(name, property(name, run));

export const pathFunctions: Readonly<Record<string, Native>> = {
  "os.path.join": ofPaths("os.path.join", (...parts) => joined(parts)),
  "os.path.dirname": ofPaths("os.path.dirname", (path = "") => folderOf(path)),
  "os.path.basename": ofPaths("os.path.basename", (path = "") => lastPart(path)),
  "os.path.abspath": ofPaths("os.path.abspath", (path = "") => path),
  "os.path.realpath": ofPaths("os.path.realpath", (path = "") => path),
  "os.path.normpath": ofPaths("os.path.normpath", (path = "") => path),
  "os.path.expanduser": ofPaths("os.path.expanduser", (path = "") => path),
  "os.path.exists": exists,
  "os.path.isfile": exists,
  "os.getcwd": () => "",
  "pathlib.Path": (interpreter: Interpreter, args, span) =>
    ofPaths("pathlib.Path", (...parts) => makePath(joined(parts)))(interpreter, args, span),
  "pathlib.Path.cwd": () => makePath(""),
};
