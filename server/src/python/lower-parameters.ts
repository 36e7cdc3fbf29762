/** Parameters of functions and lambdas, and type parameters. */
import type { Expression, FunctionDefinition, Lambda, Name, Parameter, ParameterKind } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";

/** A parameter list as it is read: `/` changes the kind of what came before, `*` of what follows. */
interface ParameterList {
  readonly parameters: Parameter[];
  /** The kind of the next plain parameter. */
  kind: ParameterKind;
}

/** The parameters below the node that the cursor stands on, brackets or not. */
export function lowerParameters(lowering: Lowering): Parameter[] {
  const list: ParameterList = { parameters: [], kind: "normal" };
  const { types } = lowering;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.positional_separator) makePositionalOnly(list);
    else if (type === types.keyword_separator) list.kind = "keyword-only";
    else lowerParameter(lowering, type, list);
  }
  return list.parameters;
}

export const lowerLambdaParameters = lowerParameters;

export function adoptParameters(owner: FunctionDefinition | Lambda, parameters: readonly Parameter[]): void {
  for (const parameter of parameters) {
    parameter.name.parent = owner;
    if (parameter.annotation !== undefined) parameter.annotation.parent = owner;
    if (parameter.default !== undefined) parameter.default.parent = owner;
  }
}

function makePositionalOnly(list: ParameterList): void {
  for (const [index, parameter] of list.parameters.entries()) {
    list.parameters[index] = { ...parameter, parameterKind: "positional-only" };
  }
}

function lowerParameter(lowering: Lowering, type: number, list: ParameterList): void {
  const { types } = lowering;
  switch (type) {
    case types.identifier:
    case types.list_splat_pattern:
    case types.dictionary_splat_pattern:
    case types.typed_parameter:
    case types.default_parameter:
    case types.typed_default_parameter: {
      addParameter(lowering, type, list);
      return;
    }
    case types.tuple_pattern: {
      // `def f((a, b))` is Python 2.
      lowering.salvage(lowering.expression(type));
      return;
    }
  }
}

function addParameter(lowering: Lowering, type: number, list: ParameterList): void {
  const { start, end, types } = lowering;
  const parts: ParameterParts = {
    name: undefined,
    kind: list.kind,
    annotation: undefined,
    default: undefined,
  };
  if (type === types.identifier) parts.name = lowering.name();
  else if (type === types.list_splat_pattern || type === types.dictionary_splat_pattern) {
    readSplat(lowering, type, parts);
  } else readParts(lowering, parts);
  if (parts.name === undefined) {
    lowering.salvage(parts.default);
    return;
  }
  if (parts.kind === "args") list.kind = "keyword-only";
  list.parameters.push({
    start,
    end,
    name: parts.name,
    parameterKind: parts.kind,
    annotation: parts.annotation,
    default: parts.default,
  });
}

interface ParameterParts {
  name: Name | undefined;
  kind: ParameterKind;
  annotation: Expression | undefined;
  default: Expression | undefined;
}

/** `name: annotation = default` in any of its forms. */
function readParts(lowering: Lowering, parts: ParameterParts): void {
  const { types } = lowering;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.list_splat_pattern || type === types.dictionary_splat_pattern) {
      readSplat(lowering, type, parts);
    } else if (type === types.type) {
      parts.annotation = lowering.expression(type);
    } else if (type === types.identifier && parts.name === undefined) {
      parts.name = lowering.name();
    } else if (types.expressions[type] !== undefined) {
      parts.default = lowering.expression(type);
    }
  }
}

function readSplat(lowering: Lowering, type: number, parts: ParameterParts): void {
  parts.kind = type === lowering.types.list_splat_pattern ? "args" : "kwargs";
  for (let inner = lowering.enter(); inner !== 0; inner = lowering.next()) {
    if (inner === lowering.types.identifier) parts.name = lowering.name();
  }
}

/** The names of `[T, *Ts, **P, U: bound]`; the cursor stands on the bracketed list. */
export function lowerTypeParameters(lowering: Lowering): Name[] {
  const { start, end, errorMark } = lowering;
  const names: Name[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type !== lowering.types.type) continue;
    const name = firstIdentifier(lowering, lowering.remainingDepth);
    if (name !== undefined) names.push(name);
  }
  if (lowering.errors.length === errorMark.errors) return names;
  const readNames = namesInText(lowering.text.slice(start + 1, end - 1), start + 1);
  if (readNames === undefined) return names;
  lowering.forgetErrors(errorMark);
  return readNames;
}

const TYPE_PARAMETER_WITH_DEFAULT = /^(\s*\*{0,2}\s*)([\p{XID_Start}_]\p{XID_Continue}*)\s*(?:[:=][^]*)?$/u;

/**
 * Type parameters may have defaults since Python 3.13, which the grammar takes for errors. `undefined` when the text
 * is no list of type parameters either way.
 */
function namesInText(text: string, offset: number): Name[] | undefined {
  const names: Name[] = [];
  let start = offset;
  for (const part of splitAtCommas(text)) {
    const match = TYPE_PARAMETER_WITH_DEFAULT.exec(part);
    const [, before, id] = match ?? [];
    if (before !== undefined && id !== undefined) {
      const nameStart = start + before.length;
      const end = nameStart + id.length;
      names.push({
        kind: "Name",
        start: nameStart,
        end,
        order: unordered,
        parent: undefined,
        id: id.normalize("NFKC"),
      });
    } else if (part.trim() !== "") {
      return undefined;
    }
    start += part.length + 1;
  }
  return names;
}

/** The parts between the commas that stand in no brackets. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    else if (character === "," && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** The first identifier below the node that the cursor stands on; what follows it is passed over. */
function firstIdentifier(lowering: Lowering, depth: number): Name | undefined {
  let found: Name | undefined;
  if (depth <= 0) return undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (found !== undefined) lowering.collectExtras();
    else if (type === lowering.types.identifier) found = lowering.name();
    else found = firstIdentifier(lowering, depth - 1);
  }
  return found;
}
