/** Quick fixes, suppressions and the way to a rule's page; all safe fixes at once. */
import { CodeActionKind } from "vscode-languageserver";
import type { CodeAction, CodeActionParams, Diagnostic, Range } from "vscode-languageserver";
import { message } from "../messages/message";
import { editorMessages } from "../messages/editor";
import type { Finding, TextEdit } from "../rules/rule";
import { diagnosticSource, fixesOf, readDiagnosticData, rulePageAddress } from "./diagnostics";
import { fixAll } from "./fix-all";
import { exampleInputAction, headerActions, linesOfOpenInput } from "./header-actions";
import { ignoreInFile, ignoreOnLine } from "./ignore-comments";
import { workspaceEdit } from "./protocol-text";
import { analysisFor, textIn } from "./session";
import type { Analysed, Session } from "./session";

export const fixAllKind = `${CodeActionKind.SourceFixAll}.vramlint`;
export const notebookFixAllKind = `notebook.${fixAllKind}`;
export const codeActionKinds: readonly string[] = [CodeActionKind.QuickFix, fixAllKind, notebookFixAllKind];

export const openRulePageCommand = "vramlint.openRulePage";

export async function codeActions(session: Session, params: CodeActionParams): Promise<CodeAction[]> {
  if (!session.features.codeActionLiterals) return [];
  const analysed = await analysisFor(session, params.textDocument.uri);
  if (analysed === undefined) return [];
  const { only } = params.context;
  const actions: CodeAction[] = [];
  if (isWanted(CodeActionKind.QuickFix, only)) {
    const problems = problemsIn(analysed, params);
    const inHeader = isInHeader(analysed, params);
    // What changes the script or its header comes before what hides a finding or explains it.
    for (const problem of problems) actions.push(...fixActions(analysed, problem));
    if (inHeader)
      actions.push(...headerActions(analysed).map((action) => ({ ...action, ...limitsIn(problems) })));
    if (inHeader || isAtOpenInput(analysed, params)) actions.push(...exampleInputAction(analysed));
    for (const problem of problems) actions.push(...otherActions(session, analysed, problem));
  }
  for (const kind of [fixAllKind, notebookFixAllKind]) {
    // Never offered unasked: computing it analyses the file again.
    if (only === undefined || !isWanted(kind, only)) continue;
    const edit = fixAll(analysed.unit, analysed.settings);
    if (edit) actions.push({ title: textIn(analysed.settings, message(editorMessages.fixAll)), kind, edit });
  }
  return actions;
}

function isWanted(kind: string, only: readonly string[] | undefined): boolean {
  return (
    only === undefined ||
    only.some((wanted) => kind === wanted || kind.startsWith(`${wanted}.`) || wanted === "")
  );
}

function isInHeader({ unit, analysis }: Analysed, params: CodeActionParams): boolean {
  return analysis.header.comments.some((comment) => {
    const place = unit.locate(comment);
    return place?.uri === params.textDocument.uri && overlap(place.range, params.range);
  });
}

/** The cursor stands in a line that says something of a model whose input only a header can say. */
function isAtOpenInput(analysed: Analysed, { textDocument, range }: CodeActionParams): boolean {
  const { unit } = analysed;
  const [start, end] = [range.start, range.end].map((position) => unit.offsetAt(textDocument.uri, position));
  if (start === undefined || end === undefined) return false;
  const { source } = unit.parsed();
  const [first, last] = [source.lineOf(start), source.lineOf(end)];
  return linesOfOpenInput(analysed).some((line) => first <= line && line <= last);
}

/** A finding that actions are asked for; `finding` is there when the current text still has it. */
interface Problem {
  readonly rule: string;
  readonly diagnostic: Diagnostic | undefined;
  readonly finding: Finding | undefined;
  readonly offset: number;
}

/** What the client names, or else what lies in the range: some clients send no diagnostics along. */
function problemsIn({ unit, analysis }: Analysed, params: CodeActionParams): Problem[] {
  const { uri } = params.textDocument;
  const ours = params.context.diagnostics.filter(({ source }) => source === diagnosticSource);
  const placed = analysis.findings.flatMap((finding) => {
    const place = unit.locate(finding.span);
    return place?.uri === uri ? [{ finding, range: place.range }] : [];
  });
  if (ours.length === 0) {
    return placed
      .filter(({ range }) => overlap(range, params.range))
      .map(({ finding }) => ({
        rule: finding.rule,
        diagnostic: undefined,
        finding,
        offset: finding.span.start,
      }));
  }
  return ours.flatMap((diagnostic) => {
    const offset = unit.offsetAt(uri, diagnostic.range.start);
    if (typeof diagnostic.code !== "string" || offset === undefined) return [];
    const rule = diagnostic.code;
    const same = placed.find(({ finding, range }) => finding.rule === rule && equal(range, diagnostic.range));
    return [{ rule, diagnostic, finding: same?.finding, offset }];
  });
}

/** What an action belongs to, if the client said it: VS Code puts those that belong to no diagnostic last. */
function aboutOf(problems: readonly Problem[]): Pick<CodeAction, "diagnostics"> {
  const diagnostics = problems.flatMap(({ diagnostic }) => (diagnostic === undefined ? [] : [diagnostic]));
  return diagnostics.length === 0 ? {} : { diagnostics };
}

const limitRules: ReadonlySet<string> = new Set(["budget-exceeded", "device-exceeded"]);

/** What would make the step fit is the fix of a step that does not. */
function limitsIn(problems: readonly Problem[]): Pick<CodeAction, "diagnostics"> {
  return aboutOf(problems.filter(({ rule }) => limitRules.has(rule)));
}

function fixActions(analysed: Analysed, problem: Problem): CodeAction[] {
  return fixesFor(analysed, problem).map(({ title, safety, edit }, index) => ({
    title,
    kind: CodeActionKind.QuickFix,
    ...aboutOf([problem]),
    ...(index === 0 && safety === "safe" ? { isPreferred: true } : {}),
    edit,
  }));
}

/** Suppressions, and the way to the rule's page. */
function otherActions(session: Session, analysed: Analysed, problem: Problem): CodeAction[] {
  const { unit, settings } = analysed;
  const { rule, offset } = problem;
  const about = aboutOf([problem]);
  const actions: CodeAction[] = [];
  const suppress = (text: keyof typeof editorMessages, made: TextEdit): void => {
    const edit = workspaceEdit(unit, [made]);
    if (edit === undefined) return;
    const title = textIn(settings, message(editorMessages[text], { rule }));
    actions.push({ title, kind: CodeActionKind.QuickFix, ...about, edit });
  };
  if (problem.finding !== undefined) {
    const parsed = unit.parsed();
    suppress("ignoreOnLine", ignoreOnLine(parsed, rule, offset));
    suppress("ignoreInFile", ignoreInFile(parsed, rule));
  }
  const page = pageAction(session, analysed, rule);
  if (page) actions.push({ ...page, ...about });
  return actions;
}

/** The edits that the diagnostic carries, if they are for the text as it is now; else those of the same finding. */
function fixesFor({ unit, settings }: Analysed, { diagnostic, finding }: Problem) {
  const carried = readDiagnosticData(diagnostic?.data);
  if (carried?.version === unit.version) return carried.fixes;
  return finding === undefined ? [] : fixesOf(unit, settings, finding);
}

function pageAction(session: Session, { settings }: Analysed, rule: string): CodeAction | undefined {
  if (!session.features.options.commands.includes(openRulePageCommand)) return undefined;
  if (rulePageAddress(session, rule, settings) === undefined) return undefined;
  const title = textIn(settings, message(editorMessages.openRulePage, { rule }));
  return {
    title,
    kind: CodeActionKind.QuickFix,
    command: { title, command: openRulePageCommand, arguments: [rule] },
  };
}

function overlap(a: Range, b: Range): boolean {
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start);
}

function isBefore(a: Range["start"], b: Range["start"]): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}

function equal(a: Range, b: Range): boolean {
  return (
    !isBefore(a.start, b.start) &&
    !isBefore(b.start, a.start) &&
    !isBefore(a.end, b.end) &&
    !isBefore(b.end, a.end)
  );
}
