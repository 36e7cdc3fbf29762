/** `enum`: members are made from the class body's plain values. */
import type { Interpreter } from "../interpreter";
import { enumMembers } from "../iteration";
import { equal } from "../operations";
import {
  ClassValue,
  Float,
  FunctionValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  type Construct,
  type Value,
} from "../values";

/** `Color(1)`: the member with that value. */
const memberOf: Construct = (interpreter, type, args, span) => {
  const value = args.at(0) ?? null;
  for (const member of enumMembers(type)) {
    if (member === value) return member;
    if (member instanceof ObjectValue && equal(member.attributes.get("value") ?? null, value) === true)
      return member;
  }
  return args.unknown() ?? interpreter.raise("ValueError", `not a valid ${type.name}`, span);
};

export function enumClass(name: string): ClassValue {
  const type = new ClassValue(name, []);
  type.isEnum = true;
  type.construct = memberOf;
  return type;
}

/** `enum.auto()`, until the class is finished. */
export class AutoValue extends Float {}

export function finishEnum(interpreter: Interpreter, type: ClassValue): void {
  let last = 0;
  const isText = type.mro.some((one) => one.name === "StrEnum" || one.name === "str");
  const isNumber = type.mro.some((one) => one.name === "IntEnum" || one.name === "int");
  for (const [name, given] of [...type.attributes]) {
    if (name.startsWith("_") || isMethod(given)) continue;
    const value: Value = given instanceof AutoValue ? (isText ? name.toLowerCase() : last + 1) : given;
    if (typeof value === "number") last = value;
    const member = new ObjectValue(type);
    for (const [key, own] of [["name", name] as const, ["value", value] as const]) {
      member.attributes.set(key, own);
      member.attributes.set(`_${key}_`, own);
    }
    if ((isText && typeof value === "string") || (isNumber && typeof value === "number"))
      member.payload = value;
    interpreter.references.adopt(type, member);
    type.attributes.set(name, member);
  }
}

function isMethod(value: Value): boolean {
  return [FunctionValue, NativeFunction, MethodWrapper, PropertyValue, ClassValue].some(
    (kind) => value instanceof kind,
  );
}
