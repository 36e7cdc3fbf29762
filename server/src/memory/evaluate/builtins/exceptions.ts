/** Python's builtin exceptions. */
import { ClassValue } from "../values";

/** Each with the one it derives from, in an order in which that one comes first. */
const parents: Readonly<Record<string, string>> = {
  Exception: "BaseException",
  SystemExit: "BaseException",
  KeyboardInterrupt: "BaseException",
  GeneratorExit: "BaseException",
  ArithmeticError: "Exception",
  ZeroDivisionError: "ArithmeticError",
  OverflowError: "ArithmeticError",
  AssertionError: "Exception",
  AttributeError: "Exception",
  ImportError: "Exception",
  ModuleNotFoundError: "ImportError",
  LookupError: "Exception",
  IndexError: "LookupError",
  KeyError: "LookupError",
  NameError: "Exception",
  OSError: "Exception",
  FileNotFoundError: "OSError",
  RuntimeError: "Exception",
  NotImplementedError: "RuntimeError",
  RecursionError: "RuntimeError",
  StopIteration: "Exception",
  TypeError: "Exception",
  ValueError: "Exception",
  Warning: "Exception",
  UserWarning: "Warning",
  DeprecationWarning: "Warning",
  FutureWarning: "Warning",
  RuntimeWarning: "Warning",
};

export function builtinExceptions(): Map<string, ClassValue> {
  const types = new Map([["BaseException", new ClassValue("BaseException", [])]]);
  for (const [name, parent] of Object.entries(parents)) {
    const base = types.get(parent);
    types.set(name, new ClassValue(name, base === undefined ? [] : [base]));
  }
  return types;
}
