/** Classes of libraries as far as the evaluator knows them. */
import { unknownReasons } from "../../../messages/estimate";
import { message } from "../../../messages/message";
import { Unknown } from "../../unknown";
import type { Interpreter } from "../interpreter";
import { ClassValue, ObjectValue, type Native, type Value } from "../values";

/** A class of the library that has these methods; others that it may have are not known. */
export function libraryClass(name: string, methods: Readonly<Record<string, Native>>): ClassValue {
  const type = new ClassValue(name, []);
  type.addMethods(methods);
  type.unknownBase = new Unknown(message(unknownReasons.base, { name }), undefined);
  return type;
}

/** An instance of such a class. */
export function libraryObject(
  interpreter: Interpreter,
  type: ClassValue,
  attributes: Readonly<Record<string, Value>>,
): ObjectValue {
  const object = new ObjectValue(type);
  for (const [name, value] of Object.entries(attributes)) {
    interpreter.references.adopt(object, value);
    object.attributes.set(name, value);
  }
  return interpreter.references.keep(object);
}
