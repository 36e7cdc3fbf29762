/** The three kinds of import statement. */
import type { ImportedName, Statement } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";

/** `a . b` names the same module as `a.b`. */
function dottedText(text: string): string {
  return text.replace(/[\s\\]+/g, "").normalize("NFKC");
}

function lowerImportedName(lowering: Lowering, type: number): ImportedName {
  const { start, end, types } = lowering;
  if (type !== types.aliased_import) {
    return { start, end, name: dottedText(lowering.nodeText), alias: undefined };
  }
  let name = "";
  let alias: string | undefined;
  for (let inner = lowering.enter(); inner !== 0; inner = lowering.next()) {
    if (inner === types.dotted_name) name = dottedText(lowering.nodeText);
    else if (inner === types.identifier) alias = lowering.name().id;
  }
  return { start, end, name, alias };
}

export function lowerImport(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const names: ImportedName[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.dotted_name || type === types.aliased_import) {
      names.push(lowerImportedName(lowering, type));
    }
  }
  return { kind: "Import", start, end, order: unordered, parent: undefined, names };
}

export function lowerFutureImport(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const names: ImportedName[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.dotted_name || type === types.aliased_import) {
      names.push(lowerImportedName(lowering, type));
    }
  }
  return {
    kind: "ImportFrom",
    start,
    end,
    order: unordered,
    parent: undefined,
    module: "__future__",
    level: 0,
    names,
  };
}

export function lowerImportFrom(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let module: string | undefined;
  let level = 0;
  const names: ImportedName[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.relative_import) {
      const relative = lowerRelativeImport(lowering);
      module = relative.module;
      level = relative.level;
    } else if (type === types.dotted_name && module === undefined) {
      module = dottedText(lowering.nodeText);
    } else if (type === types.dotted_name || type === types.aliased_import) {
      names.push(lowerImportedName(lowering, type));
    } else if (type === types.wildcard_import) {
      names.push({ start: lowering.start, end: lowering.end, name: "*", alias: undefined });
    }
  }
  return {
    kind: "ImportFrom",
    start,
    end,
    order: unordered,
    parent: undefined,
    module: module ?? "",
    level,
    names,
  };
}

function lowerRelativeImport(lowering: Lowering): { module: string; level: number } {
  const { types } = lowering;
  let module = "";
  let level = 0;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.import_prefix) level = dottedText(lowering.nodeText).length;
    else if (type === types.dotted_name) module = dottedText(lowering.nodeText);
  }
  return { module, level };
}
