/** Text of values: `str`, `repr`, f-strings, `str.format` and `%`. */
import { Tensor } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import type { Interpreter } from "./interpreter";
import { floatText, numeric } from "./numbers";
import { keyText } from "./operations";
import { callMethod } from "./overloads";
import {
  ClassValue,
  DeviceValue,
  DictValue,
  DtypeValue,
  Float,
  FunctionValue,
  ListValue,
  NativeFunction,
  ObjectValue,
  RangeValue,
  SetValue,
  TupleValue,
  type Value,
} from "./values";

const deepest = 30;

/** `str(value)`. */
export function textOfValue(interpreter: Interpreter, value: Value): string | Unknown {
  if (typeof value === "string") return value;
  if (value instanceof ObjectValue) return objectText(interpreter, value, "__str__");
  return representation(interpreter, value, 0);
}

/** `repr(value)`. */
export function representation(interpreter: Interpreter, value: Value, depth = 0): string | Unknown {
  if (isUnknown(value)) return value;
  interpreter.tick();
  if (depth > deepest) return "...";
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === "string") return quoted(value);
  if (value instanceof ListValue) return joined(interpreter, value.items, "[", "]", depth);
  if (value instanceof TupleValue) {
    const opening = value.isSize ? "torch.Size([" : "(";
    const closing = value.isSize ? "])" : value.items.length === 1 ? ",)" : ")";
    return joined(interpreter, value.items, opening, closing, depth);
  }
  if (value instanceof SetValue) return joined(interpreter, [...value.entries.values()], "{", "}", depth);
  if (value instanceof DictValue) return dictText(interpreter, value, depth);
  if (value instanceof ObjectValue) return objectText(interpreter, value, "__repr__");
  if (value instanceof RangeValue) return `range(${value.start}, ${value.stop})`;
  if (value instanceof DtypeValue) return `torch.${value.dtype}`;
  if (value instanceof DeviceValue) return value.name;
  if (value instanceof ClassValue) return `<class '${value.name}'>`;
  if (value instanceof FunctionValue || value instanceof NativeFunction) return `<function ${value.name}>`;
  if (value instanceof Tensor) return interpreter.unknown("tensorValue", interpreter.callSpan);
  return `<${interpreter.typeName(value)}>`;
}

function quoted(text: string): string {
  const escaped = text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  return escaped.includes("'") && !escaped.includes('"')
    ? `"${escaped}"`
    : `'${escaped.replace(/'/g, "\\'")}'`;
}

function joined(
  interpreter: Interpreter,
  items: readonly Value[],
  opening: string,
  closing: string,
  depth: number,
): string | Unknown {
  const parts: string[] = [];
  for (const item of items) {
    const part = representation(interpreter, item, depth + 1);
    if (isUnknown(part)) return part;
    parts.push(part);
  }
  return `${opening}${parts.join(", ")}${closing}`;
}

function dictText(interpreter: Interpreter, dict: DictValue, depth: number): string | Unknown {
  if (dict.uncertain !== undefined) return dict.uncertain;
  const parts: string[] = [];
  for (const entry of dict.entries.values()) {
    const key = representation(interpreter, entry.key, depth + 1);
    const value = representation(interpreter, entry.value, depth + 1);
    if (isUnknown(key)) return key;
    if (isUnknown(value)) return value;
    parts.push(`${key}: ${value}`);
  }
  return `{${parts.join(", ")}}`;
}

function objectText(
  interpreter: Interpreter,
  object: ObjectValue,
  method: "__str__" | "__repr__",
): string | Unknown {
  const own =
    callMethod(interpreter, object, method, [], interpreter.callSpan) ??
    (method === "__str__"
      ? callMethod(interpreter, object, "__repr__", [], interpreter.callSpan)
      : undefined);
  if (typeof own === "string") return own;
  if (own !== undefined && isUnknown(own)) return own;
  if (object.type.isEnum) return `${object.type.name}.${keyText(object.attributes.get("name"))}`;
  if (object.payload !== undefined) {
    return method === "__str__"
      ? textOfValue(interpreter, object.payload)
      : representation(interpreter, object.payload, 1);
  }
  return `<${object.type.name} object>`;
}

/** One field of an f-string or of `str.format`. */
export function interpolate(
  interpreter: Interpreter,
  value: Value,
  format: string,
  conversion: string,
): string | Unknown {
  if (isUnknown(value)) return value;
  const converted =
    conversion === "r" || conversion === "a"
      ? representation(interpreter, value)
      : conversion === "s"
        ? textOfValue(interpreter, value)
        : value;
  if (isUnknown(converted)) return converted;
  return formatValue(interpreter, converted, format);
}

const specification = /^(?:(.)?([<>^=]))?([+\- ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

/** `format(value, specification)`. */
export function formatValue(interpreter: Interpreter, value: Value, format: string): string | Unknown {
  if (format === "") return textOfValue(interpreter, value);
  const found = specification.exec(format);
  if (found === null)
    return interpreter.unknown("unsupported", interpreter.callSpan, { what: `{:${format}}` });
  const [, fill, align, sign, , zero, width, comma, precision, type] = found;
  const number = numeric(value);
  const body =
    number === undefined || type === "s"
      ? clippedText(interpreter, value, precision)
      : numberText(value instanceof Float, number, type, precision, comma);
  if (typeof body !== "string") return body;
  const signed =
    number !== undefined && number >= 0 && sign !== undefined && sign !== "-" ? sign + body : body;
  return padded(
    signed,
    Number(width ?? 0),
    fill ?? (zero === undefined ? " " : "0"),
    align ?? (zero !== undefined ? "=" : number === undefined ? "<" : ">"),
  );
}

function clippedText(
  interpreter: Interpreter,
  value: Value,
  precision: string | undefined,
): string | Unknown {
  const text = textOfValue(interpreter, value);
  return isUnknown(text) || precision === undefined ? text : text.slice(0, Number(precision));
}

function numberText(
  isFloat: boolean,
  number: number,
  type: string | undefined,
  precision: string | undefined,
  comma: string | undefined,
): string {
  const plain = plainNumber(isFloat, number, type, precision);
  if (comma === undefined) return plain;
  const [whole = "", rest] = plain.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, comma);
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

function plainNumber(
  isFloat: boolean,
  number: number,
  type: string | undefined,
  precision: string | undefined,
): string {
  const digits = precision === undefined ? 6 : Number(precision);
  switch (type) {
    case "f":
    case "F":
      return number.toFixed(Math.min(digits, 100));
    case "%":
      return `${(number * 100).toFixed(Math.min(digits, 100))}%`;
    case "e":
    case "E": {
      const text = number.toExponential(Math.min(digits, 100)).replace(/e([+-])(\d)$/, "e$10$2");
      return type === "E" ? text.toUpperCase() : text;
    }
    case "g":
    case "G":
      return generalText(number, digits);
    case "x":
      return number.toString(16);
    case "X":
      return number.toString(16).toUpperCase();
    case "b":
      return number.toString(2);
    case "o":
      return number.toString(8);
    case "d":
    case "n":
      return String(number);
    default:
      if (precision !== undefined) return generalText(number, digits);
      return isFloat ? floatText(number) : String(number);
  }
}

function generalText(number: number, digits: number): string {
  const precision = Math.max(1, Math.min(digits, 100));
  const exponent = number === 0 ? 0 : Math.floor(Math.log10(Math.abs(number)));
  if (exponent < -4 || exponent >= precision) {
    return number
      .toExponential(precision - 1)
      .replace(/\.?0+e/, "e")
      .replace(/e([+-])(\d)$/, "e$10$2");
  }
  const text = number.toPrecision(precision);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function padded(text: string, width: number, fill: string, align: string): string {
  const missing = Math.min(width, 10_000) - text.length;
  if (missing <= 0) return text;
  if (align === "<") return text + fill.repeat(missing);
  if (align === "^") return fill.repeat(missing >> 1) + text + fill.repeat(missing - (missing >> 1));
  if (align === "=" && /^[+-]/.test(text)) return (text[0] ?? "") + fill.repeat(missing) + text.slice(1);
  return fill.repeat(missing) + text;
}

const percentField = /%(?:\((\w+)\))?([-+ 0#]*)(\d+)?(?:\.(\d+))?([diouxXeEfFgGrsa%])/g;

/** `format % values`. */
export function formatPercent(interpreter: Interpreter, format: string, values: Value): string | Unknown {
  const items = values instanceof TupleValue ? values.items : [values];
  let position = 0;
  let fault: Unknown | undefined;
  const text = format.replace(
    percentField,
    (
      _,
      name: string | undefined,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      type: string,
    ) => {
      if (type === "%") return "%";
      const value = name === undefined ? items[position++] : dictItem(values, name);
      const field = percentText(interpreter, value ?? null, flags, width, precision, type);
      if (typeof field === "string") return field;
      fault ??= field;
      return "";
    },
  );
  return fault ?? text;
}

function dictItem(values: Value, name: string): Value | undefined {
  return values instanceof DictValue ? values.entries.get(`s${name}`)?.value : undefined;
}

function percentText(
  interpreter: Interpreter,
  value: Value,
  flags: string,
  width: string | undefined,
  precision: string | undefined,
  type: string,
): string | Unknown {
  const align = flags.includes("-") ? "<" : ">";
  const fill = flags.includes("0") && align === ">" ? "0" : " ";
  const number = numeric(value);
  let body: string | Unknown;
  if (type === "r" || type === "a") body = representation(interpreter, value);
  else if (type === "s") body = clippedText(interpreter, value, precision);
  else if (number === undefined) {
    return isUnknown(value)
      ? value
      : interpreter.unknown("unsupported", interpreter.callSpan, { what: `%${type}` });
  } else if (type === "d" || type === "i" || type === "u") body = String(Math.trunc(number));
  else body = plainNumber(value instanceof Float, number, type, precision);
  return isUnknown(body) ? body : padded(body, Number(width ?? 0), fill, fill === "0" ? "=" : align);
}

const braceField = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*))?\}/g;

/** `format.format(*positional, **keywords)`. */
export function formatBraces(
  interpreter: Interpreter,
  format: string,
  positional: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
): string | Unknown {
  let next = 0;
  let fault: Unknown | undefined;
  const text = format.replace(
    braceField,
    (all: string, name: string | undefined, conversion: string | undefined, inner: string | undefined) => {
      if (all === "{{") return "{";
      if (all === "}}") return "}";
      const value =
        name === undefined || name === ""
          ? positional[next++]
          : /^\d+$/.test(name)
            ? positional[Number(name)]
            : keywords.get(name);
      const field =
        value === undefined
          ? interpreter.unknown("unsupported", interpreter.callSpan, { what: all })
          : interpolate(interpreter, value, inner ?? "", conversion ?? "");
      if (typeof field === "string") return field;
      fault ??= field;
      return "";
    },
  );
  return fault ?? text;
}
