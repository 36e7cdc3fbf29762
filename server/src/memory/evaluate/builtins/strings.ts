/** Methods of `str`. */
import { isUnknown } from "../../unknown";
import { formatBraces } from "../format";
import { itemsOf } from "../iteration";
import { integer } from "../numbers";
import { ListValue, TupleValue, type Native, type Value } from "../values";

/** A method of the text and plain arguments; what is not a string or number makes the result unknown. */
function method(run: (text: string, ...rest: (string | number | null)[]) => Value): Native {
  return (interpreter, args, span) => {
    const [text, ...rest] = args.positional;
    if (typeof text !== "string") return args.unknown() ?? interpreter.unknown("call", span, { name: "str" });
    const plain: (string | number | null)[] = [];
    for (const value of rest) {
      if (typeof value === "string" || value === null) plain.push(value);
      else {
        const number = integer(value);
        if (number === undefined)
          return isUnknown(value) ? value : interpreter.unknown("call", span, { name: "str" });
        plain.push(number);
      }
    }
    return run(text, ...plain);
  };
}

function strings(parts: readonly string[]): ListValue {
  return new ListValue([...parts]);
}

function split(
  text: string,
  separator: string | number | null | undefined,
  limit: string | number | null | undefined,
): ListValue {
  const most = typeof limit === "number" && limit >= 0 ? limit : Infinity;
  if (typeof separator !== "string") {
    const words = text.trim().split(/\s+/).filter(Boolean);
    if (words.length <= most + 1) return strings(words);
    return strings([...words.slice(0, most), words.slice(most).join(" ")]);
  }
  const parts = text.split(separator);
  if (parts.length <= most + 1) return strings(parts);
  return strings([...parts.slice(0, most), parts.slice(most).join(separator)]);
}

function rsplit(
  text: string,
  separator: string | number | null | undefined,
  limit: string | number | null | undefined,
): ListValue {
  const glue = typeof separator === "string" ? separator : " ";
  const parts = typeof separator === "string" ? text.split(separator) : text.trim().split(/\s+/);
  const most = typeof limit === "number" && limit >= 0 ? limit : Infinity;
  if (parts.length <= most + 1) return strings(parts);
  const cut = parts.length - most;
  return strings([parts.slice(0, cut).join(glue), ...parts.slice(cut)]);
}

function strip(
  text: string,
  characters: string | number | null | undefined,
  start: boolean,
  end: boolean,
): string {
  const isCut = (character: string): boolean =>
    typeof characters === "string" ? characters.includes(character) : /\s/.test(character);
  let [from, to] = [0, text.length];
  while (start && from < to && isCut(text[from] ?? "")) from++;
  while (end && to > from && isCut(text[to - 1] ?? "")) to--;
  return text.slice(from, to);
}

function affix(test: (text: string, part: string) => boolean): Native {
  return (interpreter, args, span) => {
    const [text, part] = [args.at(0), args.at(1)];
    const parts = part instanceof TupleValue ? part.items : [part ?? null];
    if (typeof text !== "string" || !parts.every((one) => typeof one === "string")) {
      return args.unknown() ?? interpreter.unknown("call", span, { name: "startswith" });
    }
    return parts.some((one) => typeof one === "string" && test(text, one));
  };
}

const join: Native = (interpreter, args, span) => {
  const separator = args.at(0);
  const items = itemsOf(interpreter, args.at(1) ?? null, span);
  if (isUnknown(items)) return items;
  const texts: string[] = [];
  for (const item of items) {
    if (typeof item !== "string") {
      return isUnknown(item)
        ? item
        : interpreter.raise("TypeError", "sequence item: expected str instance", span);
    }
    texts.push(item);
  }
  return texts.join(typeof separator === "string" ? separator : "");
};

function title(text: string): string {
  return text.replace(/[A-Za-z]+/g, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());
}

export const stringMethods: Readonly<Record<string, Native>> = {
  lower: method((text) => text.toLowerCase()),
  upper: method((text) => text.toUpperCase()),
  casefold: method((text) => text.toLowerCase()),
  title: method(title),
  capitalize: method((text) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase()),
  swapcase: method((text) =>
    Array.from(text)
      .map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase()))
      .join(""),
  ),
  strip: method((text, characters) => strip(text, characters, true, true)),
  lstrip: method((text, characters) => strip(text, characters, true, false)),
  rstrip: method((text, characters) => strip(text, characters, false, true)),
  split: method(split),
  rsplit: method(rsplit),
  splitlines: method((text) =>
    strings(text.split(/\r\n|\n|\r/).filter((line, i, all) => i < all.length - 1 || line !== "")),
  ),
  partition: method((text, separator) => {
    const at = typeof separator === "string" ? text.indexOf(separator) : -1;
    const glue = String(separator);
    return new TupleValue(at < 0 ? [text, "", ""] : [text.slice(0, at), glue, text.slice(at + glue.length)]);
  }),
  rpartition: method((text, separator) => {
    const at = typeof separator === "string" ? text.lastIndexOf(separator) : -1;
    const glue = String(separator);
    return new TupleValue(at < 0 ? ["", "", text] : [text.slice(0, at), glue, text.slice(at + glue.length)]);
  }),
  replace: method((text, from, to, limit) => {
    if (typeof limit !== "number" || limit < 0) return text.split(String(from)).join(String(to));
    const parts = text.split(String(from));
    return (
      parts.slice(0, limit + 1).join(String(to)) +
      parts
        .slice(limit + 1)
        .map((part) => String(from) + part)
        .join("")
    );
  }),
  find: method((text, part) => text.indexOf(String(part))),
  rfind: method((text, part) => text.lastIndexOf(String(part))),
  count: method((text, part) => text.split(String(part)).length - 1),
  startswith: affix((text, part) => text.startsWith(part)),
  endswith: affix((text, part) => text.endsWith(part)),
  removeprefix: method((text, part) =>
    text.startsWith(String(part)) ? text.slice(String(part).length) : text,
  ),
  removesuffix: method((text, part) =>
    part !== "" && text.endsWith(String(part)) ? text.slice(0, text.length - String(part).length) : text,
  ),
  isdigit: method((text) => /^\d+$/.test(text)),
  isnumeric: method((text) => /^\d+$/.test(text)),
  isdecimal: method((text) => /^\d+$/.test(text)),
  isalpha: method((text) => /^\p{L}+$/u.test(text)),
  isalnum: method((text) => /^[\p{L}\d]+$/u.test(text)),
  isupper: method((text) => text !== text.toLowerCase() && text === text.toUpperCase()),
  islower: method((text) => text !== text.toUpperCase() && text === text.toLowerCase()),
  isspace: method((text) => /^\s+$/.test(text)),
  isidentifier: method((text) => /^[A-Za-z_]\w*$/.test(text)),
  zfill: method((text, width) => text.padStart(Math.min(Number(width), 10_000), "0")),
  ljust: method((text, width, fill) =>
    text.padEnd(Math.min(Number(width), 10_000), typeof fill === "string" ? fill : " "),
  ),
  rjust: method((text, width, fill) =>
    text.padStart(Math.min(Number(width), 10_000), typeof fill === "string" ? fill : " "),
  ),
  encode: method((text) => text),
  index: (interpreter, args, span) => {
    const [text, part] = [args.at(0), args.at(1)];
    const at = typeof text === "string" && typeof part === "string" ? text.indexOf(part) : -1;
    return at < 0 ? interpreter.raise("ValueError", "substring not found", span) : at;
  },
  join,
  format: (interpreter, args) => {
    const text = args.at(0);
    return typeof text === "string"
      ? formatBraces(interpreter, text, args.positional.slice(1), args.keywords)
      : "";
  },
};
