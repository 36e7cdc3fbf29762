/**
 * Configuration files as Python's libraries load them: `json.load`, `yaml.safe_load` and `OmegaConf.load`, which differ in
 * what they take for a number.
 */
import { FAILSAFE_SCHEMA, load, Type, type Schema } from "js-yaml";

export type ConfigurationForm = "json" | "yaml" | "omegaconf";

/** A number keeps whether Python has it as an `int` or a `float`. */
export class ConfiguredNumber {
  constructor(
    readonly value: number,
    readonly isFloat: boolean,
  ) {}

  /** js-yaml makes text of keys, of plain objects one and the same. */
  get [Symbol.toStringTag](): string {
    return "Number";
  }

  toString(): string {
    return numberMark + String(this.value);
  }
}

/** Before a key that was a number; no text of a file begins so. */
const numberMark = "\0";

export type ConfigurationKey = string | number;

export type Configuration =
  | null
  | boolean
  | string
  | ConfiguredNumber
  | readonly Configuration[]
  | ReadonlyMap<ConfigurationKey, Configuration>;

/** Configurations are small; references that multiply themselves must not become large. */
const mostNodes = 20_000;

/** Undefined for text that the library would refuse, and for what is too large or no plain data. */
export function readConfiguration(text: string, form: ConfigurationForm): Configuration | undefined {
  try {
    if (form === "json") JSON.parse(text);
    // Of keys that stand twice the last counts, in all three.
    return plainly(load(text, { schema: schemas[form], json: true }), { left: mostNodes });
  } catch {
    return undefined;
  }
}

interface Budget {
  left: number;
}

function plainly(value: unknown, budget: Budget): Configuration {
  if (--budget.left < 0) throw new RangeError("too large");
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "boolean" || value instanceof ConfiguredNumber)
    return value;
  if (Array.isArray(value)) return value.map((item) => plainly(item, budget));
  if (typeof value !== "object") throw new TypeError("no plain data");
  const entries = Object.entries(value).map(([key, item]) => {
    const name = key.startsWith(numberMark) ? Number(key.slice(numberMark.length)) : key;
    return [name, plainly(item, budget)] as const;
  });
  return new Map(entries);
}

function scalar(tag: string, pattern: RegExp, construct: (text: string) => unknown): Type {
  return new Type(`tag:yaml.org,2002:${tag}`, {
    kind: "scalar",
    resolve: (data: unknown) => typeof data === "string" && pattern.test(data),
    construct: (data: unknown) => construct(String(data)),
  });
}

const nothing = new Type("tag:yaml.org,2002:null", {
  kind: "scalar",
  resolve: (data: unknown) =>
    data === null || (typeof data === "string" && /^(~|null|Null|NULL|)$/.test(data)),
  construct: () => null,
});

/** `<<: *defaults` */
const merge = new Type("tag:yaml.org,2002:merge", {
  kind: "scalar",
  resolve: (data: unknown) => data === "<<",
});

const float = (text: string): ConfiguredNumber => new ConfiguredNumber(floatOf(text), true);

function floatOf(text: string): number {
  const plain = text.replaceAll("_", "").toLowerCase();
  if (plain.endsWith(".inf")) return plain.startsWith("-") ? -Infinity : Infinity;
  return plain.endsWith(".nan") ? NaN : plain.includes(":") ? sexagesimal(plain) : Number(plain);
}

function integer(text: string): ConfiguredNumber {
  const plain = text.replaceAll("_", "");
  const [sign, digits] = plain.startsWith("-") ? [-1, plain.slice(1)] : [1, plain.replace(/^\+/, "")];
  const value = /^0\d/.test(digits)
    ? parseInt(digits, 8)
    : digits.includes(":")
      ? sexagesimal(digits)
      : Number(digits);
  if (!Number.isSafeInteger(value)) throw new RangeError("too large");
  return new ConfiguredNumber(sign * value, false);
}

/** `1:30` is 90 in YAML 1.1. */
function sexagesimal(text: string): number {
  const [sign, digits] = text.startsWith("-") ? [-1, text.slice(1)] : [1, text];
  return sign * digits.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** PyYAML's resolvers, which are those of YAML 1.1: https://github.com/yaml/pyyaml/blob/main/lib/yaml/resolver.py */
const boolean = scalar(
  "bool",
  /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  (text) => /^(yes|true|on)$/i.test(text),
);
const wholeNumber = scalar(
  "int",
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][\d_]*)|[-+]?0x[\da-fA-F_]+|[-+]?[1-9][\d_]*(?::[0-5]?\d)+)$/,
  integer,
);
const decimal = scalar(
  "float",
  /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  float,
);
/** OmegaConf takes `1e-3` for a number as well, which PyYAML leaves a text. */
const decimalOrExponential = scalar(
  "float",
  /^(?:[-+]?\d[\d_]*(?:\.[\d_]*)?[eE][-+]?\d+|[-+]?\d[\d_]*\.[\d_]*|\.\d[\d_]*(?:[eE][-+]?\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  float,
);

const schemas: Readonly<Record<ConfigurationForm, Schema>> = {
  json: FAILSAFE_SCHEMA.extend({
    implicit: [
      nothing,
      scalar("bool", /^(true|false)$/, (text) => text === "true"),
      scalar("int", /^-?\d+$/, integer),
      scalar("float", /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/, float),
    ],
  }),
  yaml: FAILSAFE_SCHEMA.extend({ implicit: [nothing, boolean, wholeNumber, decimal, merge] }),
  omegaconf: FAILSAFE_SCHEMA.extend({
    implicit: [nothing, boolean, wholeNumber, decimalOrExponential, merge],
  }),
};
